// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// htp-roundtrip FILE-or-folder...: takes every .onnx file through MLIR and
// back, directly, through text and through bytecode, and counts those that come
// back equal (as protobuf serializes them deterministically). One process for
// thousands of small models.

#include "HTP/Dialect/HTP/IR/HTP.h"
#include "HTP/Dialect/ONNX/IR/ONNX.h"
#include "HTP/Target/ONNX/Export.h"
#include "HTP/Target/ONNX/Import.h"

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/util/message_differencer.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using ::onnx::ModelProto;

static llvm::cl::list<std::string> inputs(llvm::cl::Positional,
                                          llvm::cl::desc("<models or folders>"),
                                          llvm::cl::OneOrMore);
static llvm::cl::opt<bool> verbose("v", llvm::cl::desc("Name each model"));

static std::string serialize(const ModelProto &model) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  model.SerializePartialToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

/// Exports the module and reads back what was written.
static bool exportAndRead(ModuleOp module, ModelProto &result) {
  ModelProto model;
  htp::ModelWriter writer;
  if (failed(htp::exportModel(module, model, writer, {})))
    return false;
  int fd = memfd_create("model", 0);
  if (llvm::Error error = writer.write(model, fd)) {
    llvm::errs() << toString(std::move(error)) << "\n";
    return false;
  }
  lseek(fd, 0, SEEK_SET);
  bool parsed = result.ParseFromFileDescriptor(fd);
  close(fd);
  return parsed;
}

static bool isEqual(ModuleOp module, const ModelProto &original,
                    const std::string &expected) {
  ModelProto result;
  if (!exportAndRead(module, result))
    return false;
  if (serialize(result) == expected)
    return true;
  std::string report;
  google::protobuf::util::MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&report);
  differencer.Compare(original, result);
  llvm::errs() << StringRef(report).take_front(400) << "\n";
  return false;
}

/// Through a context of its own, as another process would read it.
static bool isEqualThrough(StringRef what, const std::string &form,
                           const DialectRegistry &registry,
                           const ModelProto &original,
                           const std::string &expected) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  auto module = parseSourceString<ModuleOp>(form, ParserConfig(&context));
  if (module && isEqual(*module, original, expected))
    return true;
  llvm::errs() << "  (through " << what << ")\n";
  return false;
}

namespace {
struct Counts {
  unsigned models = 0, direct = 0, text = 0, bytecode = 0;
};
} // namespace

static void roundTrip(StringRef path, const DialectRegistry &registry,
                      Counts &counts) {
  ++counts.models;
  if (verbose)
    llvm::errs() << path << "\n";
  ModelProto original;
  {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer ||
        !original.ParsePartialFromArray((*buffer)->getBufferStart(),
                                        (*buffer)->getBufferSize())) {
      llvm::errs() << path << ": cannot be read\n";
      return;
    }
  }
  std::string expected = serialize(original);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  auto file = htp::ModelFile::open(path);
  if (!file) {
    llvm::errs() << toString(file.takeError()) << "\n";
    return;
  }
  OwningOpRef<ModuleOp> module = htp::importModel(*file, &context, {});
  if (!module)
    return;
  bool direct = isEqual(*module, original, expected);
  std::string text, bytecode;
  llvm::raw_string_ostream textStream(text), bytecodeStream(bytecode);
  module->print(textStream);
  bool through = isEqualThrough("text", text, registry, original, expected);
  bool binary =
      succeeded(writeBytecodeToFile(*module, bytecodeStream)) &&
      isEqualThrough("bytecode", bytecode, registry, original, expected);
  counts.direct += direct;
  counts.text += through;
  counts.bytecode += binary;
  if (!direct || !through || !binary)
    llvm::errs() << path << ": differs\n";
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::cl::ParseCommandLineOptions(argc, argv, "ONNX round trips\n");
  DialectRegistry registry;
  registry.insert<htp::HTPDialect, htp::onnx::ONNXDialect, func::FuncDialect>();
  std::vector<std::string> paths;
  for (const std::string &input : inputs) {
    if (!llvm::sys::fs::is_directory(input)) {
      paths.push_back(input);
      continue;
    }
    std::error_code error;
    for (llvm::sys::fs::recursive_directory_iterator it(input, error), end;
         it != end && !error; it.increment(error))
      if (llvm::sys::path::extension(it->path()) == ".onnx")
        paths.push_back(it->path());
  }
  llvm::sort(paths);
  Counts counts;
  for (const std::string &path : paths)
    roundTrip(path, registry, counts);
  llvm::outs() << counts.models << " models: " << counts.direct
               << " equal directly, " << counts.text << " through text, "
               << counts.bytecode << " through bytecode\n";
  bool allEqual = counts.direct == counts.models &&
                  counts.text == counts.models &&
                  counts.bytecode == counts.models;
  return allEqual ? 0 : 1;
}
