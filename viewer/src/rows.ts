// The rows of the module tree: which are shown, and in which order. Equal sibling modules can share one row.
import type { Metric } from './metrics';
import type { Model } from './model';

export interface Row {
  module: number;
  level: number;
  count: number; // modules that the row stands for; more than 1 for equal layers
  label: string;
  hasChildren: boolean;
  key: string; // of what is open: a module, or a group of equal ones
}

export interface Order {
  metric: Metric | null; // null is the order of the model
  descending: boolean;
}

export interface View {
  open: ReadonlySet<string>;
  collapse: boolean;
  order: Order;
  filter: string;
}

/** "layer.0 … 23", or "query, key, value". */
export function groupLabel(names: string[]): string {
  if (names.length === 1) return names[0];
  const split = names.map((name) => /^(.*?)(\d+)$/.exec(name));
  const heads = new Set(split.map((part) => part?.[1]));
  const numbers = split.map((part) => Number(part?.[2]));
  if (heads.size === 1 && numbers.every((n, i) => n === numbers[0] + i)) return `${names[0]} … ${numbers.at(-1)}`;
  return names.length > 4 ? `${names.slice(0, 3).join(', ')} … ${names.at(-1)}` : names.join(', ');
}

/** The children of a module; a list of modules is skipped in favour of its contents. */
export function below(model: Model, module: number): number[] {
  const found: number[] = [];
  const pending = [...model.children.of(module)].reverse();
  while (pending.length) {
    const child = pending.pop()!;
    if (model.isContainer(child)) pending.push(...[...model.children.of(child)].reverse());
    else found.push(child);
  }
  return found;
}

export const groupKey = (modules: number[]): string => `group:${modules[0]}`;
export const moduleKey = (module: number): string => `module:${module}`;

function sorted(modules: number[], order: Order): number[] {
  const { metric } = order;
  if (!metric) return order.descending ? [...modules].reverse() : modules;
  const sign = order.descending ? -1 : 1;
  const value = (m: number): number => metric.total(m) ?? (order.descending ? -Infinity : Infinity);
  return [...modules].sort((a, b) => sign * (value(a) - value(b)) || a - b);
}

function groups(model: Model, modules: number[]): number[][] {
  const found = new Map<number, number[]>();
  for (const module of modules) {
    const { kind } = model.module(module);
    const group = found.get(kind);
    if (group) group.push(module);
    else found.set(kind, [module]);
  }
  return [...found.values()];
}

/** Modules that match a filter, and their ancestors. */
function matching(model: Model, filter: string): Set<number> {
  const wanted = filter.toLowerCase();
  const found = new Set<number>();
  model.data.modules.forEach((m, i) => {
    if (m.path.toLowerCase().includes(wanted) || m.class.toLowerCase().includes(wanted)) {
      for (let at = i; at >= 0 && !found.has(at); at = model.module(at).parent) found.add(at);
    }
  });
  return found;
}

export function rowsOf(model: Model, view: View): Row[] {
  const rows: Row[] = [];
  const kept = view.filter ? matching(model, view.filter) : null;

  const addModule = (module: number, above: number, level: number): void => {
    const children = below(model, module).filter((child) => !kept || kept.has(child));
    const key = moduleKey(module);
    rows.push({
      module, level, count: 1, label: model.shortName(module, above) || model.module(module).class,
      hasChildren: children.length > 0, key,
    });
    if (children.length && (kept !== null || view.open.has(key))) addAll(sorted(children, view.order), module, level + 1);
  };

  const addAll = (modules: number[], above: number, level: number): void => {
    if (!view.collapse || kept) {
      for (const module of modules) addModule(module, above, level);
      return;
    }
    for (const group of groups(model, modules)) {
      if (group.length === 1) {
        addModule(group[0], above, level);
        continue;
      }
      const key = groupKey(group);
      rows.push({
        module: group[0], level, count: group.length, hasChildren: true, key,
        label: groupLabel(group.map((m) => model.shortName(m, above))),
      });
      if (view.open.has(key)) for (const module of group) addModule(module, above, level + 1);
    }
  };

  addModule(0, -1, 0);
  return rows;
}

/** What is open at first: as many levels as fill a page with rows. */
export function openAtFirst(model: Model, most: number): Set<string> {
  const open = new Set<string>([moduleKey(0)]);
  const view: View = { open, collapse: true, order: { metric: null, descending: false }, filter: '' };
  for (let level = 1; level < 8; level++) {
    const rows = rowsOf(model, view);
    const next = rows.filter((row) => row.level === level && row.hasChildren && row.count === 1);
    const added = next.reduce((sum, row) => sum + groups(model, below(model, row.module)).length, 0);
    if (rows.length + added > most) break;
    next.forEach((row) => open.add(row.key));
  }
  return open;
}

/** Every key that opens something. */
export function openAll(model: Model, collapse: boolean): Set<string> {
  const open = new Set<string>();
  model.data.modules.forEach((_, i) => {
    const children = below(model, i);
    if (children.length) open.add(moduleKey(i));
    if (collapse) for (const group of groups(model, children)) if (group.length > 1) open.add(groupKey(group));
  });
  return open;
}
