// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The HTP dialect: setting tags, the syntax of its attributes, and the
// verifiers of its ops.

#include "HTP/Dialect/HTP/IR/HTP.h"
#include "HTP/Dialect/HTP/IR/ScopeLoc.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace htp;

#include "HTP/Dialect/HTP/IR/HTPDialect.cpp.inc"

#include "HTP/Dialect/HTP/IR/HTPEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "HTP/Dialect/HTP/IR/HTPTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "HTP/Dialect/HTP/IR/HTPAttributes.cpp.inc"

#define GET_OP_CLASSES
#include "HTP/Dialect/HTP/IR/HTPOps.cpp.inc"

void HTPDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "HTP/Dialect/HTP/IR/HTPTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "HTP/Dialect/HTP/IR/HTPAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "HTP/Dialect/HTP/IR/HTPOps.cpp.inc"
      >();
}

LogicalResult HTPDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kTagAttr && !isa<TagAttr>(attribute.getValue()))
    return op->emitOpError("attribute 'htp.tag' must be a #htp.tag, found ")
           << attribute.getValue();
  if (name == kParameterAttr && !isa<StringAttr>(attribute.getValue()))
    return op->emitOpError("attribute 'htp.parameter' must be a string, the "
                           "path of a parameter, found ")
           << attribute.getValue();
  if (name == kUsersAttr) {
    auto users = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!users || !llvm::all_of(users, llvm::IsaPred<StringAttr>))
      return op->emitOpError("attribute 'htp.users' must be an array of "
                             "strings, the paths of modules, found ")
             << attribute.getValue();
  }
  if (name == kFitAttr) {
    auto fits = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!fits || !llvm::all_of(fits, llvm::IsaPred<DictionaryAttr>))
      return op->emitOpError("attribute 'htp.fit' must be an array of "
                             "dictionaries, one for each trace or reference, "
                             "found ")
             << attribute.getValue();
  }
  return success();
}

void htp::setTag(Operation *op, TagAttr tag, ArrayRef<Location> sources) {
  Scope scope = {tag.getPath(), tag.getCall(), tag.getPathAttr()};
  op->setDiscardableAttr(kTagAttr, tag);
  op->setLoc(attachScope(op->getLoc(), scope, sources));
}

//===----------------------------------------------------------------------===//
// TagAttr, ContextAttr
//===----------------------------------------------------------------------===//

namespace {
struct TagFields {
  std::string path, reason;
  Evidence evidence = Evidence::None;
  int64_t call = 0;
  double confidence = 1.0;
  SmallVector<ContextAttr> contexts;
};
} // namespace

/// Prints the shortest decimal that reads back as the same number: 0.97, not
/// 0.96999999999999997.
static void printConfidence(AsmPrinter &printer, const APFloat &confidence) {
  double value = confidence.convertToDouble();
  if (!confidence.isFinite()) // "inf" could not be read again
    return printer.printFloat(confidence);
  for (int digits = 1; digits <= 17; ++digits) {
    char text[32];
    snprintf(text, sizeof(text), "%.*f", digits, value);
    if (strtod(text, nullptr) == value) {
      printer << text;
      return;
    }
  }
  printer.printFloat(confidence);
}

/// Prints the fields that differ from their defaults:
///   <"path", call = 1, evidence = "name", confidence = 0.99, reason = "…",
///    contexts = [#htp.context<…>]>
static void printFields(AsmPrinter &printer, StringRef path, int64_t call,
                        Evidence evidence, const APFloat &confidence,
                        StringRef reason, ArrayRef<ContextAttr> contexts) {
  auto string = [&](StringRef key, StringRef value) {
    if (value.empty())
      return;
    printer << ", " << key << " = ";
    printer.printString(value);
  };
  printer << '<';
  printer.printString(path);
  if (call)
    printer << ", call = " << call;
  string("evidence", stringifyEvidence(evidence));
  if (!confidence.isExactlyValue(1.0)) {
    printer << ", confidence = ";
    printConfidence(printer, confidence);
  }
  string("reason", reason);
  if (!contexts.empty()) {
    printer << ", contexts = [";
    llvm::interleaveComma(
        contexts, printer.getStream(),
        [&](ContextAttr context) { printer.printAttribute(context); });
    printer << ']';
  }
  printer << '>';
}

static ParseResult parseEvidence(AsmParser &parser, Evidence &evidence) {
  std::string name;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseString(&name))
    return failure();
  std::optional<Evidence> known = symbolizeEvidence(name);
  if (!known)
    return parser.emitError(where, "unknown evidence '") << name << "'";
  evidence = *known;
  return success();
}

static ParseResult parseFields(AsmParser &parser, TagFields &fields) {
  if (parser.parseLess() || parser.parseString(&fields.path))
    return failure();
  while (succeeded(parser.parseOptionalComma())) {
    StringRef key;
    SMLoc where = parser.getCurrentLocation();
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return failure();
    ParseResult result = success();
    if (key == "call")
      result = parser.parseInteger(fields.call);
    else if (key == "evidence")
      result = parseEvidence(parser, fields.evidence);
    else if (key == "confidence")
      result = parser.parseFloat(fields.confidence);
    else if (key == "reason")
      result = parser.parseString(&fields.reason);
    else if (key == "contexts")
      result =
          parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
            return parser.parseAttribute(fields.contexts.emplace_back());
          });
    else
      return parser.emitError(where, "unknown key '")
             << key
             << "', expected call, evidence, confidence, reason or contexts";
    if (failed(result))
      return failure();
  }
  return parser.parseGreater();
}

void TagAttr::print(AsmPrinter &printer) const {
  printFields(printer, getPath(), getCall(), getEvidence(), getConfidence(),
              getReason(), getContexts());
}

Attribute TagAttr::parse(AsmParser &parser, Type) {
  TagFields fields;
  if (failed(parseFields(parser, fields)))
    return {};
  return get(parser.getContext(), fields.path, fields.call, fields.evidence,
             fields.confidence, fields.reason, fields.contexts);
}

void ContextAttr::print(AsmPrinter &printer) const {
  printFields(printer, getPath(), 0, getEvidence(), getConfidence(), "", {});
}

Attribute ContextAttr::parse(AsmParser &parser, Type) {
  TagFields fields;
  if (failed(parseFields(parser, fields)))
    return {};
  return get(parser.getContext(), fields.path, fields.evidence,
             fields.confidence);
}

//===----------------------------------------------------------------------===//
// OriginalsAttr
//===----------------------------------------------------------------------===//

OriginalsAttr OriginalsAttr::get(ArrayAttr dictionaries) {
  SmallVector<NamedAttribute> entries;
  SmallVector<unsigned> ends;
  for (Attribute element : dictionaries) {
    auto dictionary = dyn_cast<DictionaryAttr>(element);
    if (!dictionary)
      return {};
    llvm::append_range(entries, dictionary);
    ends.push_back(entries.size());
  }
  return get(dictionaries.getContext(), entries, ends);
}

void OriginalsAttr::print(AsmPrinter &printer) const {
  auto printEntry = [&](NamedAttribute entry) {
    printer.printNamedAttribute(entry);
  };
  printer << "<[";
  llvm::interleaveComma(llvm::seq(size()), printer.getStream(), [&](size_t op) {
    printer << '{';
    llvm::interleaveComma((*this)[op], printer.getStream(), printEntry);
    printer << '}';
  });
  printer << "]>";
}

Attribute OriginalsAttr::parse(AsmParser &parser, Type) {
  ArrayAttr dictionaries;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseAttribute(dictionaries) ||
      parser.parseGreater())
    return {};
  OriginalsAttr originals = get(dictionaries);
  if (!originals)
    parser.emitError(where, "expected a list of dictionaries, one for each op "
                            "of the body");
  return originals;
}

//===----------------------------------------------------------------------===//
// HierarchyOp
//===----------------------------------------------------------------------===//

static LogicalResult checkPath(StringRef path, htp::ModuleOp module) {
  if (path.empty() || path.starts_with(".") || path.ends_with(".") ||
      path.contains(".."))
    return module.emitOpError("path '")
           << path << "' is empty or has an empty component";
  return success();
}

/// Registers `alias` as another path of `module`; an error if it is taken.
static LogicalResult addAlias(llvm::DenseMap<StringRef, htp::ModuleOp> &aliases,
                              StringRef alias, htp::ModuleOp module) {
  if (failed(checkPath(alias, module)))
    return failure();
  auto [it, isNew] = aliases.try_emplace(alias, module);
  if (isNew)
    return success();
  return (module.emitOpError("path '") << alias << "' is already taken")
             .attachNote(it->second.getLoc())
         << "by this module";
}

static bool isInside(StringRef path, StringRef around) {
  return path.consume_front(around) && path.starts_with(".");
}

LogicalResult HierarchyOp::verifyRegions() {
  // Large models may have as many modules as nodes, so only paths that need a
  // lookup are put into tables. SymbolTable has already verified that paths are
  // unique.
  llvm::DenseMap<StringRef, htp::ModuleOp> childOfMissing, aliases;
  SmallVector<StringRef> around; // the previous module and its ancestors
  for (Operation &op : *getBody()) {
    auto module = dyn_cast<htp::ModuleOp>(op);
    if (!module)
      return op.emitOpError("does not belong into an htp.hierarchy, which "
                            "holds only htp.module")
                 .attachNote(getLoc())
             << "in this hierarchy";
    if (auto calls = static_cast<int64_t>(module.getCalls()); calls < 0)
      return module.emitOpError("is called ")
             << calls << " times, expected a count that is not negative";
    StringRef path = module.getPath();
    if (failed(checkPath(path, module)))
      return failure();
    if (htp::ModuleOp child = childOfMissing.lookup(path))
      return (child.emitOpError("comes before its parent '") << path << "'")
                 .attachNote(module.getLoc())
             << "the parent";
    while (!around.empty() && !isInside(path, around.back()))
      around.pop_back();
    size_t dot = path.rfind('.');
    if (dot != StringRef::npos &&
        (around.empty() || around.back().size() != dot))
      childOfMissing.try_emplace(path.take_front(dot), module);
    around.push_back(path);
    if (std::optional<ArrayAttr> others = module.getAliases())
      for (auto alias : others->getAsRange<StringAttr>())
        if (failed(addAlias(aliases, alias, module)))
          return failure();
  }
  if (aliases.empty())
    return success();
  for (auto module : getBody()->getOps<htp::ModuleOp>())
    if (htp::ModuleOp other = aliases.lookup(module.getPath()))
      return (other.emitOpError("path '")
              << module.getPath() << "' is already taken")
                 .attachNote(module.getLoc())
             << "by this module";
  return success();
}

//===----------------------------------------------------------------------===//
// RegionOp
//===----------------------------------------------------------------------===//

LogicalResult RegionOp::verifyRegions() {
  Operation *yield = getBody()->getTerminator();
  if (yield->getOperandTypes() == getResultTypes())
    return success();
  return (emitOpError("has ")
          << getNumResults() << " results, but its body yields "
          << yield->getNumOperands() << " values, or of other types")
             .attachNote(yield->getLoc())
         << "yielded here";
}
