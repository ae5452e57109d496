// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The wire format: malformed fields, nesting limits and diagnoses.

#include "HTP/Target/ONNX/Wire.h"
#include "HTP/Target/ONNX/ModelFile.h"

#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace htp;

namespace {

std::string errorOf(StringRef bytes) {
  auto file =
      ModelFile::fromBuffer(MemoryBuffer::getMemBufferCopy(bytes), "m.onnx");
  return file ? "" : toString(file.takeError());
}

::onnx::ModelProto modelWithWeight(size_t size) {
  ::onnx::ModelProto model;
  model.mutable_graph()->set_name("g");
  auto *tensor = model.mutable_graph()->add_initializer();
  tensor->set_name("fc.weight");
  tensor->set_raw_data(std::string(size, 'x'));
  return model;
}

TEST(WireTest, ReadsOneField) {
  StringRef bytes("\x08\x96\x01\x12\x02hi", 7);
  std::optional<wire::Field> field = wire::readField(bytes);
  ASSERT_TRUE(field);
  EXPECT_EQ(field->number, 1u);
  EXPECT_EQ(field->varint, 150u);
  field = wire::readField(bytes);
  ASSERT_TRUE(field);
  EXPECT_EQ(field->payload, "hi");
  EXPECT_TRUE(bytes.empty());
}

TEST(WireTest, RefusesWhatIsNotAField) {
  for (StringRef bytes : {
           StringRef("\x08", 1),         // no value
           StringRef("\x00\x01", 2),     // number 0
           StringRef("\x12\x05hi", 4),   // too short
           StringRef("\x09\x01\x02", 3), // half a fixed64
           StringRef("\x0b\x0c", 2),     // a group
           StringRef("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 11),
           StringRef("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11),
       }) {
    StringRef rest = bytes;
    EXPECT_FALSE(wire::readField(rest)) << bytes.size();
    EXPECT_EQ(rest, bytes);
  }
}

TEST(WireTest, APairIsAKeyAndAValue) {
  std::optional<wire::Pair> pair =
      wire::readPair(StringRef("\x12\x01v\x0a\x01k", 6));
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->first, "k");
  EXPECT_EQ(pair->second, "v");
  for (StringRef message : {
           StringRef("\x0a\x01k", 3),                   // no value
           StringRef("\x12\x01v", 3),                   // no key
           StringRef("\x0a\x01k\x0a\x01k\x12\x01v", 9), // two keys
           StringRef("\x0a\x01k\x12\x01v\x1a\x01x", 9), // more
           StringRef("\x0a\x01k\x12\x02v", 6),          // cut off
           StringRef("\x0a\x01k\x10\x01", 5),           // a number
       })
    EXPECT_FALSE(wire::readPair(message)) << message.size();
}

TEST(WireTest, MalformedMetadataAreAnError) {
  ::onnx::ModelProto model;
  auto *node = model.mutable_graph()->add_node();
  node->set_name("fc");
  node->mutable_unknown_fields()->AddLengthDelimited(
      ::onnx::NodeProto::kMetadataPropsFieldNumber, "\x0a\x05k");
  std::string text = errorOf(model.SerializeAsString());
  StringRef error = text;
  EXPECT_TRUE(error.contains("field 'key' needs 5 bytes, found 1")) << text;
}

TEST(WireTest, TruncationNamesTheTensor) {
  std::string bytes = modelWithWeight(10000).SerializeAsString();
  EXPECT_EQ(errorOf(bytes), "");
  EXPECT_EQ(errorOf(StringRef(bytes).take_front(5000)),
            "'m.onnx' is not an ONNX model: field 'raw_data' needs 10000 "
            "bytes, found 4977 at byte 20 in tensor 'fc.weight'");
}

TEST(WireTest, EveryTruncationIsAnError) {
  std::string bytes = modelWithWeight(50).SerializeAsString();
  for (size_t size = 0; size != bytes.size(); ++size)
    EXPECT_NE(errorOf(StringRef(bytes).take_front(size)), "") << size;
}

TEST(WireTest, DeepNestingIsRefused) {
  // Built by hand, as protobuf's own serializer would recurse as deeply.
  auto wrap = [](unsigned number, const std::string &payload) {
    std::string bytes(1, static_cast<char>(number << 3 | wire::Length));
    size_t size = payload.size();
    for (; size >= 0x80; size >>= 7)
      bytes += static_cast<char>(size | 0x80);
    bytes += static_cast<char>(size);
    return bytes + payload;
  };
  std::string graph = wrap(::onnx::GraphProto::kNameFieldNumber, "innermost");
  for (int i = 0; i != 5000; ++i)
    graph = wrap(::onnx::GraphProto::kNodeFieldNumber,
                 wrap(::onnx::NodeProto::kAttributeFieldNumber,
                      wrap(::onnx::AttributeProto::kGFieldNumber, graph)));
  EXPECT_NE(errorOf(wrap(::onnx::ModelProto::kGraphFieldNumber, graph))
                .find("nested deeper than 100 levels"),
            std::string::npos);
}

TEST(WireTest, NoGraph) {
  ::onnx::ModelProto model;
  model.set_ir_version(8);
  EXPECT_EQ(errorOf(model.SerializeAsString()),
            "'m.onnx' is not an ONNX model: it has no graph");
}

} // namespace
