// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --htp-explain: see Passes.td. Formats everything known about one node as
// text.

#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Dialect/HTP/IR/ScopeLoc.h"
#include "HTP/Hierarchy/ModulePattern.h"
#include "HTP/Transforms/Passes.h"

#include "llvm/ADT/StringSwitch.h"

namespace htp {
#define GEN_PASS_DEF_HTPEXPLAIN
#include "HTP/Transforms/Passes.h.inc"
} // namespace htp

using namespace mlir;
using namespace htp;

/// How many neighbours are listed; a parameter may have thousands of readers.
static constexpr size_t kMostNamed = 8;

/// A short description of a kind of evidence.
static StringRef meaningOf(Evidence evidence) {
  switch (evidence) {
  case Evidence::None:
    return "nobody has written down what it rests on";
  case Evidence::Metadata:
    return "the exporter noted the module on the node";
  case Evidence::Name:
    return "the node's name holds the module's";
  case Evidence::ValueName:
    return "the name of a value that it makes holds the module's";
  case Evidence::Parameter:
    return "it reads a parameter of the module";
  case Evidence::Location:
    return "its location holds the module's scope";
  case Evidence::Alignment:
    return "of all steps of the trace the module's fits it best";
  case Evidence::Reference:
    return "of all nodes of the reference the module's fits it best";
  case Evidence::Producer:
    return "what it reads belongs to the module";
  case Evidence::Consumer:
    return "what reads it belongs to the module";
  case Evidence::Ancestor:
    return "the module is the smallest that holds its neighbours";
  case Evidence::Override:
    return "a user said so";
  case Evidence::Executed:
    return "a run of the model and of the graph has the same values at the "
           "module's borders";
  }
  llvm_unreachable("all evidence is described");
}

/// "'x' (MatMul)"; a node without a name is identified by its result.
static std::string nameOf(Operation *op) {
  StringRef name = getNodeName(op);
  if (name.empty() && op->getNumResults())
    name = getValueName(op->getResult(0));
  return ("'" + name + "' (" + getOpType(op) + ")").str();
}

namespace {
struct Explain : htp::impl::HTPExplainBase<Explain> {
  using HTPExplainBase::HTPExplainBase;

  void runOnOperation() override;

private:
  Operation *find();
  std::string moduleOf(Operation *op) const;
  std::string describe(StringRef path) const;
  void explainTag(raw_ostream &os, Operation *op) const;
  void explainOperands(raw_ostream &os, Operation *op) const;
  void explainReaders(raw_ostream &os, Operation *op) const;

  const ModuleTree *tree = nullptr;
};
} // namespace

/// Finds the node; null, with an error that suggests a similar name, if there
/// is none.
Operation *Explain::find() {
  Operation *found = nullptr;
  SmallVector<StringRef> names;
  forEachNode(getOperation(), [&](Operation *op) {
    if (!found && isCalled(op, node))
      found = op;
    names.push_back(getNodeName(op));
  });
  if (found)
    return found;
  InFlightDiagnostic error = emitError(getOperation().getLoc())
                             << "no node, and no value of one, is called '"
                             << node << "'";
  if (StringRef nearest = nearestName(node, names); !nearest.empty())
    error << "; did you mean '" << nearest << "'?";
  return nullptr;
}

std::string Explain::describe(StringRef path) const {
  std::string text =
      path.empty() ? "the model itself" : ("'" + path + "'").str();
  if (auto id = tree->find(path); id && !(*tree)[*id].className.empty())
    text += " (" + (*tree)[*id].className + ")";
  return text;
}

std::string Explain::moduleOf(Operation *op) const {
  TagAttr tag = getAbsoluteTag(op);
  return tag ? " of " + describe(tag.getPath()) : std::string();
}

void Explain::explainTag(raw_ostream &os, Operation *op) const {
  TagAttr tag = getAbsoluteTag(op);
  os << "node " << nameOf(op);
  if (!tag) {
    os << " has no tag";
    return;
  }
  os << " belongs to " << describe(tag.getPath());
  if (auto id = tree->find(tag.getPath()); id && (*tree)[*id].calls > 1)
    os << ", call " << tag.getCall();
  auto confidence = [&](double value) {
    os << "confidence " << llvm::format("%.3g", value);
  };
  os << "\n    evidence: ";
  if (tag.getEvidence() != Evidence::None)
    os << stringifyEvidence(tag.getEvidence()) << " ";
  os << "(" << meaningOf(tag.getEvidence()) << "), ";
  confidence(tag.getConfidenceValue());
  if (!tag.getReason().empty())
    os << "\n    reason: " << tag.getReason();
  for (ContextAttr context : tag.getContexts()) {
    os << "\n    also: " << describe(context.getPath()) << ", by "
       << stringifyEvidence(context.getEvidence()) << ", ";
    confidence(context.getConfidenceValue());
  }
  for (Location source : findSources(op->getLoc()))
    if (auto line = dyn_cast<FileLineColLoc>(source))
      os << "\n    code: " << line.getFilename().getValue() << ":"
         << line.getLine();
}

void Explain::explainOperands(raw_ostream &os, Operation *op) const {
  StringRef separator = "\n    reads: ";
  for (Value operand : op->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    if (producer && isAbsentValue(producer))
      continue;
    os << std::exchange(separator, "\n           ");
    StringAttr parameter;
    if (producer) {
      parameter = producer->getAttrOfType<StringAttr>(kParameterAttr);
    } else if (auto function = dyn_cast<FunctionOpInterface>(
                   operand.getParentBlock()->getParentOp())) {
      parameter = function.getArgAttrOfType<StringAttr>(
          cast<BlockArgument>(operand).getArgNumber(), kParameterAttr);
    }
    if (parameter)
      os << "the parameter '" << parameter.getValue() << "'";
    else if (!producer)
      os << "'" << getValueName(operand) << "', an input";
    else if (isInitializer(producer) || isConstant(producer))
      os << "'" << getValueName(operand) << "', a constant";
    else
      os << nameOf(producer) << moduleOf(producer);
  }
}

void Explain::explainReaders(raw_ostream &os, Operation *op) const {
  SmallVector<Operation *> readers;
  for (Operation *user : op->getUsers())
    if (!llvm::is_contained(readers, user))
      readers.push_back(user);
  std::reverse(readers.begin(), readers.end()); // into program order
  StringRef separator = "\n    read by: ";
  for (Operation *reader : ArrayRef(readers).take_front(kMostNamed)) {
    os << std::exchange(separator, "\n             ");
    if (isNode(reader))
      os << nameOf(reader) << moduleOf(reader);
    else
      os << "whoever runs the model: it is an output";
  }
  if (readers.size() > kMostNamed)
    os << separator << "and " << readers.size() - kMostNamed << " more";
}

void Explain::runOnOperation() {
  if (failed(requireHierarchy(getOperation())))
    return signalPassFailure();
  markAllAnalysesPreserved();
  tree = &getAnalysis<HierarchyAnalysis>().tree();
  Operation *op = find();
  if (!op)
    return signalPassFailure();
  std::string text;
  llvm::raw_string_ostream os(text);
  explainTag(os, op);
  explainOperands(os, op);
  explainReaders(os, op);
  op->emitRemark(text);
}
