// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assembles a loader from LibTorch's parts (archive reader, unpickler, source
// importer). torch::jit::load itself copies every tensor to the heap and runs
// `__setstate__`, which is untrusted code from the archive.

#include "TorchScript.h"

#include "llvm/Support/WithColor.h"

#include <torch/csrc/jit/serialization/import_read.h>
#include <torch/csrc/jit/serialization/import_source.h>

using namespace htp::trace;
using torch::jit::SourceImporter;

/// Limits on what LibTorch loads in reasonable time: its work is quadratic in a
/// module's children and cubic in the depth of the tree.
static constexpr int64_t maxModules = 500'000, maxChildren = 20'000,
                         maxLevels = 300;

namespace {
/// Measures the object tree in data.pkl without loading any classes: every
/// object gets an empty class and stores its height.
class TreeSize {
public:
  void check(Archive &archive) {
    auto unit = std::make_shared<torch::jit::CompilationUnit>();
    torch::jit::readArchiveAndTensors(
        "data", /*pickle_prefix=*/"", /*tensor_prefix=*/"",
        [&](const c10::QualifiedName &name) {
          return c10::StrongTypePtr(unit, c10::ClassType::create(name, unit));
        },
        [this](const c10::StrongTypePtr &type, const c10::IValue &state) {
          return add(type, state);
        },
        /*device=*/std::nullopt, archive.reader(),
        torch::jit::Unpickler::defaultTypeParser, archive.storages("data/"));
  }

private:
  c10::intrusive_ptr<c10::ivalue::Object> add(const c10::StrongTypePtr &type,
                                              const c10::IValue &state) {
    int64_t levels = 0, children = 0;
    if (state.isGenericDict())
      for (const auto &attribute : state.toGenericDict())
        if (attribute.value().isObject()) {
          ++children;
          levels = std::max(levels,
                            attribute.value().toObject()->getSlot(0).toInt());
        }
    limit(++modules, maxModules, "modules");
    limit(children, maxChildren, "children of one module");
    limit(++levels, maxLevels, "levels of modules");
    auto object = c10::ivalue::Object::create(type, 1);
    object->setSlot(0, levels);
    return object;
  }

  static void limit(int64_t found, int64_t most, const char *what) {
    if (found > most)
      throw ArchiveError("the archive has more than " + std::to_string(most) +
                         " " + what);
  }

  int64_t modules = 0;
};

class Loader {
public:
  explicit Loader(Archive &archive)
      : archive(archive),
        importer(
            unit, &constants,
            [this](const std::string &qualifier) { return source(qualifier); },
            archive.reader().version()) {}

  torch::jit::Module load() {
    // Load constants first, as the code refers to them by position.
    c10::IValue table = read("constants");
    for (const c10::IValue &constant : table.toTupleRef().elements())
      constants.push_back(constant);
    return torch::jit::Module(read("data").toObject());
  }

private:
  c10::IValue read(const std::string &pickle) {
    return torch::jit::readArchiveAndTensors(
        pickle, /*pickle_prefix=*/"", /*tensor_prefix=*/"",
        [this](const c10::QualifiedName &name) {
          return c10::StrongTypePtr(unit, importer.loadType(name));
        },
        [](const c10::StrongTypePtr &type, c10::IValue state) {
          return object(type, std::move(state));
        },
        /*device=*/std::nullopt, archive.reader(),
        torch::jit::Unpickler::defaultTypeParser,
        archive.storages(pickle + "/"));
  }

  static c10::intrusive_ptr<c10::ivalue::Object>
  object(const c10::StrongTypePtr &type, c10::IValue state) {
    auto classType = type.type_->expect<c10::ClassType>();
    size_t size = classType->numAttributes();
    auto object = c10::ivalue::Object::create(type, size);
    // Some state (such as packed weights of quantized modules) would only exist
    // after `__setstate__`, which is not run. The module is kept without it.
    if (classType->findMethod("__setstate__")) {
      llvm::WithColor::warning(llvm::errs(), "htp-trace")
          << "'" << classType->name()->qualifiedName()
          << "' restores its state by code (__setstate__), which is not run: "
             "its parameters and submodules are left out\n";
      return object;
    }
    auto attributes = state.toGenericDict();
    for (size_t i = 0; i < size; ++i)
      object->setSlot(i, attributes.at(classType->getAttributeName(i)));
    return object;
  }

  /// Loads the code of one qualifier ("__torch__.torch.nn.modules.linear").
  std::shared_ptr<torch::jit::Source> source(const std::string &qualifier) {
    std::string record = "code/" + qualifier + ".py";
    std::replace(record.begin() + 5, record.end() - 3, '.', '/');
    if (!archive.has(record))
      return nullptr;
    std::shared_ptr<torch::jit::SourceRangeUnpickler> ranges;
    if (archive.has(record + ".debug_pkl"))
      ranges = readDebugRanges(archive.bytes(record + ".debug_pkl"));
    llvm::StringRef text = archive.bytes(record);
    return std::make_shared<torch::jit::Source>(
        std::string_view(text.data(), text.size()), record, 1, ranges);
  }

  Archive &archive;
  std::shared_ptr<torch::jit::CompilationUnit> unit =
      std::make_shared<torch::jit::CompilationUnit>();
  std::vector<c10::IValue> constants;
  SourceImporter importer;
};
} // namespace

torch::jit::Module htp::trace::loadTorchScript(Archive &archive) {
  TreeSize().check(archive);
  return Loader(archive).load();
}
