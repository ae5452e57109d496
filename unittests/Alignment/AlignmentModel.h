// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef HTP_UNITTESTS_HIERARCHY_ALIGNMENTMODEL_H
#define HTP_UNITTESTS_HIERARCHY_ALIGNMENTMODEL_H

#include "HTP/Alignment/Alignment.h"

#include <deque>

namespace htp {

/// A program and a graph that are built side by side.
struct Model {
  Program program;
  Graph graph;
  std::deque<std::string> names;

  int32_t traceInput() {
    program.values.emplace_back();
    program.inputs.push_back(program.values.size() - 1);
    return program.inputs.back();
  }
  int32_t step(llvm::StringRef kind, int32_t module,
               std::initializer_list<int32_t> inputs, int32_t parameter = -1,
               int32_t call = 0) {
    Program::Step step;
    step.kind = kind;
    step.module = module;
    step.call = call;
    step.inputs.assign(inputs.begin(), inputs.end());
    if (parameter >= 0)
      step.parameters.push_back(parameter);
    program.values.emplace_back();
    step.outputs.push_back(program.values.size() - 1);
    program.steps.push_back(step);
    return program.values.size() - 1;
  }
  int32_t parameter(uint64_t fingerprint) {
    program.parameters.push_back(
        {"", {fingerprint, 16, {4, 4}, ElementKind::Float}});
    return program.parameters.size() - 1;
  }
  int32_t input() {
    graph.values.emplace_back();
    graph.inputs.push_back(graph.values.size() - 1);
    return graph.inputs.back();
  }
  int32_t constant(uint64_t fingerprint) {
    GraphValue value;
    value.constant = graph.constants.size();
    graph.constants.push_back({fingerprint, 16, {4, 4}, ElementKind::Float});
    graph.values.push_back(value);
    return graph.values.size() - 1;
  }
  int32_t node(llvm::StringRef op, std::initializer_list<int32_t> inputs,
               ElementKind kind = ElementKind::Float) {
    GraphValue value;
    value.producer = graph.nodes.size();
    value.kind = kind;
    graph.values.push_back(value);
    GraphNode node;
    node.op = op;
    node.inputs.assign(inputs.begin(), inputs.end());
    node.outputs.push_back(graph.values.size() - 1);
    graph.nodes.push_back(node);
    return graph.values.size() - 1;
  }
  std::vector<int32_t> modules(llvm::ArrayRef<ModulePlace> places = {}) {
    Alignment result = align(graph, program, places);
    std::vector<int32_t> found;
    for (const AlignedNode &node : result.nodes)
      found.push_back(node.best.module);
    return found;
  }
};

} // namespace htp

#endif // HTP_UNITTESTS_HIERARCHY_ALIGNMENTMODEL_H
