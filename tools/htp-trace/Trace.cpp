// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes trace.json, and tells PyTorch's own code from the model's.

#include "Trace.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace htp::trace;
namespace json = llvm::json;

bool htp::trace::definedByTorchNN(llvm::StringRef qualified) {
  return qualified.starts_with("torch.nn.");
}

std::optional<Source> htp::trace::modelFrame(llvm::ArrayRef<Source> frames) {
  for (const Source &frame : frames)
    if (!llvm::StringRef(frame.file).contains("/torch/"))
      return frame;
  return frames.empty() ? std::nullopt : std::optional(frames.front());
}

namespace {
/// Writes a trace, with one function per kind of JSON object or array.
class Writer {
public:
  explicit Writer(llvm::raw_ostream &os) : j(os) {}

  void write(const Trace &trace) {
    j.object([&] {
      j.attribute("format", "htp-trace");
      j.attribute("version", 1);
      j.attributeObject("producer", [&] {
        j.attribute("name", "htp-trace");
        j.attribute("source", trace.source);
      });
      j.attributeArray("modules", [&] {
        for (const Module &module : trace.modules)
          write(module);
      });
      write(trace.body);
    });
  }

private:
  void write(const Module &module) {
    j.object([&] {
      j.attribute("path", module.path);
      j.attribute("class", module.className());
      j.attribute("qualified", module.qualified);
      j.attribute("torch_nn", module.torchNN);
      j.attribute("calls", module.calls);
      if (!module.aliases.empty())
        j.attributeArray("aliases", [&] {
          for (const std::string &alias : module.aliases)
            j.value(alias);
        });
      j.attributeArray("parameters", [&] {
        for (const Parameter &parameter : module.parameters)
          write(parameter);
      });
    });
  }

  void write(const Parameter &parameter) {
    j.object([&] {
      j.attribute("name", parameter.name);
      j.attribute("kind", parameter.kind);
      shapeAndType(parameter.shape, parameter.dtype);
      if (parameter.hash)
        j.attribute("hash", hex(*parameter.hash));
      if (parameter.valuesHash)
        j.attribute("values_hash", hex(*parameter.valuesHash));
      if (!parameter.sketch.empty())
        j.attribute("sketch", parameter.sketch);
      if (!parameter.tied.empty())
        j.attribute("tied", parameter.tied);
    });
  }

  /// Writes the three parts of a block as attributes of the enclosing object.
  void write(const Block &block) {
    results("inputs", block.inputs);
    arguments("outputs", block.outputs);
    j.attributeArray("ops", [&] {
      for (const Op &op : block.ops)
        write(op);
    });
  }

  void write(const Op &op) {
    j.object([&] {
      j.attribute("kind", op.kind);
      j.attribute("module", op.module);
      j.attribute("call", op.call);
      arguments("inputs", op.inputs);
      results("outputs", op.outputs);
      if (op.source)
        j.attributeObject("source", [&] {
          j.attribute("file", op.source->file);
          j.attribute("line", op.source->line);
        });
      if (!op.blocks.empty())
        j.attributeArray("blocks", [&] {
          for (const Block &block : op.blocks)
            j.object([&] { write(block); });
        });
    });
  }

  void write(const Argument &argument) {
    j.object([&] {
      if (auto *value = std::get_if<Argument::Value>(&argument.what))
        j.attribute("value", value->id);
      else if (auto *parameter =
                   std::get_if<Argument::Parameter>(&argument.what))
        j.attribute("parameter", parameter->path);
      else if (auto *constant = std::get_if<json::Value>(&argument.what))
        j.attribute("constant", *constant);
      else
        arguments("list", std::get<Argument::List>(argument.what));
    });
  }

  void arguments(llvm::StringRef key, const std::vector<Argument> &list) {
    j.attributeArray(key, [&] {
      for (const Argument &argument : list)
        write(argument);
    });
  }

  void results(llvm::StringRef key, const std::vector<Result> &list) {
    j.attributeArray(key, [&] {
      for (const Result &result : list)
        j.object([&] {
          j.attribute("value", result.id);
          if (!result.name.empty())
            j.attribute("name", result.name);
          if (result.shape)
            shapeAndType(*result.shape, result.dtype);
        });
    });
  }

  void shapeAndType(const Shape &shape, const std::string &dtype) {
    j.attributeArray("shape", [&] {
      for (int64_t size : shape)
        j.value(size < 0 ? json::Value(nullptr) : json::Value(size));
    });
    j.attribute("dtype", dtype);
  }

  static std::string hex(uint64_t hash) {
    return llvm::utohexstr(hash, /*LowerCase=*/true, /*Width=*/16);
  }

  json::OStream j;
};
} // namespace

void htp::trace::writeTrace(llvm::raw_ostream &os, const Trace &trace) {
  Writer(os).write(trace);
  os << '\n';
}
