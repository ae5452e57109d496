// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the table of operators generated at build time with the library's
// own registry.

#include "HTP/Dialect/ONNX/IR/Schema.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"
#include "onnx/defs/schema.h"
#include "gtest/gtest.h"

using namespace htp::onnx;
using ::onnx::OpSchema;
using ::onnx::OpSchemaRegistry;

TEST(Schema, KnowsWhatTheLibraryKnows) {
  size_t total = 0;
  for (const OpSchema &want :
       OpSchemaRegistry::get_all_schemas_with_history()) {
    SCOPED_TRACE(want.Name() + " " + std::to_string(want.SinceVersion()));
    const OperatorSchemas *schemas = findOperator(want.Name());
    ASSERT_TRUE(schemas);
    EXPECT_EQ(schemas->domain, want.domain());
    const OperatorSchemas::Version *found = schemas->at(want.SinceVersion());
    ASSERT_TRUE(found);
    EXPECT_EQ(found->since, want.SinceVersion());
    EXPECT_EQ(found->schema->Name(), want.Name());
    EXPECT_EQ(found->schema->SinceVersion(), want.SinceVersion());
    EXPECT_EQ(found->schema->min_input(), want.min_input());
    EXPECT_EQ(found->schema->max_output(), want.max_output());
    EXPECT_EQ(found->attributes.size() + found->graphs.size(),
              want.attributes().size());
    for (const auto &[name, attribute] : want.attributes()) {
      bool isGraph = attribute.type == ::onnx::AttributeProto::GRAPH;
      EXPECT_EQ(llvm::is_contained(found->graphs, name), isGraph) << name;
      EXPECT_EQ(llvm::is_contained(found->attributes, name), !isGraph) << name;
      EXPECT_EQ(llvm::is_contained(found->required, name), attribute.required)
          << name;
    }
    ++total;
  }
  size_t listed = 0;
  llvm::StringRef last;
  forEachOperator([&](llvm::StringRef name, const OperatorSchemas &schemas) {
    EXPECT_LT(last, name);
    last = name;
    listed += schemas.versions.size();
  });
  EXPECT_EQ(listed, total);
}

TEST(Schema, RegistryAnswersLikeTheLibrary) {
  const auto &own = schemaRegistry();
  for (const char *opType : {"Add", "Softmax", "If", "ZipMap", "Adam", "None"})
    for (const char *domain : {"", "ai.onnx.ml", "ai.onnx.preview.training"})
      for (int version = 0; version <= 30; ++version) {
        const OpSchema *want =
            OpSchemaRegistry::Schema(opType, version, domain);
        const OpSchema *found = own.GetSchema(opType, version, domain);
        ASSERT_EQ(!found, !want) << opType << ' ' << domain << ' ' << version;
        if (want)
          EXPECT_EQ(found->SinceVersion(), want->SinceVersion());
      }
}

TEST(Schema, RandomOperatorsAreKnown) {
  EXPECT_TRUE(findOperator("RandomNormal")->isRandom);
  EXPECT_FALSE(findOperator("MatMul")->isRandom);
}

TEST(SchemaOp, NotesAreProperties) {
  mlir::MLIRContext context;
  context.loadDialect<ONNXDialect>();
  mlir::Builder builder(&context);
  auto make = [&](llvm::StringRef name) {
    mlir::OperationState state(builder.getUnknownLoc(), "onnx.Softmax");
    state.propertiesAttr = builder.getDictionaryAttr(
        {builder.getNamedAttr("axis", builder.getI64IntegerAttr(1)),
         builder.getNamedAttr(kNodeName, builder.getStringAttr(name))});
    return mlir::OwningOpRef<mlir::Operation *>(mlir::Operation::create(state));
  };
  auto a = make("a"), b = make("b");
  auto before = llvm::cast<mlir::DictionaryAttr>(a->getPropertiesAsAttribute());
  EXPECT_EQ(before.size(), 2u);
  EXPECT_EQ(a->getAttr(kNodeName), builder.getStringAttr("a"));
  EXPECT_TRUE(a->getName().compareOpProperties(a->getPropertiesStorage(),
                                               b->getPropertiesStorage()));

  auto names = builder.getStrArrayAttr({"y"});
  a->setAttr(kOutputNames, names);
  EXPECT_EQ(a->getAttr(kOutputNames), names);
  EXPECT_TRUE(a->getDiscardableAttrs().empty());
  EXPECT_EQ(a->removeAttr(kOutputNames), names);
  EXPECT_EQ(a->getPropertiesAsAttribute(), before);

  a->setAttr("axis", builder.getI64IntegerAttr(0));
  EXPECT_EQ(a->getAttr(kNodeName), builder.getStringAttr("a"));
  EXPECT_FALSE(a->getName().compareOpProperties(a->getPropertiesStorage(),
                                                b->getPropertiesStorage()));
}
