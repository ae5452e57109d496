// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module's scope inside a location. Passes of other dialects drop attributes
// that they do not know but keep locations, so the scope is stored there too:
//
//   loc(fused<{htp.call = 1 : i64, htp.scope = "encoder.layer.0"}>["MatMul_7"])
//
// If lines of the model's Python code are known, they follow the original
// location, and `htp.sources` counts them. Diagnostics of any tool then show
// them:
//
//   loc(fused<{htp.scope = "encoder.layer.0", htp.sources = 1 :
//   i64}>["MatMul_7", "bert.py":12:0])
//
// Only builtin attributes are used: any MLIR tool parses it.

#ifndef HTP_DIALECT_HTP_IR_SCOPELOC_H
#define HTP_DIALECT_HTP_IR_SCOPELOC_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

#include <optional>

namespace htp {

/// A module and one of its calls.
struct Scope {
  llvm::StringRef path;
  int64_t call = 0;
  /// `path` as an attribute if the caller has one; saves uniquing it again.
  mlir::StringAttr attribute = {};

  bool operator==(const Scope &other) const {
    return path == other.path && call == other.call;
  }
};

/// `loc` with `scope` attached, and the lines of Python code that the op came
/// from. Replaces an existing scope, but keeps its lines if `sources` is empty.
mlir::Location attachScope(mlir::Location loc, Scope scope,
                           llvm::ArrayRef<mlir::Location> sources = {});

/// `loc` with the scope of `made`, a result of attachScope. Cheaper if many
/// locations get the same scope.
mlir::Location attachScopeOf(mlir::Location made, mlir::Location loc);

/// `loc` with the location inside its scope replaced by `inner`; just `inner`
/// if `loc` has no scope.
mlir::Location replaceInScope(mlir::Location loc, mlir::Location inner);

/// The lines of Python code that `loc` itself carries with its scope.
llvm::SmallVector<mlir::Location, 1> findSources(mlir::Location loc);

/// Whether two locations have the same scope and source lines, where `isSame`
/// compares the paths. False if either has more than one scope.
bool haveSameScope(
    mlir::Location a, mlir::Location b,
    llvm::function_ref<bool(llvm::StringRef, llvm::StringRef)> isSame);

/// Every scope in `loc`, in order, without duplicates. A fused op may have
/// several.
llvm::SmallVector<Scope, 1> findScopes(mlir::Location loc);

/// The scope of `loc` if it has exactly one.
std::optional<Scope> findScope(mlir::Location loc);

/// `loc` with `map` applied to the path of every scope in it.
mlir::Location mapScopes(mlir::Location loc,
                         llvm::function_ref<std::string(llvm::StringRef)> map);

/// `loc` as it was before scopes were attached.
mlir::Location stripScopes(mlir::Location loc);

} // namespace htp

#endif // HTP_DIALECT_HTP_IR_SCOPELOC_H
