// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program that another one runs for itself (Python, with its arguments still
// to come) must not outlive it.

#ifndef HTP_TOOLS_HTPOPT_PARENTWATCH_H
#define HTP_TOOLS_HTPOPT_PARENTWATCH_H

namespace htp {

/// Ends this process soon after `parent` is no longer its parent; unfinished
/// files are removed. At once where it is not its parent now.
void exitWithParent(int parent);

} // namespace htp

#endif // HTP_TOOLS_HTPOPT_PARENTWATCH_H
