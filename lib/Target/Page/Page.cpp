// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Embeds the document into the HTML page, escaped so that names cannot inject
// markup.

#include "HTP/Target/Page.h"
#include "Document.h"

#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace htp;

static constexpr unsigned char kPage[] = {
#include "Page.html.inc"
};
static constexpr StringLiteral kPlace = "{{data}}";

/// Writes the JSON as plain ASCII without "<", so that no name can close the
/// script element or open another. Such characters occur only inside JSON
/// strings, where they can be escaped.
static void writeHarmless(StringRef json, raw_ostream &os) {
  auto escape = [&](unsigned unit) { os << llvm::format("\\u%04x", unit); };
  const char *at = json.begin();
  while (at != json.end()) {
    if (*at == '<') {
      escape(*at++);
      continue;
    }
    if (!(*at & 0x80)) {
      os << *at++;
      continue;
    }
    auto *from = reinterpret_cast<const llvm::UTF8 *>(at);
    auto *end = reinterpret_cast<const llvm::UTF8 *>(json.end());
    llvm::UTF32 code;
    if (llvm::convertUTF8Sequence(&from, end, &code, llvm::strictConversion) !=
        llvm::conversionOK) {
      code = 0xFFFD; // unreachable, as names are valid UTF-8
      ++from;
    }
    at = reinterpret_cast<const char *>(from);
    if (code >= 0x10000) {
      escape(0xD800 + ((code - 0x10000) >> 10));
      escape(0xDC00 + ((code - 0x10000) & 0x3FF));
    } else {
      escape(code);
    }
  }
}

LogicalResult htp::writePage(mlir::ModuleOp module, StringRef file,
                             raw_ostream &os) {
  FailureOr<std::unique_ptr<TaggedGraph>> graph = TaggedGraph::create(module);
  if (failed(graph))
    return failure();
  StringRef page(reinterpret_cast<const char *>(kPage), sizeof(kPage));
  size_t place = page.find(kPlace);
  assert(place != StringRef::npos && "the page has a place for its document");
  std::string document;
  llvm::raw_string_ostream text(document);
  llvm::json::OStream json(text);
  writeDocument(**graph, file, json);
  json.flush();
  os << page.take_front(place);
  writeHarmless(document, os);
  os << page.drop_front(place + kPlace.size());
  return success();
}
