// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An ONNX file whose weights are mapped, not copied into memory.
//
// A model is a few hundred kilobytes of graph and up to gigabytes of tensor
// bytes. Only the graph is parsed by protobuf. Large `raw_data` fields stay in
// the mapped file: in the parsed message, such a tensor has an unknown field
// `kSpanField` instead, which refers to a span of the file. `rawData` returns
// the bytes in either case.
//
// The same goes for the metadata of nodes, the bulk of a tagged model: as
// messages they would be millions of small objects. `notes` returns them.

#ifndef HTP_TARGET_ONNX_MODELFILE_H
#define HTP_TARGET_ONNX_MODELFILE_H

#include "HTP/Support/FileMapping.h"
#include "onnx/onnx_pb.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <google/protobuf/arena.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace htp {

/// The unknown field of a message that replaces what was taken out of it: a
/// varint that identifies the span. Neither ONNX nor any known extension uses
/// this field number.
constexpr int kSpanField = 536870911;

/// `raw_data` of at least this many bytes becomes a span.
constexpr size_t kMinSpan = 4096;

class ModelFile {
public:
  /// Maps and parses the file at `path`. Errors name the file, and the node or
  /// tensor where it is malformed.
  static llvm::Expected<std::shared_ptr<ModelFile>> open(llvm::StringRef path);

  /// Parses a buffer that is already in memory; `path` is for messages and for
  /// finding external data.
  static llvm::Expected<std::shared_ptr<ModelFile>>
  fromBuffer(std::unique_ptr<llvm::MemoryBuffer> buffer, llvm::StringRef path);

  ::onnx::ModelProto &model() { return *proto; }
  const ::onnx::ModelProto &model() const { return *proto; }

  /// Frees the parsed message, which is not needed once the model is imported.
  /// Spans stay.
  void dropModel();

  /// Whether the tensor has `raw_data`, in the message or as a span.
  bool hasRawData(const ::onnx::TensorProto &tensor) const;

  /// Whether the tensor's `raw_data` is a span of the file. Such bytes live as
  /// long as this object; other `raw_data` only as long as the message.
  bool isSpan(const ::onnx::TensorProto &tensor) const;

  /// The tensor's `raw_data`, wherever it is.
  llvm::ArrayRef<char> rawData(const ::onnx::TensorProto &tensor) const;

  /// The node's metadata if they are a span of the file: fields
  /// `metadata_props`, each with a key and a value (wire::readPair). Nothing if
  /// they are in the message.
  std::optional<llvm::StringRef> notes(const ::onnx::NodeProto &node) const;

  /// Whether an unknown field is a stand-in for a span and not part of the
  /// model.
  bool isStandIn(const google::protobuf::UnknownField &field) const;

  /// The path as given, and the folder that external data is relative to.
  llvm::StringRef path() const { return filePath; }
  llvm::StringRef directory() const { return folder; }

private:
  ModelFile();
  static llvm::Expected<std::shared_ptr<ModelFile>>
  parse(std::shared_ptr<ModelFile> file, llvm::StringRef bytes);
  std::optional<size_t>
  span(const google::protobuf::UnknownFieldSet &unknown) const;

  std::string filePath;
  std::string folder;
  // The bytes that the spans point into: one of the two.
  std::unique_ptr<FileMapping> mapping;
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  /// The model is millions of small messages; allocate and free them in blocks.
  google::protobuf::Arena messages;
  ::onnx::ModelProto *proto = nullptr;
  std::vector<llvm::ArrayRef<char>> spans;
  /// Stand-ins are numbered from here: a number that no file can predict.
  uint64_t firstSpan = 0;
};

} // namespace htp

#endif // HTP_TARGET_ONNX_MODELFILE_H
