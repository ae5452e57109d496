// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns the parts of a partitioned block into functions or regions: the second
// half of outlining.

#ifndef HTP_LIB_TRANSFORMS_OUTLINING_OUTLINEBUILDER_H
#define HTP_LIB_TRANSFORMS_OUTLINING_OUTLINEBUILDER_H

#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Transforms/Passes.h"
#include "ModuleCalls.h"

namespace htp {

class OutlineBuilder {
public:
  OutlineBuilder(mlir::ModuleOp module, const ModuleTree &tree,
                 PathAttrs &paths, OutlineForm form, bool share);

  /// Rebuilds `tagged.block` from `parts`. `calls` has the module call of each
  /// group. Fails, without changing anything, if the name of a function is
  /// taken.
  mlir::LogicalResult build(const TaggedBlock &tagged,
                            llvm::ArrayRef<Part> parts,
                            llvm::ArrayRef<ModuleCall> calls);

  /// The functions made so far, callees before callers.
  llvm::ArrayRef<mlir::func::FuncOp> functions() const { return inOrder; }

  size_t numFunctions = 0, numCalls = 0, numSaved = 0;

private:
  /// The values that enter and leave a part.
  struct Border {
    llvm::SmallVector<mlir::Value> inputs, results;
  };

  mlir::LogicalResult checkNames(llvm::ArrayRef<Part> parts);
  mlir::Operation *buildPart(const Part &part);
  mlir::Operation *buildFunction(const Part &part,
                                 std::unique_ptr<mlir::Block> body);
  mlir::Operation *buildRegion(const Part &part,
                               std::unique_ptr<mlir::Block> body);
  void fill(mlir::Block *body, const Part &part);
  Border findBorder(mlir::Block *body);
  void sortInputs(llvm::SmallVectorImpl<mlir::Value> &inputs, ModuleId near);
  void copyAbsentValues(mlir::Block *body,
                        llvm::SmallVectorImpl<mlir::Value> &inputs);
  void close(mlir::Block *body, const Border &border);
  mlir::func::FuncOp makeFunction(const Part &part,
                                  std::unique_ptr<mlir::Block> body,
                                  const Border &border);
  mlir::Location argumentLoc(mlir::Value input, llvm::StringRef modulePath);
  bool isONNX() const;
  bool hasLooseTypes() const;
  void describeForONNX(mlir::func::FuncOp function, mlir::Block *body,
                       const Border &border);
  mlir::func::FuncOp findEqual(mlir::Block *body, ModuleId module,
                               llvm::hash_code hash, mlir::func::CallOp call);
  OriginalsAttr recordOriginals(mlir::func::FuncOp shared, mlir::Block *body,
                                const ModuleFrame &frame);
  std::string freeName(ModuleId module);
  void annotate(mlir::Operation *call, const Part &part,
                llvm::ArrayRef<mlir::Value> results,
                OriginalsAttr originals = {});
  void recordPositions();
  void restoreOrder(const Part &root);

  mlir::ModuleOp module;
  const ModuleTree &tree;
  PathAttrs &paths;
  const OutlineForm form;
  const bool share;
  mlir::OpBuilder builder;
  mlir::SymbolTable symbols;

  // State of the block being rebuilt.
  const TaggedBlock *tagged = nullptr;
  llvm::ArrayRef<ModuleCall> calls;
  std::vector<mlir::Operation *> callOfPart;
  llvm::DenseMap<mlir::Operation *, int64_t> absentValues;
  /// By op, placeholders for absent values not counted.
  std::vector<int64_t> places;
  bool hasNames = false;

  // Functions made so far.
  struct Made {
    mlir::func::FuncOp function;
    ModuleId module;
  };
  llvm::DenseMap<size_t, llvm::SmallVector<Made, 1>> byHash;
  llvm::StringMap<unsigned> variants;
  llvm::DenseSet<mlir::Operation *> made;
  std::vector<mlir::func::FuncOp> inOrder;
};

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_OUTLINING_OUTLINEBUILDER_H
