// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accessors for the JSON of a torch.export archive that throw instead of
// returning null: errors say what was expected and where.

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

/// Parses a record. Excessive nesting is rejected first, as the parser is
/// recursive.
llvm::json::Value parseJSON(Archive &archive, const std::string &record);

/// The type for a number of ScalarType in torch/_export/serde/schema.py.
std::optional<c10::ScalarType> scalarType(int64_t number);

/// Reads sizes or strides; -1 for symbolic ones.
Shape dimensions(const llvm::json::Array &list);

} // namespace htp::trace

#endif // HTP_TOOLS_TRACE_EXPORTJSON_H
