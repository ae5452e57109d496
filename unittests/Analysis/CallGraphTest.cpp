// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CallGraph. The messages about recursion are tested in
// test/Transforms/inline-errors.mlir.

#include "HTP/Analysis/CallGraph.h"

#include "HTP/Dialect/HTP/IR/HTP.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/SCCIterator.h"
#include "gtest/gtest.h"

using namespace htp;
using namespace mlir;

namespace {

class CallGraphs : public testing::Test {
protected:
  CallGraphs() {
    context.loadDialect<HTPDialect, func::FuncDialect>();
    context.allowUnregisteredDialects();
  }

  mlir::ModuleOp parse(StringRef text) {
    module = parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return *module;
  }
  FunctionOpInterface function(StringRef name) {
    return module->lookupSymbol<FunctionOpInterface>(name);
  }
  /// Whether `checkRecursion` succeeds, without printing its errors.
  bool accepts(mlir::ModuleOp module, bool any = false) {
    ScopedDiagnosticHandler silent(&context,
                                   [](Diagnostic &) { return success(); });
    return succeeded(CallGraph(module).checkRecursion(any));
  }

  MLIRContext context;
  OwningOpRef<mlir::ModuleOp> module;
};

TEST_F(CallGraphs, CallsBySymbolAndByTheNameOfAnONNXFunction) {
  CallGraph graph(parse(R"(
    func.func @main(%x: i32) {
      %0 = func.call @A(%x) : (i32) -> i32
      %1 = "onnx.Custom"(%0) {domain_name = "d", function_name = "f"} : (i32) -> i32
      %2 = "onnx.Custom"(%0) {domain_name = "e", function_name = "f"} : (i32) -> i32
      func.call @external(%2) : (i32) -> ()
      return
    }
    func.func private @A(%x: i32) -> i32 { return %x : i32 }
    func.func private @F(%x: i32) -> i32
        attributes {onnx.function_domain = "d", onnx.function_name = "f"} {
      return %x : i32
    }
    func.func private @external(i32)
  )"));
  Block &body = function("main").getFunctionBody().front();
  SmallVector<FunctionOpInterface> callees;
  for (Operation &op : body.without_terminator())
    callees.push_back(graph.callee(&op));
  EXPECT_EQ(callees[0], function("A"));
  EXPECT_EQ(callees[1], function("F"));
  EXPECT_FALSE(callees[2]); // of another domain
  EXPECT_FALSE(callees[3]); // has no body
  EXPECT_EQ(graph.callers(function("A")).size(), 1u);
  EXPECT_TRUE(graph.callers(function("external")).empty());
  ASSERT_EQ(graph.entries().size(), 1u);
  EXPECT_EQ(graph.entries()[0], function("main"));
}

// An overload may call another one of the same name.
TEST_F(CallGraphs, TellsOverloadsApart) {
  mlir::ModuleOp module = parse(R"(
    func.func private @one(%x: i32) -> i32
        attributes {onnx.function_domain = "d", onnx.function_name = "f", onnx.function_overload = "one"} {
      %0 = "onnx.Custom"(%x) {domain_name = "d", function_name = "f", onnx.overload = "two"} : (i32) -> i32
      %1 = "onnx.Custom"(%0) {domain_name = "d", function_name = "f"} : (i32) -> i32
      return %1 : i32
    }
    func.func private @two(%x: i32) -> i32
        attributes {onnx.function_domain = "d", onnx.function_name = "f", onnx.function_overload = "two"} {
      return %x : i32
    }
  )");
  CallGraph graph(module);
  Block &body = function("one").getFunctionBody().front();
  EXPECT_EQ(graph.callee(&body.front()), function("two"));
  EXPECT_FALSE(graph.callee(body.front().getNextNode())); // no such overload
  EXPECT_TRUE(accepts(module));
}

TEST_F(CallGraphs, CalleesComeFirst) {
  CallGraph graph(parse(R"(
    func.func @main() { func.call @A() : () -> ()
                        return }
    func.func private @A() { func.call @B() : () -> ()
                             return }
    func.func private @B() { return }
  )"));
  SmallVector<StringRef> order;
  for (auto scc = llvm::scc_begin<const CallGraph *>(&graph); !scc.isAtEnd();
       ++scc)
    for (const CallGraph::Node *node : *scc)
      order.push_back(
          node->function ? FunctionOpInterface(node->function).getName() : "");
  EXPECT_EQ(order, (SmallVector<StringRef>{"B", "A", "main", ""}));
}

TEST_F(CallGraphs, OnlyModulesAndONNXFunctionsMustNotRecurse) {
  auto text = [](StringRef attributes) {
    return ("func.func private @A() attributes {" + attributes +
            "} { func.call @B() : () -> ()\n return }"
            "func.func private @B() { func.call @A() : () -> ()\n return }")
        .str();
  };
  EXPECT_TRUE(accepts(parse(text(""))));
  EXPECT_FALSE(accepts(parse(text("")), /*any=*/true));
  EXPECT_FALSE(accepts(parse(text("htp.module = \"a\""))));
  EXPECT_FALSE(accepts(
      parse(text("onnx.function_domain = \"d\", onnx.function_name = \"f\""))));
}

TEST_F(CallGraphs, ALongChainIsNoCircle) {
  std::string text = "func.func private @f5000() attributes {htp.module = "
                     "\"a\"} { return }\n";
  for (int i = 0; i < 5000; ++i)
    text += "func.func private @f" + std::to_string(i) + "() { func.call @f" +
            std::to_string(i + 1) + "() : () -> ()\n return }\n";
  EXPECT_TRUE(accepts(parse(text), /*any=*/true));
}

} // namespace
