// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses the metadata of the torch.export-based exporter: scopes and stack
// traces.

#include "HTP/Hierarchy/Scopes.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace htp {

/// Consumes one quoted Python string from the front of `text`.
static std::optional<std::string> takePythonString(StringRef &text) {
  if (text.empty() || (text.front() != '\'' && text.front() != '"'))
    return std::nullopt;
  char quote = text.front();
  std::string result;
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == quote) {
      text = text.drop_front(i + 1);
      return result;
    }
    if (text[i] == '\\' && i + 1 < text.size())
      ++i;
    result += text[i];
  }
  return std::nullopt;
}

std::optional<std::vector<std::string>> parsePythonList(StringRef text) {
  text = text.trim();
  if (!text.consume_front("[") || !text.consume_back("]"))
    return std::nullopt;
  std::vector<std::string> list;
  for (text = text.trim(); !text.empty(); text = text.ltrim()) {
    if (!list.empty() && !text.consume_front(","))
      return std::nullopt;
    text = text.ltrim();
    std::optional<std::string> element = takePythonString(text);
    if (!element)
      return std::nullopt;
    list.push_back(std::move(*element));
  }
  return list;
}

/// Drops every "@1" from `path`. The last one is the call number of the module
/// itself.
static std::pair<std::string, int64_t> splitCalls(StringRef path) {
  std::string plain;
  int64_t call = 0;
  while (!path.empty()) {
    size_t mark = path.find('@');
    plain += path.take_front(mark);
    if (mark == StringRef::npos)
      break;
    path = path.drop_front(mark + 1);
    StringRef number = path.take_while(isDigit);
    path = path.drop_front(number.size());
    if (number.empty())
      plain += '@';
    else if (number.getAsInteger(10, call) || !path.empty())
      call = 0;
  }
  return {plain, call};
}

std::optional<ExportScope> parseExportScope(StringRef nameScopes,
                                            StringRef classHierarchy) {
  auto names = parsePythonList(nameScopes);
  if (!names || names->size() < 2)
    return std::nullopt;
  auto classes = parsePythonList(classHierarchy);
  bool classesFit = classes && classes->size() == names->size();
  ExportScope scope;
  scope.value = std::move(names->back());
  for (size_t i = 0; i + 1 < names->size(); ++i) {
    ExportScope::Frame &frame = scope.frames.emplace_back();
    std::tie(frame.path, frame.call) = splitCalls((*names)[i]);
    if (classesFit)
      frame.qualified = (*classes)[i];
  }
  return scope;
}

/// Parses the frame that begins at offset `begin` of a stack trace.
static std::optional<SourceLine> frameAt(StringRef stackTrace, size_t begin) {
  auto [file, rest] = stackTrace.drop_front(begin + 6).split('"');
  SourceLine source{file.str(), 0};
  if (!rest.consume_front(", line ") || rest.consumeInteger(10, source.line))
    return std::nullopt;
  return source;
}

std::optional<SourceLine> lastSourceLine(StringRef stackTrace) {
  std::optional<SourceLine> innermost;
  StringRef above = stackTrace;
  for (size_t begin; (begin = above.rfind("File \"")) != StringRef::npos;
       above = above.take_front(begin)) {
    std::optional<SourceLine> frame = frameAt(stackTrace, begin);
    if (!frame)
      return innermost;
    if (!StringRef(frame->file).contains("/torch/"))
      return frame;
    if (!innermost)
      innermost = std::move(frame);
  }
  return innermost;
}

void ExportTreeBuilder::add(const ExportScope &scope) {
  if (modules.empty()) {
    modules.emplace_back();
    byPath[""] = 0;
  }
  for (const ExportScope::Frame &frame : scope.frames) {
    StringRef path = frame.path;
    // Not a valid path: ModuleTree would reject it.
    if (path.starts_with(".") || path.ends_with(".") || path.contains(".."))
      continue;
    auto [it, isNew] = byPath.try_emplace(path, modules.size());
    if (isNew)
      modules.emplace_back().path = path.str();
    Module &module = modules[it->second];
    module.calls = std::max(module.calls, frame.call + 1);
    if (!module.qualified.empty() || frame.qualified.empty())
      continue;
    module.qualified = frame.qualified;
    module.className =
        StringRef(module.qualified)
            .drop_front(StringRef(module.qualified).rfind('.') + 1)
            .str();
    module.torchNN =
        !path.empty() && StringRef(module.qualified).starts_with("torch.nn.");
  }
}

/// A module without metadata never ran, as far as the exporter knows. If its
/// parent ran, the parent may read its parameters itself (an attention reads
/// those of its projection); otherwise the exporter lost track of it.
void ExportTreeBuilder::addParameters(ArrayRef<StringRef> names) {
  for (StringRef name : names) {
    size_t dot = name.rfind('.');
    if (name.drop_front(dot + 1).empty()) // "." is a name for a value, too
      continue;
    StringRef path = dot == StringRef::npos ? "" : name.take_front(dot);
    auto owner = byPath.find(path);
    if (owner == byPath.end()) {
      StringRef around = path.contains('.') ? path.rsplit('.').first : "";
      bool broken =
          path.starts_with(".") || path.ends_with(".") || path.contains("..");
      if (broken || (!around.empty() && byPath.contains(around)))
        continue;
      owner = byPath.try_emplace(path, modules.size()).first;
      modules.emplace_back().path = path.str();
    }
    Parameter &parameter = modules[owner->second].parameters.emplace_back();
    parameter.name = name.drop_front(dot + 1).str();
  }
}

ModuleTree ExportTreeBuilder::build() {
  byPath.clear();
  return modules.empty() ? ModuleTree()
                         : cantFail(ModuleTree::create(std::move(modules)));
}

} // namespace htp
