// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks up operators in the table that GenerateSchemas made at build time.

#include "HTP/Dialect/ONNX/IR/Schema.h"

#include "onnx/defs/operator_sets.h"
#include "onnx/defs/operator_sets_ml.h"
#include "onnx/defs/operator_sets_preview.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace htp::onnx;

namespace {
/// One version of an operator.
struct SchemaEntry {
  StringRef opType, domain;
  int64_t since;
  LazySchema::Factory make;
  bool isRandom;
  ArrayRef<StringRef> attributes, graphs, required;
};

struct Registry final : ::onnx::ISchemaRegistry {
  const ::onnx::OpSchema *GetSchema(const std::string &opType, int version,
                                    const std::string &domain) const override {
    return version > 0 ? findSchema(opType, domain, version) : nullptr;
  }
};
} // namespace

#include "Schemas.inc" // Sorted by operator and version.

/// Split reserves memory for as many parts as its attribute says and then reads
/// one for each output, so both numbers must be the same. ONNX does not check
/// that before.
static void guardSplit(::onnx::OpSchema &schema) {
  if (!schema.attributes().count("num_outputs"))
    return;
  schema.TypeAndShapeInferenceFunction(
      [infer = schema.GetTypeAndShapeInferenceFunction()](
          ::onnx::InferenceContext &context) {
        const auto *parts = context.getAttribute("num_outputs");
        if (!parts || uint64_t(parts->i()) == context.getNumOutputs())
          infer(context);
      });
}

const ::onnx::OpSchema &LazySchema::operator*() const {
  std::call_once(once, [this] {
    auto made = std::make_unique<::onnx::OpSchema>(make());
    guardSplit(*made);
    made->Finalize();
    schema = made.release();
  });
  return *schema;
}

const OperatorSchemas::Version *OperatorSchemas::at(int64_t opset) const {
  const Version *found = nullptr;
  for (const Version &version : versions)
    if (opset == 0 || version.since <= opset)
      found = &version;
  return found;
}

/// Never destroyed, as threads may still use it while the program exits.
static const llvm::StringMap<OperatorSchemas> &operators() {
  static const auto *all = [] {
    auto *made = new llvm::StringMap<OperatorSchemas>();
    for (const SchemaEntry &entry : kSchemas) {
      OperatorSchemas &schemas = (*made)[entry.opType];
      schemas.domain = entry.domain;
      schemas.isRandom = entry.isRandom; // The newest version decides.
      schemas.versions.emplace_back(entry.since, entry.make, entry.attributes,
                                    entry.graphs, entry.required);
    }
    return made;
  }();
  return *all;
}

const OperatorSchemas *htp::onnx::findOperator(StringRef opType) {
  auto it = operators().find(opType);
  return it == operators().end() ? nullptr : &it->second;
}

void htp::onnx::forEachOperator(
    llvm::function_ref<void(StringRef, const OperatorSchemas &)> visit) {
  StringRef last;
  for (const SchemaEntry &entry : kSchemas)
    if (std::exchange(last, entry.opType) != entry.opType)
      visit(entry.opType, *findOperator(entry.opType));
}

const ::onnx::ISchemaRegistry &htp::onnx::schemaRegistry() {
  static const Registry registry;
  return registry;
}
