// Corrections: the module of a node, or of all nodes alike, in the form of the file that `htp tag --overrides` takes.
import type { Model } from './model';

/** A path with its numbers left out: "encoder.layer.*.attention". */
const pattern = (path: string): string => path.replace(/(^|\.)\d+(?=\.|$)/g, '$1*');
const numbers = (path: string): string[] => path.split('.').filter((part) => /^\d+$/.test(part));

/** What must be equal for two nodes to be alike: the operator, the module up to layer numbers, and the evidence. */
function likeness(model: Model, node: number): string {
  const module = model.moduleOf(node);
  const contexts = model.contexts(node).map((c) => `${c.module < 0 ? '' : pattern(model.module(c.module).path)} ${c.evidence}`);
  const place = module < 0 ? '' : pattern(model.module(module).path);
  return [model.op(node), place, model.evidence(node), ...contexts.sort()].join('\n');
}

/** Nodes to which a correction of one may also apply, itself included, in file order. */
export function alike(model: Model, node: number): number[] {
  const wanted = likeness(model, node);
  const op = model.data.nodes.op[node];
  const found: number[] = [];
  for (let other = 0; other < model.nodeCount; other++) {
    if (model.data.nodes.op[other] === op && likeness(model, other) === wanted) found.push(other);
  }
  return found;
}

/** The module for a node that is alike, in its own layer: if `node` goes to layer.0.output, the one in layer 3 goes to
 * layer.3.output. -1 if there is no such module. */
export function moduleFor(model: Model, node: number, module: number, other: number): number {
  const from = numbers(model.module(Math.max(0, model.moduleOf(node))).path);
  const to = numbers(model.module(Math.max(0, model.moduleOf(other))).path);
  let at = 0;
  const path = model.module(module).path.split('.').map((part) => {
    if (!/^\d+$/.test(part)) return part;
    const index = at++;
    return part === from[index] && to[index] !== undefined ? to[index] : part;
  }).join('.');
  return model.data.modules.findIndex((m) => m.path === path);
}

export class Overrides {
  private readonly chosen = new Map<number, number>();
  private readonly listeners: (() => void)[] = [];

  constructor(private readonly model: Model) {}

  get size(): number { return this.chosen.size; }
  entries(): [node: number, module: number][] { return [...this.chosen].sort((a, b) => a[0] - b[0]); }
  of(node: number): number | undefined { return this.chosen.get(node); }
  onChange(listener: () => void): void { this.listeners.push(listener); }

  /** Gives nodes a module; the module that a node already has is not a correction. Returns how many nodes changed, and how
   * many have no such module in their own layer. */
  assign(node: number, module: number, nodes: number[]): { changed: number; skipped: number } {
    let changed = 0;
    let skipped = 0;
    for (const other of nodes) {
      const target = other === node ? module : moduleFor(this.model, node, module, other);
      if (target < 0) skipped++;
      else if (target === this.model.moduleOf(other)) this.chosen.delete(other);
      else {
        this.chosen.set(other, target);
        changed++;
      }
    }
    this.changed();
    return { changed, skipped };
  }

  remove(node: number): void {
    this.chosen.delete(node);
    this.changed();
  }

  clear(): void {
    this.chosen.clear();
    this.changed();
  }

  toJSON(): { format: string; version: number; nodes: Record<string, string> } {
    const nodes: [string, string][] = this.entries().map(([node, module]) => [
      this.model.handle(node), this.model.module(module).path || this.model.module(module).tag,
    ]);
    return { format: 'htp-overrides', version: 1, nodes: Object.fromEntries(nodes) };
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }
}
