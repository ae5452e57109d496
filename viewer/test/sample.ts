// A small model for the tests: two equal layers in a list, each with an attention and a norm, and an operation of the root.
import { Model, type Costs, type Document, type ModuleEntry } from '../src/model';

const costs = (part: Partial<Costs> = {}): Costs => ({
  parameters: 0, total_parameters: 0, weight_bytes: {}, total_weight_bytes: {}, activation_bytes: 0, total_activation_bytes: 0,
  multiply_adds: 0, total_multiply_adds: 0, unknown: {}, confidence: 0.9, lowest_confidence: 0.5, unsure: 0, evidence: {}, ...part,
});

function module(path: string, name: string, parent: number, kind: number, nodes: number, total: number, nn = false): ModuleEntry {
  return {
    path, class: name, qualified: nn ? `torch.nn.modules.container.${name}` : `net.${name}`, torch_nn: nn, tag: `/${name}`, calls: 1,
    nodes, total_nodes: total, parent, kind, costs: costs({ multiply_adds: nodes * 10, total_multiply_adds: total * 10 }),
  };
}

export function sample(part: Partial<Document> = {}): Model {
  const data: Document = {
    format: 'htp-view', version: 1, file: 'net.onnx', producer: 'htp test',
    statistics: {
      nodes: 8, constants: 1, initializers: 0, modules: 8, tagged: 8, coverage: 1, confidence: 0.9, shared: 0, contested: 1,
      contaminated: 0, placed: 6, placed_share: 0.75, evidence: { name: { nodes: 8, confidence: 0.9 } },
    },
    notes: [],
    modules: [
      module('', 'Net', -1, 0, 1, 7), module('layer', 'ModuleList', 0, 1, 0, 6, true),
      module('layer.0', 'Layer', 1, 2, 1, 3), module('layer.0.attention', 'Attention', 2, 3, 1, 1), module('layer.0.norm', 'Norm', 2, 4, 1, 1),
      module('layer.1', 'Layer', 1, 2, 1, 3), module('layer.1.attention', 'Attention', 5, 3, 1, 1), module('layer.1.norm', 'Norm', 5, 4, 1, 1),
    ],
    repeated: [{ class: 'Layer', modules: [2, 5] }],
    names: { ops: ['MatMul', 'Add', 'Norm', 'Cast'], evidence: ['name', 'producer'], types: ['f32[4]'], reasons: ['because'], sources: [''] },
    nodes: {
      // Cast → attention.0 → Add.0 → norm.0 → attention.1 → Add.1 → norm.1, and Cast → Add.1
      name: ['cast', 'a0', 'add0', 'n0', 'a1', 'add1', 'n1'], op: [3, 0, 1, 2, 0, 1, 2], module: [0, 3, 2, 4, 6, 5, 7],
      evidence: [0, 0, 1, 0, 0, 1, 0], confidence: [0.9, 0.9, 0.5, 0.9, 0.9, 0.5, 0.9],
      multiply_adds: [0, 10, 0, 0, 10, 0, null], activation_bytes: [4, 4, 4, 4, 4, 4, null], types: [0, 0, 0, 0, 0, 0, 0], source: [0, 0, 0, 0, 0, 0, 0],
    },
    unsure: [2, 5], contexts: [[2, 4, 1, 0.3], [5, 7, 1, 0.3]], reasons: [[2, 0]], handles: [[6, 'value6']],
    edges: [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 0, 5],
    profile: null, diff: null, edit: null, ...part,
  };
  return new Model(data);
}
