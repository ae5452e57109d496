// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a call of an outlined module remembers, so that inlining gives back
// exactly the ops that were there.
//
// The body of an outlined function is that of one call. What it says of itself
// (tags, scopes in locations) is relative to the module. A call carries
//
//   htp.tag        the module's path, from the root
//   htp.order      the places of the body's ops in the flat block, as runs:
//                  first place, length, first place, length, …
//   htp.originals  #htp.originals: for each op of the body (in walk order, the
//                  last terminator left out), the names, tags and locations in
//                  which this call differs from it
//   htp.constants  for each constant that moved into the body, the original
//                  that this call passed before (Outlining/SinkConstants.h)
//
// and the function around the calls, where its file was not in topological
// order,
//
//   htp.positions  the places in the file of the nodes of the flat block, as
//                  runs: a function's body has an order of its own

#ifndef HTP_DIALECT_HTP_IR_CALLRECORD_H
#define HTP_DIALECT_HTP_IR_CALLRECORD_H

#include "HTP/Dialect/HTP/IR/HTP.h"

namespace htp {

/// On an outlined function: the path of the module whose body it is.
inline constexpr llvm::StringLiteral kModuleAttr = "htp.module";
inline constexpr llvm::StringLiteral kOrderAttr = "htp.order";
inline constexpr llvm::StringLiteral kOriginalsAttr = "htp.originals";
inline constexpr llvm::StringLiteral kPositionsAttr = "htp.positions";
/// An op that stands for an absent value is in no order, as ONNX has no node
/// for it. The original says how many ops come before it, a copy in a
/// function's body of which original it is.
inline constexpr llvm::StringLiteral kPlaceAttr = "htp.place";
inline constexpr llvm::StringLiteral kCopyAttr = "htp.copy";
/// Constants that moved into functions: the number of an original, which of a
/// function's copies this is, and which constants a call passed.
inline constexpr llvm::StringLiteral kConstantAttr = "htp.constant";
inline constexpr llvm::StringLiteral kSunkAttr = "htp.sunk";
inline constexpr llvm::StringLiteral kConstantsAttr = "htp.constants";

/// How a call names the original of this number where it is an op of the same
/// outlined body: there, numbers from 0 on are copies. -1 names nothing.
constexpr int64_t constantInBody(int64_t number) { return -2 - number; }

/// What text gives as properties (`<{…}>`) to an op that no dialect knows: its
/// attributes, names and all. Null for an op that is known, or has none.
mlir::DictionaryAttr getUnregisteredProperties(mlir::Operation *op);

/// Makes a value out of nothing but its attributes.
bool isConstant(mlir::Operation *op);
/// Stands for an operand that is not there: any number of them are the same.
bool isAbsentValue(mlir::Operation *op);

/// Keys of a difference that are no attributes. Of a location under the same
/// scope only what lies in the scope is recorded, mostly a name.
inline constexpr llvm::StringLiteral kRecordedLocation = "loc";
inline constexpr llvm::StringLiteral kRecordedInScope = "loc_in_scope";
inline constexpr llvm::StringLiteral kRecordedArguments = "arguments";
inline constexpr llvm::StringLiteral kRecordedTypes = "types";
inline constexpr llvm::StringLiteral kRecordedRemoval = "removed";

/// Whether an attribute only names or annotates an op: two ops that differ in
/// it compute the same.
bool isAnnotation(llvm::StringRef attributeName);

/// The point of view of a function body: paths relative to a module. A path
/// that is not below the module is written from the root, with a "/" before it.
class ModuleFrame {
public:
  explicit ModuleFrame(llvm::StringRef path) : base(path) {}

  std::string relative(llvm::StringRef path) const;
  std::string absolute(llvm::StringRef path) const;
  TagAttr relative(TagAttr tag) const;
  TagAttr absolute(TagAttr tag) const;
  mlir::Location relative(mlir::Location loc) const;
  mlir::Location absolute(mlir::Location loc) const;

  /// Whether the absolute form of the first is the second, which need not be
  /// made for that.
  bool isSame(llvm::StringRef path, llvm::StringRef full) const;
  bool isSame(TagAttr tag, TagAttr full) const;
  bool isSame(mlir::Location loc, mlir::Location full) const;
  /// The same of scopes and lines of code only.
  bool isSameScope(mlir::Location loc, mlir::Location full) const;

private:
  std::string base;
};

/// Makes what `op` says of itself, and what the ops in it say, relative.
void makeRelative(mlir::Operation *op, const ModuleFrame &frame);
void makeAbsolute(mlir::Operation *op, const ModuleFrame &frame);

/// The tag of `op`, seen from the root also where the op is in the body of an
/// outlined function: then it is that of the call whose body this is.
TagAttr getAbsoluteTag(mlir::Operation *op);

/// Appends in what `original` differs from `body`, an op of a relative body, in
/// the order of names.
void recordDifference(mlir::Operation *body, mlir::Operation *original,
                      const ModuleFrame &frame,
                      llvm::SmallVectorImpl<mlir::NamedAttribute> &difference);
/// Makes `op`, a copy from a body that was made absolute, the original again.
void applyDifference(mlir::Operation *op,
                     llvm::ArrayRef<mlir::NamedAttribute> difference);

/// The ops of a function's body but the last, which is the terminator whether
/// or not its dialect is there to say so.
inline llvm::iterator_range<mlir::Block::iterator>
opsBeforeLast(mlir::Block &body) {
  return {body.begin(), std::prev(body.end())};
}

/// Whether `op` is the copy of a constant, which inlining takes away again.
bool isSunkConstant(mlir::Operation *op);

/// The ops that a record speaks of: all in `body`, but its terminator, what
/// stands for absent values, and copies of constants.
llvm::SmallVector<mlir::Operation *> recordedOps(mlir::Block &body);

/// Places as runs.
mlir::DenseI64ArrayAttr encodeOrder(mlir::MLIRContext *context,
                                    llvm::ArrayRef<int64_t> places);
/// The `count` places that `runs` stand for; none where they are more or fewer,
/// as in a file that somebody changed.
llvm::SmallVector<int64_t> decodeOrder(mlir::DenseI64ArrayAttr runs,
                                       size_t count);

} // namespace htp

#endif // HTP_DIALECT_HTP_IR_CALLRECORD_H
