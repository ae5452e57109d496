// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// htp-opt as a library: MLIR's optimizer driver that also reads and writes
// ONNX.
//
// A program registers dialects, passes and whatever else it offers, then calls
// `optMain`. Adding an output format is one call:
//
//   registerSideOutput({"dag-json", "the DAG of every module", writeDagJSON});

#ifndef HTP_TOOLS_HTPOPT_HTPOPT_H
#define HTP_TOOLS_HTPOPT_HTPOPT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

#include <functional>

namespace htp {

/// A file that htp-opt can write in addition to its main output:
/// `--<flag>=FILE`, or `--<flag>` alone for standard output.
struct SideOutput {
  llvm::StringLiteral flag;
  llvm::StringLiteral help;
  /// Called after the passes ran; must not change the module's contents. Emits
  /// its own diagnostics.
  std::function<llvm::LogicalResult(mlir::ModuleOp, llvm::raw_ostream &)>
      writer = nullptr;
  /// If set, called instead, with the name of the model's file: the output file
  /// or, if there is none, the input file.
  std::function<llvm::LogicalResult(mlir::ModuleOp, llvm::StringRef file,
                                    llvm::raw_ostream &)>
      namedWriter = nullptr;
};

/// All of these are called before `optMain`.
void registerSideOutput(SideOutput output);

/// Registers a step that runs after the passes and before anything is written.
/// Steps run in the order of registration.
void registerFinalStep(std::function<llvm::LogicalResult(mlir::ModuleOp)> step);

/// The category of HTP's own options, which `--help` lists first.
llvm::cl::OptionCategory &optionCategory();

/// Reads a second model, for passes that need one, in any format that htp-opt
/// reads. Returns null after reporting errors.
mlir::OwningOpRef<mlir::ModuleOp> readModel(llvm::StringRef path,
                                            mlir::MLIRContext *context);

/// The whole program. `registry` has every dialect that the input may use.
int optMain(int argc, char **argv, mlir::DialectRegistry &registry);

} // namespace htp

#endif // HTP_TOOLS_HTPOPT_HTPOPT_H
