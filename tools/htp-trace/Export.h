// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// torch.export archives (.pt2).

#ifndef HTP_TOOLS_TRACE_EXPORT_H
#define HTP_TOOLS_TRACE_EXPORT_H

#include "Archive.h"

namespace htp::trace {

/// Whether the archive is one that torch.export.save wrote.
bool isExportArchive(Archive &archive);

Trace traceExport(Archive &archive, bool hash);

} // namespace htp::trace

#endif // HTP_TOOLS_TRACE_EXPORT_H
