// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Protobuf's wire format, as far as it takes to move the raw bytes of tensors
// and the metadata of nodes around protobuf. Which fields hold messages comes
// from the descriptors of the linked ONNX library, so nothing here follows
// ONNX's schema by hand.

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

/// Reads the field that `rest` starts with and drops it from `rest`. Returns
/// nothing, and leaves `rest`, where the bytes are not a whole field.
std::optional<Field> readField(llvm::StringRef &rest);

/// A message in pieces that stay where they are.
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
  /// The few bytes of tags and lengths that are new.
  llvm::BumpPtrAllocator storage;
};

/// Whether a TensorProto can lie somewhere inside of such a message.
bool reachesTensor(const google::protobuf::Descriptor *descriptor);

/// Rewrites one TensorProto: appends its new form to the rope and returns true,
/// or returns false and leaves it as it is.
using TensorRewrite =
    llvm::function_ref<bool(llvm::StringRef tensor, Rope &rope)>;

/// Appends to the rope what stands for a node's metadata, which are left out:
/// fields one after the other, each of which is a key and a value.
using NotesRewrite = llvm::function_ref<void(llvm::StringRef notes, Rope &)>;

/// Rewrites all TensorProtos of at least `minimum` bytes, at any depth of a
/// ModelProto, and where `rewriteNotes` is given the metadata of all nodes, but
/// those of smaller subgraphs; corrects the lengths of all that encloses them.
/// Returns nothing where the message is malformed. `model` must outlive the
/// rope.
std::unique_ptr<Rope> rewrite(llvm::StringRef model, size_t minimum,
                              TensorRewrite rewriteTensor,
                              NotesRewrite rewriteNotes = nullptr);

/// A StringStringEntryProto that is a key and a value, and nothing else.
using Pair = std::pair<llvm::StringRef, llvm::StringRef>;
std::optional<Pair> readPair(llvm::StringRef message);

/// Calls `fn` with each of the fields that a NotesRewrite was given.
void forEachPair(llvm::StringRef notes, llvm::function_ref<void(Pair)> fn);

/// Says what is wrong with a ModelProto that protobuf could not parse: which
/// field of which node or tensor, and where. Empty where nothing is.
std::string diagnose(llvm::StringRef model);

} // namespace htp::wire

#endif // HTP_TARGET_ONNX_WIRE_H
