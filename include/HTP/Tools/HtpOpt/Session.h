// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One run of htp-opt: read a model, run passes, write the outputs.

#ifndef HTP_TOOLS_HTPOPT_SESSION_H
#define HTP_TOOLS_HTPOPT_SESSION_H

#include "HTP/Support/ExternalData.h"
#include "HTP/Target/ONNX/ModelFile.h"
#include "HTP/Target/TagMetadata.h"
#include "HTP/Tools/HtpOpt/Format.h"
#include "HTP/Tools/HtpOpt/HtpOpt.h"
#include "HTP/Tools/HtpOpt/OutputFiles.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/MemoryBuffer.h"

#include <google/protobuf/arena.h>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace htp {

/// What happens to external data files if the model is written to another
/// folder.
enum class DataPlacement { Link, Copy, Inline };

/// Command-line options that MlirOptMainConfig does not cover.
struct SessionOptions {
  std::string input = "-";
  /// Empty for no output. A `%` stands for the names of the nested modules,
  /// which are then written to one file each.
  std::string output;
  Format format = Format::Text;
  DataPlacement placement = DataPlacement::Copy;
  struct Side {
    const SideOutput *kind;
    std::string path;
  };
  std::vector<Side> sides;
  using Step = std::function<llvm::LogicalResult(mlir::ModuleOp)>;
  std::vector<Step> finalSteps;
  TagStorage tagStorage = TagStorage::Metadata;
};

class Session {
public:
  Session(SessionOptions options, const mlir::MlirOptMainConfig &config,
          mlir::DialectRegistry &registry);

  /// Reports its own errors. After a failure no output exists.
  llvm::LogicalResult run();

private:
  llvm::LogicalResult openOutputs();
  llvm::Error checkOutputs(llvm::ArrayRef<std::string> traces);
  llvm::Error checkDataFiles();
  llvm::LogicalResult process(mlir::MLIRContext &context);
  mlir::OwningOpRef<mlir::Operation *> read(mlir::MLIRContext &context);
  mlir::OwningOpRef<mlir::Operation *> importONNX(mlir::MLIRContext &context);
  llvm::LogicalResult buildPasses(mlir::OperationName name,
                                  mlir::TimingScope &timing,
                                  std::optional<mlir::PassManager> &passes);
  llvm::LogicalResult writeAll(mlir::Operation *op);
  llvm::LogicalResult writeEachModule(mlir::ModuleOp parent);
  llvm::LogicalResult writeFolder(mlir::Operation *op);
  llvm::LogicalResult write(mlir::Operation *op, OutputFile &file);
  llvm::LogicalResult writeONNX(mlir::Operation *op, OutputFile &file);
  llvm::LogicalResult writeOnnxMlir(mlir::Operation *op, OutputFile &file);
  llvm::Error placeData(const std::set<std::string> &locations,
                        const OutputFile &file);

  SessionOptions options;
  const mlir::MlirOptMainConfig &config;
  mlir::DialectRegistry &registry;

  std::shared_ptr<llvm::SourceMgr> sourceMgr;
  std::unique_ptr<llvm::MemoryBuffer> input;
  Format inputFormat = Format::Text;
  /// An ONNX input, kept until the process exits, as freeing it would take
  /// time.
  std::shared_ptr<ModelFile> modelFile;
  /// The data files beside the input.
  std::shared_ptr<ExternalData> data;
  /// Resources of the input that no dialect claims, passed through.
  mlir::FallbackAsmResourceMap otherResources;
  OutputFiles outputs;
  OutputFile *mainOutput = nullptr;
  std::vector<OutputFile *> sideOutputs;
  std::optional<mlir::MLIRContext> context;
  /// The model, the metadata written with it, and the protobuf messages that it
  /// is converted to.
  mlir::OwningOpRef<mlir::Operation *> op;
  std::unique_ptr<MetadataSource> metadata;
  std::unique_ptr<google::protobuf::Arena> messages;
};

} // namespace htp

#endif // HTP_TOOLS_HTPOPT_SESSION_H
