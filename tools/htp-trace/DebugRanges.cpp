// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses `.debug_pkl` records, which map ranges of the archive's code (by start
// offset) to places in the original Python code:
//
//   ("FORMAT_WITH_STRING_TABLE", (string, ...),
//    ((offset, (([text, ...], file, first line), start, end), tag), ...))
//
// where texts and files are indices into the table of strings. A traced op's
// text is its Python stack, one frame a line; a scripted one's is its source.

#include "TorchScript.h"

#include <torch/csrc/jit/serialization/pickle.h>
#include <torch/csrc/jit/serialization/source_range_serialization.h>

#include <algorithm>
#include <map>

using namespace htp::trace;
using torch::jit::SourceRange;

namespace {
class DebugRanges final : public torch::jit::SourceRangeUnpickler {
public:
  explicit DebugRanges(llvm::StringRef record) : record(record) {}

  std::optional<SourceRange>
  findSourceRangeThatGenerated(const SourceRange &range) override {
    if (!std::exchange(parsed, true))
      parse();
    auto after = std::upper_bound(entries.begin(), entries.end(), range.start(),
                                  [](size_t offset, const Entry &entry) {
                                    return offset < entry.offset;
                                  });
    if (after == entries.begin())
      return std::nullopt;
    const c10::IValue &found = std::prev(after)->range;
    const auto &parts = found.toTupleRef().elements();
    return SourceRange(source(parts.at(0)), parts.at(1).toInt(),
                       parts.at(2).toInt());
  }

private:
  struct Entry {
    size_t offset;
    c10::IValue range;
  };

  /// Parses lazily, as most records are never needed.
  void parse() {
    c10::IValue whole = torch::jit::unpickle(record.data(), record.size());
    const auto &parts = whole.toTupleRef().elements();
    if (parts.size() != 3 || !parts[0].isString())
      return; // written before PyTorch 1.10; lines are optional
    for (const c10::IValue &text : parts[1].toTupleRef().elements())
      strings.push_back(text.toStringRef());
    for (const c10::IValue &entry : parts[2].toTupleRef().elements()) {
      const auto &fields = entry.toTupleRef().elements();
      entries.push_back(
          {static_cast<size_t>(fields.at(0).toInt()), fields.at(1)});
    }
  }

  std::shared_ptr<torch::jit::Source> source(const c10::IValue &place) {
    std::shared_ptr<torch::jit::Source> &made = sources[&place.toTupleRef()];
    if (made)
      return made;
    const auto &parts = place.toTupleRef().elements();
    std::string text;
    for (int64_t index : parts.at(0).toIntVector())
      text += strings.at(index);
    const std::string &file = strings.at(parts.at(1).toInt());
    made = std::make_shared<torch::jit::Source>(std::string_view(text), file,
                                                parts.at(2).toInt());
    return made;
  }

  llvm::StringRef record;
  bool parsed = false;
  std::vector<std::string> strings;
  std::vector<Entry> entries;
  /// Many ranges share a place, and the unpickler shares its tuple.
  std::map<const c10::ivalue::Tuple *, std::shared_ptr<torch::jit::Source>>
      sources;
};
} // namespace

std::shared_ptr<torch::jit::SourceRangeUnpickler>
htp::trace::readDebugRanges(llvm::StringRef record) {
  return std::make_shared<DebugRanges>(record);
}

std::optional<Source> htp::trace::modelSource(const SourceRange &range) {
  auto original = range.findSourceRangeThatGenerated();
  if (!original || !original->source())
    return std::nullopt;
  std::string text = original->text().str();
  std::vector<Source> frames;
  llvm::StringRef rest = text;
  while (!rest.empty()) { // "path/model.py(12): forward", innermost first
    auto [line, following] = rest.split('\n');
    rest = following;
    auto [where, function] = line.rsplit("): ");
    auto [file, number] = where.rsplit('(');
    Source frame{file.str()};
    if (function.empty() || number.getAsInteger(10, frame.line)) {
      frames.clear(); // not a stack but the source of a scripted function
      break;
    }
    frames.push_back(frame);
  }
  if (!frames.empty())
    return modelFrame(frames);
  auto place = original->file_line_col();
  if (!place || std::get<0>(*place).empty())
    return std::nullopt;
  return Source{std::get<0>(*place), static_cast<int64_t>(std::get<1>(*place))};
}
