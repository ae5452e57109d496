// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formats diagnostics: escapes bytes that are not UTF-8 and shortens very long
// names.

#include "HTP/Tools/HtpOpt/Diagnostics.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;
using namespace mlir;
using namespace htp;

/// Escapes control characters and bytes that are not UTF-8: names in corrupt
/// files may contain anything, but consumers of messages expect text, and a
/// terminal acts on what is not.
static std::string readable(StringRef text) {
  std::string result;
  raw_string_ostream os(result);
  while (!text.empty()) {
    auto *begin = reinterpret_cast<const UTF8 *>(text.bytes_begin());
    size_t size = getNumBytesForUTF8(*begin);
    const bool isControl = *begin < 0x20 || *begin == 0x7F;
    if (!isControl && size <= text.size() &&
        isLegalUTF8Sequence(begin, begin + size)) {
      os << text.take_front(size);
      text = text.drop_front(size);
    } else {
      os << "\\x" << format_hex_no_prefix(*begin, 2, /*Upper=*/true);
      text = text.drop_front();
    }
  }
  return result;
}

/// The same, shortened if it is very long: a name of 100,000 characters would
/// bury the message.
static std::string readableWord(StringRef word) {
  constexpr size_t kMaxWord = 400, kKeptEnds = 150;
  if (word.size() <= kMaxWord)
    return readable(word);
  return readable(word.take_front(kKeptEnds)) + "… (" +
         std::to_string(word.size()) + " characters) …" +
         readable(word.take_back(kKeptEnds));
}

/// The same for each word of a message, which may have several lines.
static std::string readableMessage(StringRef text) {
  std::string result;
  while (!text.empty()) {
    size_t end = std::min(text.find_first_of(" \n"), text.size());
    result += readableWord(text.take_front(end));
    result += text.substr(end, 1);
    text = text.drop_front(std::min(end + 1, text.size()));
  }
  return result;
}

void htp::reportError(const Twine &message) {
  WithColor::error(errs()) << readableMessage(message.str()) << "\n";
}

/// The name of the node or tensor in a location; the first one of a fused
/// location.
static StringRef nameOf(Location location) {
  return llvm::TypeSwitch<Location, StringRef>(location)
      .Case([](NameLoc name) { return name.getName().getValue(); })
      .Case([](CallSiteLoc call) { return nameOf(call.getCallee()); })
      .Case([](FusedLoc fused) {
        for (Location part : fused.getLocations())
          if (StringRef name = nameOf(part); !name.empty())
            return name;
        return StringRef();
      })
      .Default(StringRef());
}

static raw_ostream &printSeverity(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return WithColor::note(errs());
  case DiagnosticSeverity::Warning:
    return WithColor::warning(errs());
  case DiagnosticSeverity::Error:
    return WithColor::error(errs());
  case DiagnosticSeverity::Remark:
    return WithColor::remark(errs());
  }
  llvm_unreachable("unknown diagnostic severity");
}

ModelDiagnosticHandler::ModelDiagnosticHandler(MLIRContext *context,
                                               StringRef path)
    : ScopedDiagnosticHandler(context), path(path) {
  setHandler([this](Diagnostic &diagnostic) {
    print(diagnostic);
    return success();
  });
}

void ModelDiagnosticHandler::print(Diagnostic &diagnostic) {
  std::string message = diagnostic.str();
  StringRef name = nameOf(diagnostic.getLocation());
  errs() << path << ": ";
  raw_ostream &os = printSeverity(diagnostic.getSeverity());
  // Many messages already contain the node's name.
  if (!name.empty() && !StringRef(message).contains(name))
    os << "at \"" << readableWord(name) << "\": ";
  os << readableMessage(message) << "\n";
  for (Diagnostic &note : diagnostic.getNotes())
    print(note);
}

DiagnosticFilter::DiagnosticFilter(MLIRContext *context,
                                   const MlirOptMainConfig &config)
    : ScopedDiagnosticHandler(context) {
  VerbosityLevel level = config.getDiagnosticVerbosityLevel();
  bool showNotes = config.shouldShowNotes();
  setHandler([=](Diagnostic &diagnostic) {
    switch (diagnostic.getSeverity()) {
    case DiagnosticSeverity::Error:
      return failure();
    case DiagnosticSeverity::Warning:
      return success(level == VerbosityLevel::ErrorsOnly);
    case DiagnosticSeverity::Remark:
      return success(level != VerbosityLevel::ErrorsWarningsAndRemarks);
    case DiagnosticSeverity::Note:
      return success(!showNotes);
    }
    llvm_unreachable("unknown diagnostic severity");
  });
}
