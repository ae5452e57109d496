// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ModelFile and ModelWriter: spans of raw data survive a round trip.

#include "HTP/Target/ONNX/ModelFile.h"
#include "HTP/Target/ONNX/ModelWriter.h"
#include "HTP/Target/ONNX/Wire.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <thread>
#include <unistd.h>

using namespace llvm;
using namespace htp;

namespace {

/// A file that is removed at the end of the test.
struct Scratch {
  Scratch() {
    EXPECT_FALSE(sys::fs::createTemporaryFile("htp", "onnx", fd, path));
  }
  ~Scratch() {
    ::close(fd);
    sys::fs::remove(path);
  }
  std::string read() const {
    auto buffer = MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : "";
  }
  int fd;
  SmallString<64> path;
};

std::string pattern(size_t size, char seed) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i != size; ++i)
    bytes[i] = static_cast<char>(i * 31 + seed + (i >> 8));
  return bytes;
}

/// Tensors in every possible place, small and large, with fields after
/// `raw_data` that an incorrect splice would move.
::onnx::ModelProto makeModel() {
  ::onnx::ModelProto model;
  model.set_ir_version(8);
  auto *graph = model.mutable_graph();
  graph->set_name("g");
  auto fill = [](::onnx::TensorProto &tensor, size_t size, char seed) {
    tensor.set_name("t" + std::to_string(size));
    tensor.set_data_type(::onnx::TensorProto::UINT8);
    tensor.add_dims(static_cast<int64_t>(size));
    tensor.set_raw_data(pattern(size, seed));
    tensor.set_doc_string("after the data");
  };
  for (size_t size : {0, 1, 100, 4095, 4096, 70000, 300000})
    fill(*graph->add_initializer(), size, static_cast<char>(size));
  auto *attribute = graph->add_node()->add_attribute();
  attribute->set_name("then_branch");
  auto *inner = attribute->mutable_g()->add_node()->add_attribute();
  fill(*inner->mutable_t(), 5000, 1);
  fill(*inner->add_tensors(), 6000, 2);
  auto *sparse = graph->add_sparse_initializer();
  fill(*sparse->mutable_values(), 8192, 3);
  fill(*model.add_training_info()->mutable_algorithm()->add_initializer(), 9000,
       4);
  return model;
}

template <typename Fn> void forEachTensor(::onnx::ModelProto &model, Fn fn) {
  auto *graph = model.mutable_graph();
  for (auto &tensor : *graph->mutable_initializer())
    fn(tensor);
  auto *inner = graph->mutable_node(0)
                    ->mutable_attribute(0)
                    ->mutable_g()
                    ->mutable_node(0)
                    ->mutable_attribute(0);
  fn(*inner->mutable_t());
  fn(*inner->mutable_tensors(0));
  fn(*graph->mutable_sparse_initializer(0)->mutable_values());
  fn(*model.mutable_training_info(0)->mutable_algorithm()->mutable_initializer(
      0));
}

/// Reads a model and hands every tensor's bytes to a writer, as import and
/// export do.
void copyModel(ModelFile &file, ::onnx::ModelProto &copy, ModelWriter &writer) {
  copy = file.model();
  forEachTensor(copy, [&](::onnx::TensorProto &tensor) {
    writer.setRawData(tensor, file.rawData(tensor));
  });
}

TEST(ModelFileTest, LargeDataStaysInTheFile) {
  Scratch scratch;
  ::onnx::ModelProto model = makeModel();
  ASSERT_TRUE(model.SerializeToFileDescriptor(scratch.fd));
  auto file = cantFail(ModelFile::open(scratch.path));
  forEachTensor(file->model(), [&](::onnx::TensorProto &tensor) {
    auto size = static_cast<size_t>(tensor.dims(0));
    EXPECT_EQ(file->isSpan(tensor), size >= kMinSpan) << size;
    EXPECT_TRUE(file->hasRawData(tensor)) << size;
    EXPECT_EQ(tensor.has_raw_data(), size < kMinSpan) << size;
    EXPECT_EQ(file->rawData(tensor).size(), size);
    EXPECT_EQ(tensor.doc_string(), "after the data");
  });
}

TEST(ModelFileTest, CopyHasTheSameBytes) {
  Scratch source, target;
  ::onnx::ModelProto model = makeModel();
  ASSERT_TRUE(model.SerializeToFileDescriptor(source.fd));
  auto file = cantFail(ModelFile::open(source.path));
  ::onnx::ModelProto copy;
  ModelWriter writer;
  copyModel(*file, copy, writer);
  ASSERT_FALSE(errorToBool(writer.write(copy, target.fd)));
  EXPECT_EQ(source.read(), target.read());
}

TEST(ModelFileTest, WritesToAPipe) {
  std::string expected = makeModel().SerializeAsString();
  auto file = cantFail(ModelFile::fromBuffer(
      MemoryBuffer::getMemBufferCopy(expected), "<memory>"));
  ::onnx::ModelProto copy;
  ModelWriter writer;
  copyModel(*file, copy, writer);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::string received;
  std::thread reader([&] {
    char buffer[4096];
    while (ssize_t count = ::read(ends[0], buffer, sizeof buffer))
      received.append(buffer, count);
  });
  EXPECT_FALSE(errorToBool(writer.write(copy, ends[1])));
  ::close(ends[1]);
  reader.join();
  ::close(ends[0]);
  EXPECT_EQ(received, expected);
}

TEST(ModelFileTest, TheLastOfTwoRawDataCounts) {
  ::onnx::ModelProto model;
  model.mutable_graph()->set_name("g");
  ::onnx::TensorProto first, second;
  first.set_raw_data(pattern(5000, 1));
  second.set_raw_data(pattern(6000, 2));
  // Concatenation is merging: the tensor now has the field twice.
  std::string joined = first.SerializeAsString() + second.SerializeAsString();
  auto *unknown = model.mutable_graph()->mutable_unknown_fields();
  unknown->AddLengthDelimited(::onnx::GraphProto::kInitializerFieldNumber,
                              joined);
  auto file = cantFail(ModelFile::fromBuffer(
      MemoryBuffer::getMemBufferCopy(model.SerializeAsString()), "m"));
  const auto &tensor = file->model().graph().initializer(0);
  ArrayRef<char> bytes = file->rawData(tensor);
  EXPECT_EQ(StringRef(bytes.data(), bytes.size()), second.raw_data());
}

TEST(ModelFileTest, AForeignSpanFieldIsNotASpan) {
  ::onnx::ModelProto model;
  auto *tensor = model.mutable_graph()->add_initializer();
  tensor->mutable_unknown_fields()->AddVarint(kSpanField, 12345);
  auto file = cantFail(ModelFile::fromBuffer(
      MemoryBuffer::getMemBufferCopy(model.SerializeAsString()), "m"));
  const auto &read = file->model().graph().initializer(0);
  EXPECT_FALSE(file->isSpan(read));
  EXPECT_TRUE(file->rawData(read).empty());
}

/// The metadata of a node, in the message or as a span: "key=value key=value".
std::string notesOf(const ModelFile &file, const ::onnx::NodeProto &node) {
  std::string text;
  auto add = [&](StringRef key, StringRef value) {
    text += (text.empty() ? "" : " ") + (key + "=" + value).str();
  };
  if (std::optional<StringRef> notes = file.notes(node)) {
    EXPECT_EQ(node.metadata_props_size(), 0);
    wire::forEachPair(*notes,
                      [&](wire::Pair pair) { add(pair.first, pair.second); });
    return text;
  }
  for (const auto &entry : node.metadata_props())
    add(entry.key(), entry.has_value() ? entry.value() : "<none>");
  return text;
}

void addNote(::onnx::NodeProto &node, StringRef key, StringRef value) {
  auto *entry = node.add_metadata_props();
  entry->set_key(key.str());
  entry->set_value(value.str());
}

TEST(ModelFileTest, MetadataOfNodesStayInTheFile) {
  ::onnx::ModelProto model;
  // Of a graph, of a function, of a large and of a small subgraph.
  auto *first = model.mutable_graph()->add_node();
  first->set_op_type("If");
  first->set_doc_string("before and after");
  addNote(*first, "a", "1");
  addNote(*first, "", "");
  auto *small = first->add_attribute()->mutable_g()->add_node();
  addNote(*small, "small", "3");
  auto *large = first->add_attribute()->mutable_g()->add_node();
  addNote(*large, "large", std::string(kMinSpan, 'x'));
  addNote(*model.add_functions()->add_node(), "function", "4");
  // Not only a key and a value: protobuf's.
  auto *odd = model.mutable_graph()->add_node();
  addNote(*odd, "b", "5");
  odd->add_metadata_props()->set_key("alone");
  model.mutable_graph()->add_node()->set_op_type("Relu");

  auto file = cantFail(ModelFile::fromBuffer(
      MemoryBuffer::getMemBufferCopy(model.SerializeAsString()), "m"));
  const ::onnx::GraphProto &graph = file->model().graph();
  const ::onnx::NodeProto &read = graph.node(0);
  EXPECT_TRUE(file->notes(read));
  EXPECT_EQ(notesOf(*file, read), "a=1 =");
  EXPECT_EQ(read.op_type(), "If");
  EXPECT_EQ(read.doc_string(), "before and after");
  EXPECT_EQ(notesOf(*file, read.attribute(0).g().node(0)), "small=3");
  EXPECT_TRUE(file->notes(read.attribute(1).g().node(0)));
  EXPECT_EQ(notesOf(*file, read.attribute(1).g().node(0)).size(), kMinSpan + 6);
  EXPECT_TRUE(file->notes(file->model().functions(0).node(0)));
  EXPECT_EQ(notesOf(*file, file->model().functions(0).node(0)), "function=4");
  EXPECT_FALSE(file->notes(graph.node(1)));
  EXPECT_EQ(notesOf(*file, graph.node(1)), "b=5 alone=<none>");
  EXPECT_EQ(notesOf(*file, graph.node(2)), "");
}

TEST(ModelFileTest, AForeignSpanFieldIsNoMetadata) {
  ::onnx::ModelProto model;
  addNote(*model.mutable_graph()->add_node(), "mine", "1");
  auto *thief = model.mutable_graph()->add_node();
  thief->mutable_unknown_fields()->AddVarint(kSpanField, 0);
  auto file = cantFail(ModelFile::fromBuffer(
      MemoryBuffer::getMemBufferCopy(model.SerializeAsString()), "m"));
  const ::onnx::GraphProto &graph = file->model().graph();
  EXPECT_EQ(notesOf(*file, graph.node(0)), "mine=1");
  EXPECT_FALSE(file->notes(graph.node(1)));
  EXPECT_FALSE(file->isStandIn(graph.node(1).unknown_fields().field(0)));
}

TEST(ModelFileTest, SettingDataTwiceKeepsTheLast) {
  Scratch scratch;
  ::onnx::ModelProto model;
  auto *tensor = model.mutable_graph()->add_initializer();
  std::string large = pattern(10000, 1), small = "abc";
  ModelWriter writer;
  writer.setRawData(*tensor, ArrayRef<char>(large.data(), large.size()));
  writer.setRawData(*tensor, ArrayRef<char>(small.data(), small.size()));
  ASSERT_FALSE(errorToBool(writer.write(model, scratch.fd)));
  ::onnx::ModelProto read;
  ASSERT_TRUE(read.ParseFromString(scratch.read()));
  EXPECT_EQ(read.graph().initializer(0).raw_data(), "abc");
}

} // namespace
