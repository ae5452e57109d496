// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An ONNX file in memory, without its weights in memory.
//
// A model is a few hundred kilobytes of graph and up to gigabytes of raw tensor
// bytes. Only the graph goes through protobuf. Large `raw_data` fields stay
// where they are, in the mapped file: in the parsed message such a tensor has
// no `raw_data` but an unknown field `kSpanField` that says which span of the
// file holds it. `rawData` gives the bytes of either kind.
//
// So it is with the metadata of nodes, which are most of a tagged model: as
// messages they would be millions of small objects. `notes` gives them.

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

/// The unknown field of a message that stands for what was taken out of it: a
/// varint that tells the span. The number lies outside of what ONNX or anyone's
/// extension uses.
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

  /// Gives back the parsed message, which nobody asks for once the model is
  /// imported: what comes next needs the memory. Spans stay.
  void dropModel();

  /// Whether the tensor has `raw_data`, in the message or as a span.
  bool hasRawData(const ::onnx::TensorProto &tensor) const;

  /// Whether the tensor's `raw_data` is a span of the file. Such bytes live as
  /// long as this object; other `raw_data` only as long as the message.
  bool isSpan(const ::onnx::TensorProto &tensor) const;

  /// The tensor's `raw_data`, wherever it is.
  llvm::ArrayRef<char> rawData(const ::onnx::TensorProto &tensor) const;

  /// The node's metadata where they are a span of the file: fields
  /// `metadata_props`, each of which is a key and a value (wire::readPair).
  /// Nothing where they are in the message.
  std::optional<llvm::StringRef> notes(const ::onnx::NodeProto &node) const;

  /// Whether an unknown field stands for a span: it is not part of the model.
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
  /// Millions of small messages: made and given back in blocks.
  google::protobuf::Arena messages;
  ::onnx::ModelProto *proto = nullptr;
  std::vector<llvm::ArrayRef<char>> spans;
  /// Stand-ins count from here: a number that no file can know beforehand.
  uint64_t firstSpan = 0;
};

} // namespace htp

#endif // HTP_TARGET_ONNX_MODELFILE_H
