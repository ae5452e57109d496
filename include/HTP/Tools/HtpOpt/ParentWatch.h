// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes a helper process exit with its parent: Python starts htp-opt ahead of
// time and sends its arguments later, and it must not outlive Python.

#ifndef HTP_TOOLS_HTPOPT_PARENTWATCH_H
#define HTP_TOOLS_HTPOPT_PARENTWATCH_H

namespace htp {

/// Ends this process, and removes unfinished files, soon after `parent` ceases
/// to be its parent; immediately if it is not its parent now.
void exitWithParent(int parent);

} // namespace htp

#endif // HTP_TOOLS_HTPOPT_PARENTWATCH_H
