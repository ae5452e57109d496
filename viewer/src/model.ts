// The document that `htp view` puts into the page, and what is derived from it: children, nodes of a module, neighbours.
// Nodes and modules are numbers; -1 means none.

export interface Costs {
  parameters: number;
  total_parameters: number;
  weight_bytes: Record<string, number>;
  total_weight_bytes: Record<string, number>;
  activation_bytes: number;
  total_activation_bytes: number;
  multiply_adds: number;
  total_multiply_adds: number;
  unknown: Record<string, number>;
  confidence: number | null;
  lowest_confidence: number | null;
  unsure: number;
  evidence: Record<string, number>;
}

export interface ModuleEntry {
  path: string;
  class: string;
  qualified: string;
  torch_nn: boolean;
  tag: string;
  calls: number;
  nodes: number;
  total_nodes: number;
  parent: number;
  kind: number; // the same for equal modules
  costs: Costs;
}

export interface Profile {
  file: string;
  source: string;
  runs: number;
  node_microseconds: number;
  model_microseconds: number | null;
  attributed: number;
  self: (number | null)[]; // by module, in microseconds
  total: (number | null)[];
}

export interface Diff {
  first_file: string;
  second_file: string;
  tolerance: number;
  equal: boolean;
  first: number; // the first module that diverges
  relative: (number | null)[]; // by module: the largest of its values
  added: (number | null)[];
  parts: boolean[];
  missing: number;
}

export interface Document {
  format: 'htp-view';
  version: 1;
  file: string;
  producer: string;
  statistics: {
    nodes: number; constants: number; initializers: number; modules: number; tagged: number; coverage: number;
    confidence: number; shared: number; contested: number; contaminated: number; placed: number; placed_share: number;
    evidence: Record<string, { nodes: number; confidence: number }>;
  };
  notes: string[];
  modules: ModuleEntry[];
  repeated: { class: string; modules: number[] }[];
  names: { ops: string[]; evidence: string[]; types: string[]; reasons: string[]; sources: string[] };
  nodes: {
    name: string[];
    op: number[];
    module: number[];
    evidence: number[];
    confidence: number[];
    multiply_adds: (number | null)[];
    activation_bytes: (number | null)[];
    types: number[];
    source: number[];
  };
  unsure: number[]; // nodes, the least certain first
  contexts: [node: number, module: number, evidence: number, confidence: number][];
  reasons: [node: number, reason: number][];
  handles: [node: number, name: string][]; // what overrides call a node whose name is missing or not unique
  edges: number[]; // from, to, from, to, …
  profile: Profile | null;
  diff: Diff | null;
  edit: { token: string; file: string } | null;
}

export interface Context {
  module: number;
  evidence: string;
  confidence: number;
}

/** A list for every index, in one array. */
export class Lists {
  private readonly starts: Int32Array;
  private readonly items: Int32Array;

  constructor(count: number, pairs: Iterable<readonly [number, number]>) {
    const all = [...pairs].filter(([at]) => at >= 0);
    this.starts = new Int32Array(count + 1);
    for (const [at] of all) this.starts[at + 1]++;
    for (let i = 0; i < count; i++) this.starts[i + 1] += this.starts[i];
    this.items = new Int32Array(all.length);
    const next = this.starts.slice();
    for (const [at, item] of all) this.items[next[at]++] = item;
  }

  of(index: number): Int32Array {
    return this.items.subarray(this.starts[index], this.starts[index + 1]);
  }
}

function* edgePairs(edges: number[], backwards: boolean): Iterable<readonly [number, number]> {
  for (let i = 0; i < edges.length; i += 2) yield backwards ? [edges[i + 1], edges[i]] : [edges[i], edges[i + 1]];
}

export class Model {
  readonly children: Lists;
  readonly ownNodes: Lists;
  readonly producers: Lists;
  readonly consumers: Lists;
  readonly depth: Int32Array;
  private readonly contextsByNode = new Map<number, Context[]>();
  private readonly reasonByNode: Map<number, number>;
  private readonly handleByNode: Map<number, string>;

  constructor(readonly data: Document) {
    const { modules, nodes } = data;
    this.children = new Lists(modules.length, modules.map((m, i) => [m.parent, i] as const));
    // Nodes without a module are shown with the model itself, so that they appear somewhere.
    this.ownNodes = new Lists(modules.length, nodes.module.map((m, i) => [Math.max(0, m), i] as const));
    this.producers = new Lists(nodes.name.length, edgePairs(data.edges, true));
    this.consumers = new Lists(nodes.name.length, edgePairs(data.edges, false));
    this.depth = new Int32Array(modules.length);
    modules.forEach((m, i) => { if (m.parent >= 0) this.depth[i] = this.depth[m.parent] + 1; });
    for (const [node, module, evidence, confidence] of data.contexts) {
      const list = this.contextsByNode.get(node) ?? [];
      list.push({ module, evidence: data.names.evidence[evidence], confidence });
      this.contextsByNode.set(node, list);
    }
    this.reasonByNode = new Map(data.reasons);
    this.handleByNode = new Map(data.handles);
  }

  get nodeCount(): number { return this.data.nodes.name.length; }
  module(index: number): ModuleEntry { return this.data.modules[index]; }
  moduleOf(node: number): number { return this.data.nodes.module[node]; }
  nodeName(node: number): string { return this.data.nodes.name[node]; }
  op(node: number): string { return this.data.names.ops[this.data.nodes.op[node]]; }
  types(node: number): string { return this.data.names.types[this.data.nodes.types[node]]; }
  /** The line of Python code, FILE:LINE; empty if unknown. */
  source(node: number): string { return this.data.names.sources[this.data.nodes.source[node]]; }
  evidence(node: number): string { return this.data.names.evidence[this.data.nodes.evidence[node]]; }
  confidence(node: number): number { return this.data.nodes.confidence[node]; }
  contexts(node: number): Context[] { return this.contextsByNode.get(node) ?? []; }
  reason(node: number): string {
    const at = this.reasonByNode.get(node);
    return at === undefined ? '' : this.data.names.reasons[at];
  }
  /** What an override calls the node: its name, or a value that it makes if the name is missing or not unique. */
  handle(node: number): string { return this.handleByNode.get(node) ?? this.nodeName(node); }

  /** The last part of a path below another module. */
  shortName(module: number, below = this.module(module).parent): string {
    const path = this.module(module).path;
    const start = below >= 0 ? this.module(below).path : '';
    return start ? path.slice(start.length + 1) : path;
  }

  /** The module on the way from `top` down to `module` that is a child of `top`; -1 if it is not below it. */
  childTowards(top: number, module: number): number {
    let at = module;
    while (at >= 0 && this.module(at).parent !== top) at = this.module(at).parent;
    return at;
  }

  isBelow(module: number, top: number): boolean {
    let at = module;
    while (at >= 0 && at !== top) at = this.module(at).parent;
    return at === top;
  }

  /** From the root down to a module. */
  stack(module: number): number[] {
    const found: number[] = [];
    for (let at = module; at >= 0; at = this.module(at).parent) found.unshift(at);
    return found;
  }

  /** A list of modules without operations of its own: its contents are shown in its place. */
  isContainer(module: number): boolean {
    const entry = this.module(module);
    return entry.torch_nn && entry.nodes === 0 && entry.qualified.startsWith('torch.nn.modules.container.')
      && this.children.of(module).length > 0;
  }
}
