// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors with external data, wherever they are in a model: found, checked
// against their types, and taken in.

#include "HTP/Target/ONNX/ExternalTensors.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace htp;
using ::onnx::TensorProto;

namespace {

/// A folder with files of given sizes.
class ExternalTensors : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("htp-tensors", folder));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string file(size_t size) {
    std::string name = std::to_string(size) + ".bin";
    std::error_code error;
    llvm::raw_fd_ostream((folder + "/" + name).str(), error)
        << std::string(size, char('0' + size % 10));
    return name;
  }

  static void setExternal(TensorProto &tensor, llvm::StringRef name,
                          llvm::StringRef location) {
    tensor.set_name(name.str());
    tensor.set_data_type(TensorProto::UINT8);
    tensor.set_data_location(TensorProto::EXTERNAL);
    auto *entry = tensor.add_external_data();
    entry->set_key("location");
    entry->set_value(location.str());
  }

  /// Why the external data of a model are refused; "" if they are not.
  std::string errorOf(const ::onnx::ModelProto &model) {
    ExternalData data(folder);
    auto files = checkExternalData(model, data);
    return files ? "" : llvm::toString(files.takeError());
  }

  llvm::SmallString<128> folder;
};

} // namespace

/// The file must hold as many bytes as the type needs, to the byte.
TEST_F(ExternalTensors, TypesNeedSoManyBytes) {
  const std::pair<TensorProto::DataType, unsigned> sizes[] = {
      {TensorProto::BOOL, 8},         {TensorProto::INT8, 8},
      {TensorProto::UINT8, 8},        {TensorProto::FLOAT8E4M3FN, 8},
      {TensorProto::FLOAT8E5M2, 8},   {TensorProto::INT16, 16},
      {TensorProto::UINT16, 16},      {TensorProto::FLOAT16, 16},
      {TensorProto::BFLOAT16, 16},    {TensorProto::FLOAT, 32},
      {TensorProto::INT32, 32},       {TensorProto::UINT32, 32},
      {TensorProto::DOUBLE, 64},      {TensorProto::INT64, 64},
      {TensorProto::UINT64, 64},      {TensorProto::COMPLEX64, 64},
      {TensorProto::COMPLEX128, 128}, {TensorProto::INT4, 4},
      {TensorProto::UINT4, 4},        {TensorProto::FLOAT4E2M1, 4}};
  for (auto [type, bits] : sizes) {
    // Three elements: of 4 bits the last byte is half empty.
    const size_t bytes = (3 * bits + 7) / 8;
    ::onnx::ModelProto model;
    TensorProto &tensor = *model.mutable_graph()->add_initializer();
    setExternal(tensor, "w", file(bytes));
    tensor.set_data_type(type);
    tensor.add_dims(3);
    EXPECT_EQ(errorOf(model), "") << type;
    tensor.mutable_external_data(0)->set_value(file(bytes - 1));
    EXPECT_EQ(errorOf(model),
              "tensor 'w': external data '" + std::to_string(bytes - 1) +
                  ".bin' is too short: it has " + std::to_string(bytes - 1) +
                  " bytes, the tensor needs " + std::to_string(bytes) +
                  " at offset 0")
        << type;
  }
}

/// The sizes of texts, of types that are not known and of dimensions that no
/// number holds are for the importer to judge; the file must be there.
TEST_F(ExternalTensors, SizesThatATypeDoesNotTell) {
  ::onnx::ModelProto model;
  TensorProto &tensor = *model.mutable_graph()->add_initializer();
  setExternal(tensor, "w", file(1));
  tensor.add_dims(1000);
  for (int32_t type : {int32_t(TensorProto::STRING), 99, 0}) {
    tensor.set_data_type(type);
    EXPECT_EQ(errorOf(model), "") << type;
  }
  tensor.set_data_type(TensorProto::FLOAT);
  tensor.set_dims(0, -1);
  EXPECT_EQ(errorOf(model), "");
  tensor.set_dims(0, INT64_MAX);
  tensor.add_dims(INT64_MAX);
  EXPECT_EQ(errorOf(model), "");
  tensor.mutable_external_data(0)->set_value("gone.bin");
  EXPECT_NE(errorOf(model).find("tensor 'w': external data 'gone.bin' cannot "
                                "be opened"),
            std::string::npos);
}

TEST_F(ExternalTensors, AreFoundWhereverTheyAre) {
  ::onnx::ModelProto model;
  auto &graph = *model.mutable_graph();
  setExternal(*graph.add_initializer(), "initializer", file(1));
  graph.add_initializer()->set_name("inside"); // no external data
  auto &sparse = *graph.add_sparse_initializer();
  setExternal(*sparse.mutable_values(), "sparse values", file(2));
  setExternal(*sparse.mutable_indices(), "sparse indices", file(3));
  auto &attribute = *graph.add_node()->add_attribute();
  setExternal(*attribute.mutable_t(), "attribute", file(4));
  setExternal(*attribute.add_tensors(), "of several", file(5));
  auto &body = *graph.add_node()->add_attribute()->mutable_g();
  setExternal(*body.add_initializer(), "of a body", file(6));
  body.mutable_initializer(0)->add_dims(6);
  auto &function = *model.add_functions();
  setExternal(*function.add_node()->add_attribute()->mutable_t(),
              "of a function", file(7));

  std::set<std::string> names;
  llvm::cantFail(forEachExternalTensor(model, [&](const TensorProto &tensor) {
    names.insert(tensor.name());
    return llvm::Error::success();
  }));
  EXPECT_EQ(names,
            (std::set<std::string>{"initializer", "sparse values",
                                   "sparse indices", "attribute", "of several",
                                   "of a body", "of a function"}));
  EXPECT_EQ(externalLocations(model).size(), 7u);
  ExternalData data(folder);
  EXPECT_EQ(llvm::cantFail(checkExternalData(model, data)),
            externalLocations(model));

  // The first error ends it.
  unsigned visits = 0;
  EXPECT_TRUE(llvm::errorToBool(
      forEachExternalTensor(model, [&](const TensorProto &) -> llvm::Error {
        ++visits;
        return llvm::createStringError("enough");
      })));
  EXPECT_EQ(visits, 1u);

  // Taken in, they are tensors like any other.
  ModelWriter writer;
  ASSERT_FALSE(llvm::errorToBool(inlineExternalData(model, data, writer)));
  EXPECT_TRUE(externalLocations(model).empty());
  EXPECT_EQ(graph.initializer(0).raw_data(), "1");
  EXPECT_EQ(body.initializer(0).raw_data(), "666666");
  EXPECT_FALSE(graph.initializer(0).has_data_location());
}

/// As in ONNX's own reader, the last of several entries with one key counts.
TEST_F(ExternalTensors, TheLastEntryCounts) {
  ::onnx::ModelProto model;
  TensorProto &tensor = *model.mutable_graph()->add_initializer();
  setExternal(tensor, "w", "gone.bin");
  for (auto [key, value] :
       std::initializer_list<std::pair<std::string, std::string>>{
           {"location", file(9)}, {"offset", "8"}, {"checksum", "x"}}) {
    auto *entry = tensor.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
  tensor.add_dims(1);
  EXPECT_EQ(errorOf(model), "");
  EXPECT_EQ(externalLocations(model), std::set<std::string>{"9.bin"});
  tensor.set_dims(0, 2);
  EXPECT_NE(errorOf(model).find("too short"), std::string::npos);
}

TEST_F(ExternalTensors, ErrorsNameTheTensor) {
  ::onnx::ModelProto model;
  TensorProto &tensor = *model.mutable_graph()->add_initializer();
  setExternal(tensor, "w", file(4));
  auto *offset = tensor.add_external_data();
  offset->set_key("offset");
  offset->set_value("four");
  const std::string expected = "tensor 'w': external data '4.bin' has offset "
                               "'four', expected a number of bytes";
  EXPECT_EQ(errorOf(model), expected);
  ExternalData data(folder);
  ModelWriter writer;
  EXPECT_EQ(llvm::toString(inlineExternalData(model, data, writer)), expected);
  tensor.clear_external_data();
  EXPECT_EQ(errorOf(model), "tensor 'w': external data has no location");
}
