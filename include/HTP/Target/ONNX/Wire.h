// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and rewrites protobuf's wire format, as far as needed to keep raw bytes
// of tensors and metadata of nodes away from protobuf. Which fields hold
// messages comes from the descriptors of the linked ONNX library, so nothing
// here follows ONNX's schema by hand.

#ifndef HTP_TARGET_ONNX_WIRE_H
#define HTP_TARGET_ONNX_WIRE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace google::protobuf {
class Descriptor;
} // namespace google::protobuf

namespace htp::wire {

enum Type : unsigned { Varint = 0, Fixed64 = 1, Length = 2, Fixed32 = 5 };

/// How deep messages may nest, as in protobuf's own parsers: about 30 levels of
/// control flow inside of each other.
constexpr unsigned kMaxDepth = 100;

/// One field of a message.
struct Field {
  unsigned number = 0;
  unsigned type = 0;
  uint64_t varint = 0;     // value of a varint, length of a Length field
  llvm::StringRef whole;   // the field with its tag
  llvm::StringRef payload; // the bytes of a Length field
};

/// Consumes the field at the start of `rest`. Returns nothing, and leaves
/// `rest` unchanged, if the bytes are not a complete field.
std::optional<Field> readField(llvm::StringRef &rest);

/// A message as a list of pieces, which are not copied.
class Rope {
public:
  void append(llvm::StringRef bytes);
  /// Appends a field: its tag and value, or its tag and length; the payload of
  /// a Length field is the caller's next `append`.
  void appendField(unsigned number, Type type, uint64_t value);

  llvm::ArrayRef<llvm::StringRef> pieces() const { return parts; }
  uint64_t size() const { return total; }

private:
  friend class Rewriter;
  llvm::StringRef encode(unsigned number, Type type, uint64_t value);

  std::vector<llvm::StringRef> parts;
  uint64_t total = 0;
  /// Owns the bytes of new tags and lengths.
  llvm::BumpPtrAllocator storage;
};

/// Whether a TensorProto can lie somewhere inside of such a message.
bool reachesTensor(const google::protobuf::Descriptor *descriptor);

/// Rewrites one TensorProto: appends its new form to the rope and returns true,
/// or returns false and leaves it as it is.
using TensorRewrite =
    llvm::function_ref<bool(llvm::StringRef tensor, Rope &rope)>;

/// Appends a stand-in for a node's metadata to the rope. The argument has the
/// original fields, one after the other, each with a key and a value.
using NotesRewrite = llvm::function_ref<void(llvm::StringRef notes, Rope &)>;

/// Rewrites all TensorProtos of at least `minimum` bytes, at any depth of a
/// ModelProto, and with `rewriteNotes` the metadata of all nodes except in
/// smaller subgraphs, and corrects the lengths of all enclosing messages.
/// Returns nothing if the message is malformed. `model` must outlive the rope.
std::unique_ptr<Rope> rewrite(llvm::StringRef model, size_t minimum,
                              TensorRewrite rewriteTensor,
                              NotesRewrite rewriteNotes = nullptr);

/// Reads a StringStringEntryProto that has exactly a key and a value.
using Pair = std::pair<llvm::StringRef, llvm::StringRef>;
std::optional<Pair> readPair(llvm::StringRef message);

/// Calls `fn` with each field that a NotesRewrite received.
void forEachPair(llvm::StringRef notes, llvm::function_ref<void(Pair)> fn);

/// Says what is wrong with a ModelProto that protobuf could not parse: which
/// field of which node or tensor, and where. Empty if nothing is wrong.
std::string diagnose(llvm::StringRef model);

} // namespace htp::wire

#endif // HTP_TARGET_ONNX_WIRE_H
