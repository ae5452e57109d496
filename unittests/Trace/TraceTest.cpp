// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading traces, and converting them to programs.

#include "HTP/Trace/Trace.h"
#include "HTP/Trace/TraceProgram.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

using namespace htp;

/// A trace with one module, one parameter and one op; `ops` replaces the ops.
static std::string traceWith(std::string ops) {
  return R"({"format": "htp-trace", "version": 1,
    "producer": {"name": "test", "source": "export"},
    "modules": [
      {"path": "", "class": "Net", "qualified": "demo.Net", "torch_nn": false, "calls": 1, "parameters": []},
      {"path": "fc", "class": "Linear", "qualified": "torch.nn.modules.linear.Linear", "torch_nn": true,
       "calls": 2, "parameters": [{"name": "weight", "kind": "parameter", "shape": [2, 3],
         "dtype": "float32", "hash": "00000000000000ff", "values_hash": "ffffffffffffffff"}]}],
    "inputs": [{"value": 0, "name": "x", "shape": [1, null], "dtype": "float32"}],
    "ops": )" +
         ops + R"(, "outputs": [{"value": 0}]})";
}

static std::string errorOf(llvm::StringRef json) {
  llvm::Expected<Trace> trace = Trace::parse(json);
  return trace ? "" : llvm::toString(trace.takeError());
}

TEST(Trace, Reads) {
  Trace trace = llvm::cantFail(Trace::parse(traceWith(R"([
    {"kind": "aten::linear", "module": "fc", "call": 1,
     "inputs": [{"value": 0}, {"parameter": "fc.weight"}, {"constant": null},
                {"list": [{"constant": 2}, {"value": 0}]}],
     "outputs": [{"value": 1, "name": "linear_1", "shape": [1, 2], "dtype": "float32"}],
     "source": {"file": "net.py", "line": 12},
     "blocks": [{"inputs": [{"value": 7}], "ops": [], "outputs": [{"value": 7}]}]}])")));
  EXPECT_EQ(trace.tree.getProducer().source, "export");
  ModuleId fc = *trace.tree.find("fc");
  EXPECT_EQ(trace.tree[fc].calls, 2);
  const Parameter &weight = trace.tree[fc].parameters.front();
  EXPECT_EQ(weight.hash, 255u);
  EXPECT_EQ(weight.valuesHash, ~0ull);
  const TraceOp &op = trace.ops.front();
  EXPECT_EQ(op.module, fc);
  EXPECT_EQ(op.call, 1);
  EXPECT_EQ(op.inputs[3].list[0].constant, llvm::json::Value(2));
  EXPECT_EQ(op.outputs[0].name, "linear_1");
  EXPECT_EQ(op.line, 12);
  EXPECT_EQ(op.blocks[0].inputs[0].value, 7);
  EXPECT_EQ((*trace.inputs[0].shape)[1], kDynamicSize);
  unsigned values = 0;
  forEachArgument(op.inputs, [&](const TraceArgument &argument) {
    values += argument.kind == TraceArgument::Kind::Value;
  });
  EXPECT_EQ(values, 2u);
}

TEST(Trace, Rejects) {
  EXPECT_NE(errorOf("{").find("not JSON"), std::string::npos);
  EXPECT_EQ(errorOf("[]"), "expected object when parsing trace");
  EXPECT_EQ(errorOf(R"({"format": "x"})"),
            "expected \"htp-trace\" at trace.format, found 'x'");
  EXPECT_EQ(errorOf(R"({"format": "htp-trace", "version": 2})"),
            "this program reads version 1 at trace.version, found '2'");
  EXPECT_EQ(
      errorOf(traceWith(
          R"([{"kind": "a", "module": "nope", "call": 0, "inputs": [], "outputs": []}])")),
      "no module has this path at trace.ops[0].module, found 'nope'");
  EXPECT_EQ(errorOf(traceWith(R"([{"kind": 3, "module": ""}])")),
            "expected string at trace.ops[0].kind");
  EXPECT_EQ(
      errorOf(traceWith(
          R"([{"kind": "a", "module": "", "call": 0, "inputs": [{"value": 9}]}])")),
      "value is used before it is made at trace.ops[0].inputs[0].value, "
      "found '9'");
  EXPECT_EQ(
      errorOf(traceWith(
          R"([{"kind": "a", "module": "", "call": 0, "inputs": [], "outputs": [{"value": 0}]}])")),
      "value is made twice at trace.ops[0].outputs[0].value, found '0'");
  EXPECT_EQ(
      errorOf(traceWith(
          R"([{"kind": "a", "module": "", "call": 0, "inputs": [{"parameter": "fc.b"}]}])")),
      "no module has this parameter at trace.ops[0].inputs[0].parameter, "
      "found 'fc.b'");
}

/// Breaks one field at a time and expects the error that the schema implies.
TEST(Trace, RejectsWhatTheSchemaRejects) {
  auto op = [](std::string inputs) {
    return errorOf(
        traceWith(R"([{"kind": "a", "module": "", "call": 0, "inputs": [)" +
                  inputs + R"(], "outputs": []}])"));
  };
  EXPECT_EQ(op(""), "");
  EXPECT_EQ(op(R"({"value": 0, "constant": 1})"),
            "expected one of value, parameter, constant and list at "
            "trace.ops[0].inputs[0]");
  EXPECT_EQ(op("{}"), op(R"({"value": 0, "list": []})"));
  EXPECT_EQ(op(R"({"constant": [1]})"),
            "expected null, boolean, number or string at "
            "trace.ops[0].inputs[0].constant");
  EXPECT_EQ(op(R"({"value": -1})"), "expected integer from 0 to 2147483647 at "
                                    "trace.ops[0].inputs[0].value");
  EXPECT_EQ(op(R"({"value": 9223372036854775807})"), op(R"({"value": -1})"));
  for (std::string call : {"1048577", "2147483647"})
    EXPECT_EQ(errorOf(traceWith(
                  R"([{"kind": "a", "module": "", "inputs": [], "outputs": [],
                       "call": )" +
                  call + "}]")),
              "expected integer from 0 to 1048576 at trace.ops[0].call");
  EXPECT_EQ(errorOf(traceWith(R"([{"kind": "", "module": ""}])")),
            "expected text, found \"\" at trace.ops[0].kind");
  EXPECT_EQ(errorOf(traceWith(R"([{"kind": "a", "module": ""}])")),
            "missing, expected integer at trace.ops[0].call");
  auto parameter = [](std::string from, std::string to) {
    std::string json = traceWith("[]");
    json.replace(json.find(from), from.size(), to);
    return errorOf(json);
  };
  EXPECT_EQ(parameter("00000000000000ff", "00000000000000FF"),
            "expected 16 hexadecimal digits in lower case at "
            "trace.modules[1].parameters[0].hash");
  EXPECT_EQ(parameter("[2, 3]", "[2, -1]"),
            "expected integer that is not negative, or null at "
            "trace.modules[1].parameters[0].shape[1]");
  EXPECT_EQ(parameter("[2, 3]", "[2, 9007199254740993000]"),
            parameter("[2, 3]", "[2, -1]"));
  EXPECT_EQ(parameter("\"parameter\"", "\"thing\""),
            "expected \"parameter\", \"buffer\" or \"constant\" at "
            "trace.modules[1].parameters[0].kind");
  EXPECT_EQ(parameter("demo.Net", ""),
            "expected text, found \"\" at trace.modules[0].qualified");
  EXPECT_EQ(parameter("\"calls\": 2, ", ""),
            "missing, expected integer at trace.modules[1].calls");
}

TEST(Trace, DeepNestingIsAnErrorNotACrash) {
  std::string deep = traceWith(std::string(100000, '['));
  EXPECT_NE(errorOf(deep).find("levels deep"), std::string::npos);
}

/// Exporters merge the parameters of a recurrent layer into one tensor.
TEST(TraceProgram, JoinedParametersOfARecurrentLayer) {
  std::string parameters, inputs;
  for (int i = 0; i < 4; ++i) {
    std::string name = "w" + std::to_string(i);
    parameters += (i ? ", " : "") + std::string(R"({"name": ")") + name +
                  R"(", "kind": "parameter", "shape": [)" +
                  std::to_string(10 * (i + 1)) +
                  R"(], "dtype": "float32", "values_hash": "000000000000000)" +
                  std::to_string(1 << i) + "\"}";
    inputs +=
        (i ? ", " : "") + std::string(R"({"parameter": "rnn.)") + name + "\"}";
  }
  Trace trace = llvm::cantFail(Trace::parse(R"({"format": "htp-trace",
    "version": 1, "producer": {"name": "test", "source": "export"},
    "modules": [
      {"path": "", "class": "Net", "qualified": "demo.Net", "torch_nn": false,
       "calls": 1, "parameters": []},
      {"path": "rnn", "class": "LSTM", "qualified": "torch.nn.LSTM",
       "torch_nn": true, "calls": 1, "parameters": [)" +
                                            parameters + R"(]}],
    "inputs": [{"value": 0, "name": "x", "shape": [1], "dtype": "float32"}],
    "ops": [{"kind": "aten::lstm", "module": "rnn", "call": 0,
             "inputs": [{"value": 0}, {"list": [)" +
                                            inputs + R"(]}],
             "outputs": [{"value": 1, "name": "y", "dtype": "float32"}]}],
    "outputs": [{"value": 1}]})"));
  TraceProgram traced(trace);
  const Program &program = traced.program;
  auto reads = [&](uint64_t values, int64_t elements) {
    return llvm::any_of(program.steps[0].parameters, [&](int32_t index) {
      const TensorContent &content = program.parameters[index].content;
      return program.parameters[index].joined && content.values == values &&
             content.elements == elements;
    });
  };
  EXPECT_TRUE(reads(4 + 8, 30 + 40));                   // both biases
  EXPECT_TRUE(reads(1 + 4, 10 + 30));                   // both directions
  EXPECT_TRUE(reads(1 + 2 + 4 + 8, 10 + 20 + 30 + 40)); // all four
  EXPECT_FALSE(reads(1 + 2 + 4, 10 + 20 + 30));
}

/// A reader of a tensor after an in-place change to a part of it reads the
/// change. torch.export takes sizes of inputs at the top, for no module; other
/// sizes, and what a module takes of them itself, are where they are.
TEST(TraceProgram, SizesAtTheTopHaveNoPlace) {
  Trace trace = llvm::cantFail(Trace::parse(traceWith(R"([
    {"kind": "aten::sym_size.int", "module": "", "call": 0,
     "inputs": [{"value": 0}, {"constant": 1}], "outputs": [{"value": 1, "name": "s"}]},
    {"kind": "aten::size", "module": "", "call": 0,
     "inputs": [{"value": 0}, {"constant": 1}], "outputs": [{"value": 2, "name": "t"}]},
    {"kind": "aten::sym_size.int", "module": "fc", "call": 0,
     "inputs": [{"value": 0}, {"constant": 1}], "outputs": [{"value": 3, "name": "u"}]},
    {"kind": "aten::relu", "module": "", "call": 0,
     "inputs": [{"value": 0}], "outputs": [{"value": 4, "name": "relu"}]},
    {"kind": "aten::sym_size.int", "module": "", "call": 0,
     "inputs": [{"value": 4}, {"constant": 1}], "outputs": [{"value": 5, "name": "v"}]}])")));
  TraceProgram traced(trace);
  std::vector<bool> unplaced;
  for (const Program::Step &step : traced.program.steps)
    unplaced.push_back(step.unplaced);
  EXPECT_EQ(unplaced, (std::vector<bool>{true, false, false, false, false}));
}

TEST(TraceProgram, ChangesInPlaceAreRead) {
  Trace trace = llvm::cantFail(Trace::parse(R"({"format": "htp-trace",
    "version": 1, "producer": {"name": "test", "source": "export"},
    "modules": [
      {"path": "", "class": "Net", "qualified": "demo.Net", "torch_nn": false,
       "calls": 1, "parameters": []}],
    "inputs": [{"value": 0, "name": "x"}],
    "ops": [
      {"kind": "aten::zeros", "module": "", "call": 0, "inputs": [],
       "outputs": [{"value": 1}]},
      {"kind": "aten::unsqueeze", "module": "", "call": 0,
       "inputs": [{"value": 1}], "outputs": [{"value": 2}]},
      {"kind": "aten::slice", "module": "", "call": 0,
       "inputs": [{"value": 2}], "outputs": [{"value": 3}]},
      {"kind": "aten::copy_", "module": "", "call": 0,
       "inputs": [{"value": 3}, {"value": 0}], "outputs": [{"value": 4}]},
      {"kind": "aten::relu", "module": "", "call": 0,
       "inputs": [{"value": 1}], "outputs": [{"value": 5}]}],
    "outputs": [{"value": 5}, {"value": 3}, {"value": 0}]})"));
  TraceProgram traced(trace);
  const Program &program = traced.program;
  int32_t copied = program.steps[3].outputs[0];
  EXPECT_NE(program.steps[3].inputs[0], copied);
  EXPECT_EQ(program.steps[4].inputs[0], copied);
  EXPECT_EQ(program.outputs[1], copied);
  EXPECT_NE(program.outputs[2], copied);
}

TEST(Trace, FileIsReadOnce) {
  llvm::SmallString<128> file;
  int descriptor;
  ASSERT_FALSE(
      llvm::sys::fs::createTemporaryFile("trace", "json", descriptor, file));
  llvm::FileRemover remove(file);
  auto write = [&](llvm::StringRef text) {
    std::error_code code;
    llvm::raw_fd_ostream(file, code) << text;
    ASSERT_FALSE(code);
  };
  write(traceWith("[]"));
  {
    TracePrefetch ahead(file);
  }
  auto first = llvm::cantFail(loadTrace(file));
  EXPECT_TRUE(first->tree.contains("fc"));
  EXPECT_EQ(llvm::cantFail(loadTrace(file)), first);
  auto program = llvm::cantFail(loadTraceProgram(file));
  EXPECT_EQ(&program->trace, first.get());
  EXPECT_EQ(llvm::cantFail(loadTraceProgram(file)), program);

  // A changed file is read again; an error in it is reported when the trace is
  // needed.
  write("[]");
  {
    TracePrefetch ahead(file);
  }
  EXPECT_EQ(llvm::toString(loadTrace(file).takeError()),
            ("'" + file + "': expected object when parsing trace").str());
  EXPECT_EQ(llvm::toString(loadTraceProgram(file).takeError()),
            ("'" + file + "': expected object when parsing trace").str());
  {
    TracePrefetch ahead("nowhere.json");
  }
  EXPECT_EQ(llvm::toString(loadTrace("nowhere.json").takeError()),
            "'nowhere.json': No such file or directory");
}

/// In bodies of control flow PyTorch may say that all ops are of the module
/// around them. Whose parameters an op reads, it belongs to all the same.
TEST(Trace, OpsInBodiesGoWithTheirParameters) {
  auto moduleOf = [](std::string around, std::string module,
                     std::string inputs) {
    Trace trace = llvm::cantFail(Trace::parse(R"({"format": "htp-trace",
      "version": 1, "producer": {"name": "test", "source": "export"},
      "modules": [
        {"path": "", "class": "Net", "qualified": "demo.Net",
         "torch_nn": false, "calls": 1, "parameters": []},
        {"path": "a", "class": "A", "qualified": "demo.A", "torch_nn": false,
         "calls": 1, "parameters": [{"name": "w", "kind": "parameter",
           "shape": [1], "dtype": "float32"}]},
        {"path": "a.in", "class": "A", "qualified": "demo.A",
         "torch_nn": false, "calls": 1, "parameters": [{"name": "w",
           "kind": "parameter", "shape": [1], "dtype": "float32"}]},
        {"path": "b", "class": "A", "qualified": "demo.A", "torch_nn": false,
         "calls": 1, "parameters": [{"name": "w", "kind": "parameter",
           "shape": [1], "dtype": "float32"}]}],
      "inputs": [{"value": 0, "name": "c"}],
      "ops": [{"kind": "cond", "module": ")" + around +
                                              R"(", "call": 0,
        "inputs": [{"value": 0}], "outputs": [{"value": 2}],
        "blocks": [{"inputs": [], "outputs": [{"value": 1}], "ops": [
          {"kind": "aten::mul", "module": ")" +
                                              module + R"(", "call": 0,
           "inputs": [)" + inputs +
                                              R"(],
           "outputs": [{"value": 1}]}]}]}],
      "outputs": [{"value": 2}]})"));
    return trace.tree[trace.ops[0].blocks[0].ops[0].module].path;
  };
  const std::string a = R"({"parameter": "a.w"})",
                    b = R"({"parameter": "b.w"})";
  EXPECT_EQ(moduleOf("", "", a), "a");
  EXPECT_EQ(moduleOf("", "", R"({"list": [)" + b + "]}"), "b");
  EXPECT_EQ(moduleOf("", "", a + "," + a), "a");
  // Of two modules, or of none, it is of the one around.
  EXPECT_EQ(moduleOf("", "", a + "," + b), "");
  EXPECT_EQ(moduleOf("", "", R"({"value": 0})"), "");
  // Where PyTorch names another module than the one around, it knows.
  const std::string inner = R"({"parameter": "a.in.w"})";
  EXPECT_EQ(moduleOf("a", "a", inner), "a.in");
  EXPECT_EQ(moduleOf("", "a", inner), "a");
  // A parameter from beside the module does not lead out of it.
  EXPECT_EQ(moduleOf("b", "b", a), "b");
}

TEST(Trace, VisitsOpsInBodies) {
  Trace trace = llvm::cantFail(Trace::parse(traceWith(R"([
    {"kind": "outer", "module": "", "call": 0, "inputs": [], "outputs": [],
     "blocks": [
       {"inputs": [], "outputs": [], "ops": [{"kind": "first", "module": "",
         "call": 0, "inputs": [], "outputs": []}]},
       {"inputs": [], "outputs": [], "ops": [{"kind": "second", "module": "",
         "call": 0, "inputs": [], "outputs": []}]}]},
    {"kind": "last", "module": "", "call": 0, "inputs": [], "outputs": []}])")));
  std::string kinds;
  forEachOp(trace.ops, [&](const TraceOp &op) { kinds += op.kind + " "; });
  EXPECT_EQ(kinds, "outer first second last ");
}

/// The steps of a body come before what holds it, which makes of the body's
/// results its own. A torch.cond only hands its operands on to the bodies: what
/// reads a parameter there is what is in them.
TEST(TraceProgram, Bodies) {
  const std::string body = R"([{"kind": "aten::mul", "module": "fc", "call": 0,
     "inputs": [{"value": 0}, {"parameter": "fc.weight"}],
     "outputs": [{"value": 3}]}], "outputs": [{"value": 3}]}])";
  auto stepsOf = [&](std::string inputs, std::string arguments) {
    return llvm::cantFail(Trace::parse(traceWith(
        R"([{"kind": "cond", "module": "", "call": 0, "inputs": [)" + inputs +
        R"(], "outputs": [{"value": 4}], "blocks": [{"inputs": [)" + arguments +
        R"(], "ops": )" + body + "}]")));
  };
  Trace cond = stepsOf(R"({"parameter": "fc.weight"})", "");
  TraceProgram handed(cond);
  ASSERT_EQ(handed.program.steps.size(), 2u);
  EXPECT_EQ(handed.program.steps[0].kind, "aten::mul");
  EXPECT_EQ(handed.program.steps[0].parameters.size(), 1u);
  EXPECT_EQ(handed.program.steps[1].kind, "cond");
  EXPECT_TRUE(handed.program.steps[1].parameters.empty());
  EXPECT_EQ(handed.program.steps[1].inputs[0],
            handed.program.steps[0].outputs[0]);
  // A loop reads what it starts with.
  Trace loop = stepsOf(R"({"parameter": "fc.weight"})", R"({"value": 2})");
  TraceProgram started(loop);
  EXPECT_EQ(started.program.steps[1].parameters.size(), 1u);
}

/// No exporter writes a node for an op that only passes its operand on: what
/// reads its result reads the operand.
TEST(TraceProgram, WiresLeaveNoStep) {
  Trace trace = llvm::cantFail(Trace::parse(traceWith(R"([
    {"kind": "aten::size", "module": "", "call": 0,
     "inputs": [{"value": 0}], "outputs": [{"value": 1}]},
    {"kind": "prim::NumToTensor", "module": "", "call": 0,
     "inputs": [{"value": 1}], "outputs": [{"value": 2}]},
    {"kind": "aten::Int", "module": "", "call": 0,
     "inputs": [{"value": 2}], "outputs": [{"value": 3}]},
    {"kind": "prim::ListConstruct", "module": "", "call": 0,
     "inputs": [{"value": 3}, {"value": 0}], "outputs": [{"value": 4}]},
    {"kind": "aten::view", "module": "", "call": 0,
     "inputs": [{"value": 0}, {"value": 3}], "outputs": [{"value": 5}]}])")));
  TraceProgram traced(trace);
  const std::vector<Program::Step> &steps = traced.program.steps;
  // A list of several values joins them, which a wire does not.
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[1].kind, "prim::ListConstruct");
  EXPECT_EQ(steps[2].inputs[1], steps[0].outputs[0]);
}

/// Constants distinguish steps of one kind; the order of operands counts.
TEST(TraceProgram, ConstantsOfSteps) {
  Trace trace = llvm::cantFail(Trace::parse(traceWith(R"([
    {"kind": "aten::add", "module": "", "call": 0,
     "inputs": [{"value": 0}, {"constant": 1}], "outputs": [{"value": 1}]},
    {"kind": "aten::add", "module": "", "call": 0,
     "inputs": [{"value": 0}, {"constant": 1}], "outputs": [{"value": 2}]},
    {"kind": "aten::add", "module": "", "call": 0,
     "inputs": [{"value": 0}, {"constant": 2}], "outputs": [{"value": 3}]},
    {"kind": "aten::add", "module": "", "call": 0,
     "inputs": [{"value": 0}, {"constant": 1}, {"constant": 2}], "outputs": [{"value": 4}]},
    {"kind": "aten::add", "module": "", "call": 0,
     "inputs": [{"value": 0}, {"constant": 2}, {"constant": 1}], "outputs": [{"value": 5}]}])")));
  TraceProgram traced(trace);
  const std::vector<Program::Step> &steps = traced.program.steps;
  EXPECT_EQ(steps[0].constants, steps[1].constants);
  EXPECT_NE(steps[0].constants, steps[2].constants);
  EXPECT_NE(steps[3].constants, steps[4].constants);
}
