// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of operators and versions that onnx-mlir supports.

#include "OnnxMlirOps.h"

#include "HTP/Dialect/ONNX/IR/Schema.h"

#include "onnx/defs/schema.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace htp;
using llvm::StringRef;

/// The opset whose operators onnx-mlir supports, in their newest version.
static int64_t getBaseline(StringRef domain) {
  if (domain.empty())
    return 22;
  if (domain == "ai.onnx.ml")
    return 5;
  if (domain == "ai.onnx.preview.training")
    return 1;
  return 0;
}

namespace {
struct Versions {
  llvm::StringLiteral opType;
  llvm::SmallVector<int64_t, 5> versions; // newest first; empty: not supported
};
} // namespace

/// Exceptions: operators with several versions, with only an older one, or not
/// supported at all.
static const Versions *findException(StringRef opType) {
  static const Versions kExceptions[] = {
      {"Clip", {13, 12, 11, 6}},
      {"DFT", {20, 17}},
      {"GridSample", {22, 16}},
      {"GroupNormalization", {21, 18}},
      {"Pad", {21, 18, 13, 11, 2}},
      {"ReduceL1", {18, 13}},
      {"ReduceL2", {18, 13}},
      {"ReduceLogSum", {18, 13}},
      {"ReduceLogSumExp", {18, 13}},
      {"ReduceMax", {20, 18, 13}},
      {"ReduceMean", {18, 13}},
      {"ReduceMin", {20, 18, 13}},
      {"ReduceProd", {18, 13}},
      {"ReduceSum", {13, 11}},
      {"ReduceSumSquare", {18, 13}},
      {"Resize", {19, 18, 13, 11, 10}},
      {"Softmax", {13, 11}},
      {"Split", {18, 13, 11}},
      {"Squeeze", {21, 11}},
      {"Unsqueeze", {21, 11}},
      {"Upsample", {10, 7}},
      {"Attention", {24}},
      {"CastLike", {19}},
      {"Constant", {19}},
      {"ConstantOfShape", {20}},
      {"DequantizeLinear", {19}},
      {"GlobalLpPool", {2}},
      {"LabelEncoder", {2}},
      {"QLinearMatMul", {10}},
      {"QuantizeLinear", {19}},
      {"TreeEnsembleClassifier", {1}},
      {"TreeEnsembleRegressor", {1}},
      {"AffineGrid", {}},
      {"ImageDecoder", {}},
      {"RegexFullMatch", {}},
      {"StringConcat", {}},
      {"StringSplit", {}},
      {"TreeEnsemble", {}},
  };
  const auto *it = llvm::find_if(kExceptions, [&](const Versions &entry) {
    return entry.opType == opType;
  });
  return it == std::end(kExceptions) ? nullptr : it;
}

llvm::SmallVector<OnnxMlirOp>
htp::findOnnxMlirOps(StringRef opType, StringRef domain, int64_t opsetVersion) {
  std::string name = ("onnx." + opType).str();
  const Versions *exception = findException(opType);
  if (!exception) {
    const ::onnx::OpSchema *schema =
        onnx::findSchema(opType, domain, getBaseline(domain));
    if (!schema || getBaseline(domain) == 0 || schema->Deprecated())
      return {};
    return {OnnxMlirOp{name, schema}};
  }
  llvm::SmallVector<OnnxMlirOp> found;
  for (int64_t version : llvm::reverse(exception->versions)) {
    const ::onnx::OpSchema *schema = onnx::findSchema(opType, domain, version);
    if (!schema)
      continue;
    // Versions older than the best match are of no use.
    if (version <= opsetVersion)
      found.clear();
    bool isNewest = version == exception->versions.front();
    found.push_back(
        {isNewest ? name : name + "V" + std::to_string(version), schema});
  }
  return found;
}
