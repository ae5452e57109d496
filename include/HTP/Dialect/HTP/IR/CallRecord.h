// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a call of an outlined module records, so that inlining restores exactly
// the original ops.
//
// The body of an outlined function is taken from one call. Its tags and
// location scopes are relative to the module. Each call carries
//
//   htp.tag        the module's path, from the root
//   htp.order      the positions of the body's ops in the flat block, as runs:
//                  first position, length, first position, length, …
//   htp.originals  #htp.originals: for each op of the body (in walk order,
//                  without the final terminator), the names, tags and locations
//                  in which this call differs from it
//   htp.constants  for each constant that moved into the body, the original
//                  that this call used to pass (Outlining/SinkConstants.h)
//
// and the function that contains the calls, if its file was not in topological
// order,
//
//   htp.positions  the positions in the file of the nodes of the flat block,
//                  as runs; the order inside outlined functions is independent
//                  of them

#ifndef HTP_DIALECT_HTP_IR_CALLRECORD_H
#define HTP_DIALECT_HTP_IR_CALLRECORD_H

#include "HTP/Dialect/HTP/IR/HTP.h"

#include <cassert>

namespace htp {

/// On an outlined function: the path of the module whose body it is.
inline constexpr llvm::StringLiteral kModuleAttr = "htp.module";
inline constexpr llvm::StringLiteral kOrderAttr = "htp.order";
inline constexpr llvm::StringLiteral kOriginalsAttr = "htp.originals";
inline constexpr llvm::StringLiteral kPositionsAttr = "htp.positions";
/// Placeholders for absent values are not part of `htp.order`, as ONNX has no
/// node for them. An original has kPlaceAttr: how many ops come before it. A
/// copy in a function's body has kCopyAttr: which original it is a copy of.
inline constexpr llvm::StringLiteral kPlaceAttr = "htp.place";
inline constexpr llvm::StringLiteral kCopyAttr = "htp.copy";
/// Constants that moved into functions: the number of an original, the number
/// of a copy within its function, and the constants that a call passed.
inline constexpr llvm::StringLiteral kConstantAttr = "htp.constant";
inline constexpr llvm::StringLiteral kSunkAttr = "htp.sunk";
inline constexpr llvm::StringLiteral kConstantsAttr = "htp.constants";

/// How a call refers to original `number` if that is an op of the same outlined
/// body, where numbers from 0 up mean copies. -1 refers to nothing.
constexpr int64_t constantInBody(int64_t number) {
  assert(number >= 0 && "originals are numbered from 0");
  return -2 - number;
}

/// The properties (`<{…}>`) that textual IR gives to an unregistered op: all of
/// its attributes, names included. Null for a registered op, or without any.
mlir::DictionaryAttr getUnregisteredProperties(mlir::Operation *op);

/// Whether `op` makes a value from its attributes alone.
bool isConstant(mlir::Operation *op);
/// Whether `op` stands for an absent operand. All such ops are interchangeable.
bool isAbsentValue(mlir::Operation *op);

/// Keys of a recorded difference that are not attribute names. If a location
/// differs only inside its scope, only that part is recorded, usually a name.
inline constexpr llvm::StringLiteral kRecordedLocation = "loc";
inline constexpr llvm::StringLiteral kRecordedInScope = "loc_in_scope";
inline constexpr llvm::StringLiteral kRecordedArguments = "arguments";
inline constexpr llvm::StringLiteral kRecordedTypes = "types";
inline constexpr llvm::StringLiteral kRecordedRemoval = "removed";

/// Whether an attribute only names or annotates an op: ops that differ only in
/// such attributes compute the same.
bool isAnnotation(llvm::StringRef attributeName);

/// Converts paths between the root and the module of a function body. Relative
/// to the module, a path that is not below it is written from the root, with a
/// leading "/".
class ModuleFrame {
public:
  explicit ModuleFrame(llvm::StringRef path) : base(path) {}

  std::string relative(llvm::StringRef path) const;
  std::string absolute(llvm::StringRef path) const;
  TagAttr relative(TagAttr tag) const;
  TagAttr absolute(TagAttr tag) const;
  mlir::Location relative(mlir::Location loc) const;
  mlir::Location absolute(mlir::Location loc) const;

  /// Whether the absolute form of the first argument equals the second. Cheaper
  /// than `absolute`, as the absolute form is not built.
  bool isSame(llvm::StringRef path, llvm::StringRef full) const;
  bool isSame(TagAttr tag, TagAttr full) const;
  bool isSame(mlir::Location loc, mlir::Location full) const;
  /// The same, but compares only scopes and source lines.
  bool isSameScope(mlir::Location loc, mlir::Location full) const;

private:
  std::string base;
};

/// Rewrites the tags and scopes of `op` and of all ops nested in it as seen
/// from the module, or (makeAbsolute) from the root.
void makeRelative(mlir::Operation *op, const ModuleFrame &frame);
void makeAbsolute(mlir::Operation *op, const ModuleFrame &frame);

/// The tag of `op` as seen from the root. Inside an outlined function it refers
/// to the module whose body the function was made from.
TagAttr getAbsoluteTag(mlir::Operation *op);

/// Appends the differences between `original` and `body`, an op of a function
/// body with relative paths, sorted by name. `withTypes` records the types of
/// results also if they are equal.
void recordDifference(mlir::Operation *body, mlir::Operation *original,
                      const ModuleFrame &frame,
                      llvm::SmallVectorImpl<mlir::NamedAttribute> &difference,
                      bool withTypes = false);
/// Turns `op`, a copy from a body with absolute paths, back into the original.
void applyDifference(mlir::Operation *op,
                     llvm::ArrayRef<mlir::NamedAttribute> difference);

/// All ops of a function's body except the last one. That is the terminator,
/// even if its dialect is not loaded and it cannot be recognized as one.
inline llvm::iterator_range<mlir::Block::iterator>
opsBeforeLast(mlir::Block &body) {
  assert(!body.empty() && "a body ends with a terminator");
  return {body.begin(), std::prev(body.end())};
}

/// Whether `op` is a function's copy of a constant, which inlining removes
/// again.
bool isSunkConstant(mlir::Operation *op);

/// The ops that a call's record covers: all ops of `body` except its
/// terminator, placeholders for absent values, and copies of constants.
llvm::SmallVector<mlir::Operation *> recordedOps(mlir::Block &body);

/// Whether two types may be types of one value, of which one may be less
/// specific.
bool mayBeOne(mlir::Type one, mlir::Type other);
bool mayBeOne(mlir::TypeRange some, mlir::TypeRange others);

/// Encodes positions as runs.
mlir::DenseI64ArrayAttr encodeOrder(mlir::MLIRContext *context,
                                    llvm::ArrayRef<int64_t> places);
/// The `count` positions that `runs` encode; empty if there are more or fewer,
/// as in a file that was edited by hand.
llvm::SmallVector<int64_t> decodeOrder(mlir::DenseI64ArrayAttr runs,
                                       size_t count);

} // namespace htp

#endif // HTP_DIALECT_HTP_IR_CALLRECORD_H
