// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fingerprints of a tensor's contents, shared by htp-trace (which sees the
// parameters) and htp-opt (which sees the initializers).

#ifndef HTP_HIERARCHY_FINGERPRINT_H
#define HTP_HIERARCHY_FINGERPRINT_H

#include <cstdint>

namespace htp {

/// Mixes the bits of one element; a tensor's values fingerprint is the sum of
/// these, so that it is the same for every order of the elements.
inline uint64_t mixElement(uint32_t bits) {
  uint64_t x = bits + 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

} // namespace htp

#endif // HTP_HIERARCHY_FINGERPRINT_H
