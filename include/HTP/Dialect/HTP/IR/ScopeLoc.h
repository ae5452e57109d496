// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module's scope inside a location. Passes of other dialects drop attributes
// that they do not know and keep locations, so the scope lies there too:
//
//   loc(fused<{htp.call = 1 : i64, htp.scope = "encoder.layer.0"}>["MatMul_7"])
//
// Where the line of the model's Python code is known it follows the original
// location, and `htp.sources` counts such lines. Tools that print a diagnostic
// then show the line:
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
  /// `path`, where it is an attribute already: it is not looked up again.
  mlir::StringAttr attribute = {};

  bool operator==(const Scope &other) const {
    return path == other.path && call == other.call;
  }
};

/// `loc` with `scope` in it, and the lines of Python code that made the op. A
/// scope that it had before is replaced; its lines are kept where `sources` is
/// empty.
mlir::Location attachScope(mlir::Location loc, Scope scope,
                           llvm::ArrayRef<mlir::Location> sources = {});

/// `loc` with the scope of `made`, which attachScope has made: cheaper where
/// many locations get one scope.
mlir::Location attachScopeOf(mlir::Location made, mlir::Location loc);

/// `loc` with `inner` in place of what its own scope lies around; `inner` where
/// it has none.
mlir::Location replaceInScope(mlir::Location loc, mlir::Location inner);

/// The lines of Python code that `loc` itself holds beside its scope.
llvm::SmallVector<mlir::Location, 1> findSources(mlir::Location loc);

/// Whether two locations say the same of scopes and lines of code, as far as
/// `isSame` takes the first one's path for the second one's. Where either holds
/// more than one scope, they do not.
bool haveSameScope(
    mlir::Location a, mlir::Location b,
    llvm::function_ref<bool(llvm::StringRef, llvm::StringRef)> isSame);

/// Every scope in `loc`, in order and without repeats. An op that a pass made
/// out of several has several.
llvm::SmallVector<Scope, 1> findScopes(mlir::Location loc);

/// The scope of `loc` where it has exactly one.
std::optional<Scope> findScope(mlir::Location loc);

/// `loc` with `map` applied to the path of every scope in it.
mlir::Location mapScopes(mlir::Location loc,
                         llvm::function_ref<std::string(llvm::StringRef)> map);

/// `loc` as it was before any scope was attached.
mlir::Location stripScopes(mlir::Location loc);

} // namespace htp

#endif // HTP_DIALECT_HTP_IR_SCOPELOC_H
