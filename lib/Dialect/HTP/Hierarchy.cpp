// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the module tree from an `htp.hierarchy` and writes it back, with the
// parameters and their types.

#include "HTP/Dialect/HTP/IR/Hierarchy.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include <cassert>

using namespace mlir;

namespace htp {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

namespace {
/// torch's name of an element type, how to create it, and how to recognize it
/// without creating one, as another thread may be creating types.
struct Dtype {
  StringLiteral name;
  Type (*make)(MLIRContext *);
  bool (*is)(Type);
};
} // namespace

static ArrayRef<Dtype> dtypes() {
#define FLOAT(TYPE)                                                            \
  [](MLIRContext *context) -> Type { return TYPE::get(context); },             \
      [](Type type) { return isa<TYPE>(type); }
#define COMPLEX(TYPE)                                                          \
  [](MLIRContext *context) -> Type {                                           \
    return ComplexType::get(TYPE::get(context));                               \
  },                                                                           \
      [](Type type) {                                                          \
        auto complex = dyn_cast<ComplexType>(type);                            \
        return complex && isa<TYPE>(complex.getElementType());                 \
      }
#define INTEGER(WIDTH, SIGN)                                                   \
  [](MLIRContext *context) -> Type {                                           \
    return IntegerType::get(context, WIDTH, IntegerType::SIGN);                \
  },                                                                           \
      [](Type type) {                                                          \
        auto integer = dyn_cast<IntegerType>(type);                            \
        return integer && integer.getWidth() == WIDTH &&                       \
               integer.getSignedness() == IntegerType::SIGN;                   \
      }
  static const Dtype table[] = {
      {"float32", FLOAT(Float32Type)},
      {"float16", FLOAT(Float16Type)},
      {"bfloat16", FLOAT(BFloat16Type)},
      {"float64", FLOAT(Float64Type)},
      {"int64", INTEGER(64, Signless)},
      {"int32", INTEGER(32, Signless)},
      {"int16", INTEGER(16, Signless)},
      {"int8", INTEGER(8, Signless)},
      {"uint8", INTEGER(8, Unsigned)},
      {"uint16", INTEGER(16, Unsigned)},
      {"uint32", INTEGER(32, Unsigned)},
      {"uint64", INTEGER(64, Unsigned)},
      {"bool", INTEGER(1, Signless)},
      {"complex64", COMPLEX(Float32Type)},
      {"complex128", COMPLEX(Float64Type)},
      {"float8_e4m3fn", FLOAT(Float8E4M3FNType)},
      {"float8_e5m2", FLOAT(Float8E5M2Type)},
      {"float8_e4m3fnuz", FLOAT(Float8E4M3FNUZType)},
      {"float8_e5m2fnuz", FLOAT(Float8E5M2FNUZType)},
  };
#undef FLOAT
#undef COMPLEX
#undef INTEGER
  return table;
}

Type typeOf(const Parameter &parameter, MLIRContext *context) {
  for (const Dtype &dtype : dtypes())
    if (dtype.name == parameter.dtype)
      return RankedTensorType::get(parameter.shape, dtype.make(context));
  if (parameter.dtype.empty() && parameter.shape.empty())
    return NoneType::get(context);
  return RankedTensorType::get(parameter.shape,
                               DtypeType::get(context, parameter.dtype));
}

StringRef dtypeOf(Type elementType) {
  if (auto other = dyn_cast<DtypeType>(elementType))
    return other.getName();
  for (const Dtype &dtype : dtypes())
    if (dtype.is(elementType))
      return dtype.name;
  return {};
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

Attribute parametersToAttribute(MLIRContext *context,
                                ArrayRef<Parameter> parameters) {
  auto toAttribute = [&](const Parameter &parameter) -> Attribute {
    return ParameterAttr::get(
        context, parameter.name, typeOf(parameter, context), parameter.hash,
        parameter.valuesHash, parameter.buffer, parameter.constant,
        parameter.tied.empty() ? StringAttr()
                               : StringAttr::get(context, parameter.tied));
  };
  return ArrayAttr::get(context, llvm::map_to_vector(parameters, toAttribute));
}

static Parameter readParameter(ParameterAttr attr) {
  Parameter parameter;
  parameter.name = attr.getName().str();
  parameter.buffer = attr.getBuffer();
  parameter.constant = attr.getConstant();
  parameter.hash = attr.getHash();
  parameter.valuesHash = attr.getValues();
  if (attr.getTied())
    parameter.tied = attr.getTied().str();
  if (auto type = dyn_cast<RankedTensorType>(attr.getType())) {
    parameter.shape.assign(type.getShape().begin(), type.getShape().end());
    parameter.dtype = dtypeOf(type.getElementType()).str();
  }
  return parameter;
}

LogicalResult
parametersFromAttribute(std::vector<Parameter> &parameters, Attribute attribute,
                        llvm::function_ref<InFlightDiagnostic()> emitError) {
  auto array = dyn_cast_or_null<ArrayAttr>(attribute);
  if (!array || !llvm::all_of(array, llvm::IsaPred<ParameterAttr>)) {
    if (emitError)
      emitError() << "expected an array of #htp.parameter, found " << attribute;
    return failure();
  }
  parameters.clear();
  for (auto parameter : array.getAsRange<ParameterAttr>())
    parameters.push_back(readParameter(parameter));
  return success();
}

llvm::hash_code hashParameters(ArrayRef<Parameter> parameters) {
  auto hashOne = [](const Parameter &parameter) {
    return llvm::hash_combine(parameter.name, parameter.hash,
                              parameter.valuesHash);
  };
  auto hashes = llvm::map_range(parameters, hashOne);
  return llvm::hash_combine_range(hashes.begin(), hashes.end());
}

//===----------------------------------------------------------------------===//
// From the IR
//===----------------------------------------------------------------------===//

/// The fields that the root has in common with other modules.
template <typename OpT> static Module readModule(OpT op) {
  Module module;
  module.qualified = op.getQualified().str();
  module.className = StringRef(module.qualified).rsplit('.').second.str();
  if (module.className.empty())
    module.className = module.qualified;
  module.calls = op.getCalls();
  module.parameters = op.getParameters().vec();
  return module;
}

HierarchyOp findHierarchy(mlir::ModuleOp module) {
  auto hierarchies = module.getOps<HierarchyOp>();
  return hierarchies.empty() ? HierarchyOp() : *hierarchies.begin();
}

FailureOr<HierarchyOp> requireHierarchy(mlir::ModuleOp module) {
  if (HierarchyOp hierarchy = findHierarchy(module))
    return hierarchy;
  return module.emitError("has no module tree (htp.hierarchy): run --htp-tag "
                          "or --htp-attach-hierarchy first");
}

bool keepsTorchNN(mlir::ModuleOp module) {
  HierarchyOp hierarchy = findHierarchy(module);
  return hierarchy && hierarchy->hasAttr(kTorchNNTagsAttr);
}

void keepTorchNN(HierarchyOp hierarchy, bool keep) {
  if (keep)
    hierarchy->setAttr(kTorchNNTagsAttr,
                       mlir::UnitAttr::get(hierarchy.getContext()));
  else
    hierarchy->removeAttr(kTorchNNTagsAttr);
}

static Producer readProducer(DictionaryAttr attr) {
  auto text = [&](StringRef key) {
    auto found = attr.getAs<StringAttr>(key);
    return found ? found.str() : std::string();
  };
  return {text("name"), text("source"), text("exporter"), text("fallback")};
}

static DictionaryAttr producerAttr(MLIRContext *context,
                                   const Producer &producer) {
  NamedAttrList fields;
  auto add = [&](StringRef key, StringRef text) {
    if (!text.empty())
      fields.append(key, StringAttr::get(context, text));
  };
  add("name", producer.name);
  add("source", producer.source);
  add("exporter", producer.exporter);
  add("fallback", producer.fallback);
  return fields.getDictionary(context);
}

ModuleTree fromIR(HierarchyOp op) {
  std::vector<Module> modules = {readModule(op)};
  for (auto child : op.getBody()->getOps<htp::ModuleOp>()) {
    Module module = readModule(child);
    module.path = child.getPath().str();
    module.torchNN = child.getTorchNn();
    if (std::optional<ArrayAttr> aliases = child.getAliases())
      for (auto alias : aliases->getAsRange<StringAttr>())
        module.aliases.push_back(alias.str());
    modules.push_back(std::move(module));
  }
  ModuleTree tree = llvm::cantFail(ModuleTree::create(std::move(modules)));
  if (auto attr = op->getAttrOfType<DictionaryAttr>(kProducerAttr))
    tree.setProducer(readProducer(attr));
  return tree;
}

/// How far ahead of the furthest module reached so far to look for the next
/// one: some modules have no ops, or no tagged ones yet.
static constexpr size_t kNearby = 8;

std::optional<ModuleId> PathAttrs::find(StringAttr path) {
  if (paths[last] == path)
    return last;
  if (ModuleId around = tree[last].parent; paths[around] == path)
    return last = around;
  auto next = ArrayRef(paths).drop_front(reached + 1).take_front(kNearby);
  const auto *near = llvm::find(next, path);
  auto found = near == next.end()
                   ? tree.find(path.getValue())
                   : std::optional<ModuleId>(near - paths.data());
  if (found) {
    last = reached = *found;
    paths[last] = path;
  }
  return found;
}

void HierarchyAnalysis::assume(std::shared_ptr<const ModuleTree> tree,
                               PathAttrs paths) {
  assert(tree && &paths.getTree() == tree.get() && "paths of another tree");
  known = std::move(tree);
  attributes.emplace(std::move(paths));
}

void HierarchyAnalysis::read() {
  if (known)
    return;
  known = std::make_shared<ModuleTree>(fromIR(module));
  attributes.emplace(*known, module.getContext());
  HierarchyOp op = findHierarchy(module);
  if (!op)
    return;
  // The tree may have containers that are not in the IR.
  ModuleId id = ModuleTree::root();
  for (auto child : op.getBody()->getOps<htp::ModuleOp>()) {
    ++id;
    if ((*known)[id].path != child.getPath()) {
      std::optional<ModuleId> found = known->find(child.getPath());
      assert(found && "the tree was made from these modules");
      id = *found;
    }
    attributes->set(id, child.getSymNameAttr());
  }
}

ModuleTree fromIR(mlir::ModuleOp module) {
  HierarchyOp op = findHierarchy(module);
  return op ? fromIR(op) : ModuleTree();
}

//===----------------------------------------------------------------------===//
// To the IR
//===----------------------------------------------------------------------===//

OwningOpRef<HierarchyOp> toIR(const ModuleTree &tree, PathAttrs &paths,
                              MLIRContext *context) {
  assert(&paths.getTree() == &tree && "paths of another tree");
  OpBuilder builder(context);
  Location loc = builder.getUnknownLoc();
  const Module &root = tree[ModuleTree::root()];
  // A symbol name is required even if the root's class is unknown.
  auto op = HierarchyOp::create(
      builder, loc, root.className.empty() ? "model" : root.className,
      root.qualified.empty() ? root.className : root.qualified, root.parameters,
      root.calls);
  if (!tree.getProducer().empty())
    op->setAttr(kProducerAttr, producerAttr(context, tree.getProducer()));
  builder.setInsertionPointToStart(&op.getModules().emplaceBlock());

  // Parents first, children in their order.
  SmallVector<ModuleId> stack(llvm::reverse(tree.children(ModuleTree::root())));
  while (!stack.empty()) {
    ModuleId id = stack.pop_back_val();
    llvm::append_range(stack, llvm::reverse(tree.children(id)));
    const Module &node = tree[id];
    if (node.canonical != id)
      continue;
    ArrayAttr aliases;
    if (!node.aliases.empty())
      aliases = builder.getStrArrayAttr(
          SmallVector<StringRef>(node.aliases.begin(), node.aliases.end()));
    htp::ModuleOp::create(
        builder, loc, paths[id],
        builder.getStringAttr(node.qualified.empty() ? node.className
                                                     : node.qualified),
        node.torchNN ? builder.getUnitAttr() : UnitAttr(),
        builder.getI64IntegerAttr(node.calls), aliases, node.parameters);
  }
  return op;
}

void setHierarchy(mlir::ModuleOp module, OwningOpRef<HierarchyOp> hierarchy) {
  assert(hierarchy && "no hierarchy to set");
  if (HierarchyOp old = findHierarchy(module))
    old.erase();
  module.getBody()->push_front(hierarchy.release());
}

HierarchyOp toIR(const ModuleTree &tree, mlir::ModuleOp module) {
  PathAttrs paths(tree, module.getContext());
  setHierarchy(module, toIR(tree, paths, module.getContext()));
  return findHierarchy(module);
}

TagAttr withKnownContexts(TagAttr tag, const ModuleTree &tree) {
  SmallVector<ContextAttr> known;
  for (ContextAttr context : tag.getContexts())
    if (tree.contains(context.getPath()))
      known.push_back(context);
  if (known.size() == tag.getContexts().size())
    return tag;
  return TagAttr::get(tag.getPathAttr(), tag.getCall(), tag.getEvidence(),
                      tag.getConfidenceValue(), tag.getReason(), known);
}

} // namespace htp
