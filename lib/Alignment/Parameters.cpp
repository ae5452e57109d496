// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sets the alignment's parameters by name, for experiments and ablation.

#include "HTP/Alignment/Parameters.h"

#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace htp;

static bool read(StringRef text, float &value) {
  double number;
  if (text.getAsDouble(number))
    return false;
  value = static_cast<float>(number);
  return true;
}

static bool read(StringRef text, int &value) {
  return !text.getAsInteger(10, value) && value >= 0;
}

Error AlignmentParameters::set(StringRef assignments) {
  SmallVector<StringRef> list;
  assignments.split(list, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef assignment : list) {
    auto [key, text] = assignment.split('=');
    bool known = false, good = false;
#define HTP_PARAMETER(type, name, value, neutral, unit, meaning)               \
  if (key == #name) {                                                          \
    known = true;                                                              \
    good = read(text, this->name);                                             \
  }
#include "HTP/Alignment/Parameters.inc"
    if (!known)
      return createStringError("the alignment has no parameter '" + key + "'");
    if (!good)
      return createStringError("'" + text + "' is no value of the parameter '" +
                               key + "', expected a number");
  }
  return Error::success();
}
