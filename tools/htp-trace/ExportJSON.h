// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The JSON of a torch.export archive, with errors instead of null pointers: a
// wrong shape of the file is reported with what was looked for.

#ifndef HTP_TOOLS_TRACE_EXPORTJSON_H
#define HTP_TOOLS_TRACE_EXPORTJSON_H

#include "Archive.h"

#include "llvm/Support/JSON.h"

#include <c10/core/ScalarType.h>

#include <optional>
#include <string>

namespace htp::trace {

const llvm::json::Value &field(const llvm::json::Object &object,
                               llvm::StringRef key);
const llvm::json::Object &asObject(const llvm::json::Value &value,
                                   llvm::StringRef what);
const llvm::json::Array &asArray(const llvm::json::Value &value,
                                 llvm::StringRef what);
const llvm::json::Object &object(const llvm::json::Object &parent,
                                 llvm::StringRef key);
const llvm::json::Array &array(const llvm::json::Object &parent,
                               llvm::StringRef key);
std::string text(const llvm::json::Object &parent, llvm::StringRef key);

/// Parses a record. The parser recurses, so nesting beyond that of any graph is
/// turned down before.
llvm::json::Value parseJSON(Archive &archive, const std::string &record);

/// The type of a number of torch/_export/serde/schema.py's ScalarType.
std::optional<c10::ScalarType> scalarType(int64_t number);

/// Sizes or strides; -1 where they are symbolic.
Shape dimensions(const llvm::json::Array &list);

} // namespace htp::trace

#endif // HTP_TOOLS_TRACE_EXPORTJSON_H
