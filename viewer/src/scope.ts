// What the graph shows of an open module: its children as boxes, its own operations, and the edges between them.
// Only open modules are processed; edges inside a closed one do not appear.
import type { Model } from './model';
import { below } from './rows';

/** A module or an operation. */
export type Item = { kind: 'module'; module: number } | { kind: 'op'; node: number };

export interface Scope {
  module: number;
  items: Item[]; // in the order of the file
  edges: [from: number, to: number][]; // places in `items`
  hidden: number; // items before and after those shown
  start: number;
  all: number; // items in all
}

/** Boxes with more items are shown in parts, because laying them out would take too long. */
export const MOST_ITEMS = 120;

export const itemKey = (item: Item): string => (item.kind === 'op' ? `op:${item.node}` : `module:${item.module}`);

/** The box that contains a node within an open module: an index into its items. */
class Places {
  private readonly byModule = new Map<number, number>();
  private readonly byNode = new Map<number, number>();

  constructor(private readonly model: Model, private readonly top: number, items: Item[]) {
    items.forEach((item, i) => {
      if (item.kind === 'op') this.byNode.set(item.node, i);
      else this.byModule.set(item.module, i);
    });
  }

  of(node: number): number | undefined {
    const own = this.byNode.get(node);
    if (own !== undefined) return own;
    for (let at = this.model.moduleOf(node); at >= 0 && at !== this.top; at = this.model.module(at).parent) {
      const found = this.byModule.get(at);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** The nodes of a module and all below it. */
export function* nodesBelow(model: Model, module: number): Iterable<number> {
  const pending = [module];
  while (pending.length) {
    const at = pending.pop()!;
    yield* model.ownNodes.of(at);
    pending.push(...model.children.of(at));
  }
}

function firstNodes(model: Model): (module: number) => number {
  const memo = new Map<number, number>();
  const first = (module: number): number => {
    let found = memo.get(module);
    if (found === undefined) {
      const own = model.ownNodes.of(module);
      found = own.length ? own[0] : Infinity;
      for (const child of model.children.of(module)) found = Math.min(found, first(child));
      memo.set(module, found);
    }
    return found;
  };
  return first;
}

/** The contents of a module, one level deep, in execution order. */
export function itemsOf(model: Model, module: number): Item[] {
  const first = firstNodes(model);
  const children = below(model, module).filter((child) => model.module(child).total_nodes > 0);
  const items: [at: number, item: Item][] = children.map((m) => [first(m), { kind: 'module', module: m }]);
  for (const holder of [module, ...passedOver(model, module)]) {
    for (const node of model.ownNodes.of(holder)) items.push([node, { kind: 'op', node }]);
  }
  return items.sort((a, b) => a[0] - b[0]).map(([, item]) => item);
}

/** Lists of modules whose contents are shown in their place. */
function passedOver(model: Model, module: number): number[] {
  return [...model.children.of(module)].filter((child) => model.isContainer(child))
    .flatMap((child) => [child, ...passedOver(model, child)]);
}

export function scopeOf(model: Model, module: number, wanted = 0): Scope {
  const all = itemsOf(model, module);
  const start = all.length <= MOST_ITEMS ? 0 : Math.min(Math.max(0, wanted), all.length - 1);
  const items = all.slice(start, start + MOST_ITEMS);
  const places = new Places(model, module, items);
  const seen = new Set<number>();
  const edges: [number, number][] = [];
  for (const item of items) {
    const nodes = item.kind === 'op' ? [item.node] : nodesBelow(model, item.module);
    for (const node of nodes) {
      const to = places.of(node)!;
      for (const producer of model.producers.of(node)) {
        const from = places.of(producer);
        if (from === undefined || from === to) continue;
        const key = from * MOST_ITEMS + to;
        if (!seen.has(key)) {
          seen.add(key);
          edges.push([from, to]);
        }
      }
    }
  }
  return { module, items, edges, start, all: all.length, hidden: all.length - items.length };
}

/** Where the shown part of a box must start to include an item. */
export function startFor(model: Model, module: number, item: Item): number {
  const key = itemKey(item);
  const at = itemsOf(model, module).findIndex((other) => itemKey(other) === key);
  return at < 0 ? 0 : Math.floor(at / MOST_ITEMS) * MOST_ITEMS;
}

export interface Neighbour {
  item: Item; // a module outside, or an operation of a module above
  nodes: number; // edges that lead there
}

/** Where a module's inputs come from, or its outputs go to: the largest modules that contain the other ends. */
export function neighbours(model: Model, module: number, side: 'producers' | 'consumers'): Neighbour[] {
  const found = new Map<string, Neighbour>();
  for (const node of nodesBelow(model, module)) {
    for (const other of model[side].of(node)) {
      const owner = model.moduleOf(other);
      if (model.isBelow(owner, module)) continue;
      const item = outside(model, module, other);
      const key = itemKey(item);
      const known = found.get(key);
      if (known) known.nodes++;
      else found.set(key, { item, nodes: 1 });
    }
  }
  return [...found.values()].sort((a, b) => b.nodes - a.nodes);
}

/** The largest module that contains a node but not `module`; the node itself if it belongs to a common ancestor. */
function outside(model: Model, module: number, node: number): Item {
  let largest = -1;
  for (let at = model.moduleOf(node); at >= 0 && !model.isBelow(module, at); at = model.module(at).parent) {
    if (!model.isContainer(at)) largest = at;
  }
  return largest >= 0 ? { kind: 'module', module: largest } : { kind: 'op', node };
}

/** A wrapper around a large model says little by itself, so its largest module is open from the start. */
export function openedAtFirst(model: Model): Set<number> {
  const modules = itemsOf(model, 0).flatMap((item) => (item.kind === 'module' ? [item.module] : []));
  if (!modules.length || itemsOf(model, 0).length > 4) return new Set();
  const largest = modules.reduce((a, b) => (model.module(b).total_nodes > model.module(a).total_nodes ? b : a));
  return itemsOf(model, largest).length <= 30 ? new Set([largest]) : new Set();
}
