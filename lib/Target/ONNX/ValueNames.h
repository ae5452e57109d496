// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the names of values in an exported graph.
//
// Every value keeps the name that it was imported with, unless a pass made that
// impossible: by adding, merging or moving values, or by returning other
// values. By ONNX's rules a name is unique in a graph, and subgraphs see the
// names of enclosing graphs.

#ifndef HTP_LIB_TARGET_ONNX_VALUENAMES_H
#define HTP_LIB_TARGET_ONNX_VALUENAMES_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace htp {

class ValueNames {
public:
  /// `root` is the function or module whose names fresh ones must avoid.
  explicit ValueNames(mlir::Operation *root) : root(root) {}

  void pushScope(mlir::Block *block);
  void popScope() { scopes.pop_back(); }

  /// Reserves `name` for `value`, an output of the graph, in the current scope.
  void reserve(llvm::StringRef name, mlir::Value value);

  /// Names a value defined in the current scope: `wanted` if that is available
  /// and not empty, otherwise a fresh name that starts with `hint`.
  void assign(mlir::Value value, llvm::StringRef wanted, llvm::StringRef hint);

  /// The name of a value; empty if it has none.
  llvm::StringRef get(mlir::Value value) const;

  /// The value that has this name in the current scope.
  mlir::Value find(llvm::StringRef name) const;

  /// A name that is not in use.
  std::string fresh(llvm::StringRef hint);

private:
  struct Scope {
    mlir::Block *block;
    llvm::StringMap<mlir::Value> values;
    llvm::StringMap<mlir::Value> reserved;
  };

  bool isFree(llvm::StringRef name, mlir::Value value) const;
  void collectUsed();

  mlir::Operation *root;
  std::vector<Scope> scopes;
  llvm::DenseMap<mlir::Value, llvm::StringRef> names;
  /// Owns the strings. Filled with all names of the model when first needed.
  llvm::StringSet<> used;
  llvm::StringMap<unsigned> nextNumber; ///< of fresh names, by hint
  bool collected = false;
};

/// The name that a result was imported with, empty if there is none.
llvm::StringRef getRecordedName(mlir::OpResult result);

} // namespace htp

#endif // HTP_LIB_TARGET_ONNX_VALUENAMES_H
