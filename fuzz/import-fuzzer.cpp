// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any bytes at all: reading them as a model must end in an error or in a
// module, and a module must become the same model again, also when its metadata
// were tags meanwhile.

#include "Model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz::beginInput();
  llvm::StringRef input(reinterpret_cast<const char *>(data), size);
  for (fuzz::Tags tags : {fuzz::Tags::Leave, fuzz::Tags::Read}) {
    mlir::OwningOpRef<mlir::ModuleOp> module = fuzz::readModel(input, tags);
    if (!module)
      return -1; // Not worth keeping in the corpus.
    std::optional<std::string> output = fuzz::writeModel(*module);
    fuzz::require(output.has_value(), "a model cannot be written");
    if (tags == fuzz::Tags::Leave)
      fuzz::require(fuzz::isSameModel(input, *output),
                    "the model did not come back equal");
    else if (auto again = fuzz::readModel(*output, tags))
      fuzz::require(output == fuzz::writeModel(*again),
                    "a copy of a copy differs");
    else
      fuzz::require(false, "a copy cannot be read");
  }
  return 0;
}
