// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything that is done with a model: tagged (which verifies), stripped again
// (as if never tagged), outlined and inlined (as if never outlined), each step
// from the file that the one before wrote.

#include "Model.h"

#include "HTP/Pipelines/Pipelines.h"
#include "HTP/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using AddPasses = llvm::function_ref<void(OpPassManager &)>;

/// The file after some passes; nothing where they or reading it fail.
static std::optional<std::string> run(llvm::StringRef bytes, AddPasses add) {
  OwningOpRef<ModuleOp> module = fuzz::readModel(bytes, fuzz::Tags::Read);
  if (!module)
    return std::nullopt;
  PassManager passes(module->getContext());
  add(passes);
  if (failed(passes.run(*module)))
    return std::nullopt;
  return fuzz::writeModel(*module);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz::beginInput();
  llvm::StringRef input(reinterpret_cast<const char *>(data), size);
  auto strip = [](OpPassManager &passes) {
    passes.addPass(htp::createHTPStrip());
  };
  std::optional<std::string> plain = run(input, strip);
  if (!plain)
    return -1;
  std::optional<std::string> tagged = run(input, [](OpPassManager &passes) {
    htp::buildTagPipeline(passes, htp::TagPipelineOptions());
  });
  if (!tagged)
    return 0;
  std::optional<std::string> stripped = run(*tagged, strip);
  fuzz::require(stripped && fuzz::isSameModel(*plain, *stripped),
                "tagged and stripped, it is not what it was");
  std::optional<std::string> outlined = run(*tagged, [](OpPassManager &passes) {
    passes.addPass(htp::createHTPOutline());
    passes.addPass(htp::createHTPVerifyTags());
  });
  if (!outlined)
    return 0;
  std::optional<std::string> inlined =
      run(*outlined, [](OpPassManager &passes) {
        passes.addPass(htp::createHTPInline());
      });
  fuzz::require(inlined && fuzz::isSameModel(*tagged, *inlined),
                "outlined and inlined, it is not what it was");
  return 0;
}
