// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes traces of torch.export archives (.pt2).

#ifndef HTP_TOOLS_TRACE_EXPORT_H
#define HTP_TOOLS_TRACE_EXPORT_H

#include "Archive.h"

namespace htp::trace {

/// Whether torch.export.save wrote the archive.
bool isExportArchive(Archive &archive);

Trace traceExport(Archive &archive, bool hash);

} // namespace htp::trace

#endif // HTP_TOOLS_TRACE_EXPORT_H
