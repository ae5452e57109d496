// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model through MLIR's text and through its bytecode and back.

#include "Model.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

static std::string print(ModuleOp module, bool asText) {
  std::string result;
  llvm::raw_string_ostream os(result);
  if (asText)
    module->print(os, OpPrintingFlags().enableDebugInfo().assumeVerified());
  else
    fuzz::require(succeeded(writeBytecodeToFile(module, os)),
                  "no bytecode can be written");
  return result;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz::beginInput();
  llvm::StringRef input(reinterpret_cast<const char *>(data), size);
  OwningOpRef<ModuleOp> module = fuzz::readModel(input, fuzz::Tags::Read);
  if (!module)
    return -1;
  std::optional<std::string> expected = fuzz::writeModel(*module);
  fuzz::require(expected.has_value(), "a model cannot be written");
  for (bool asText : {true, false}) {
    std::string form = print(*module, asText);
    OwningOpRef<ModuleOp> back =
        parseSourceString<ModuleOp>(form, module->getContext());
    fuzz::require(bool(back), asText ? "the text cannot be parsed"
                                     : "the bytecode cannot be read");
    std::optional<std::string> output = fuzz::writeModel(*back);
    fuzz::require(output && fuzz::isSameModel(*expected, *output),
                  asText ? "it differs after text"
                         : "it differs after bytecode");
  }
  return 0;
}
