// Positions of the boxes in the graph. An open module is laid out by itself and is then one large box in the module around
// it, so only open modules cost time.
import * as dagre from '@dagrejs/dagre';
import type { Model } from './model';
import { itemKey, scopeOf, type Item, type Scope } from './scope';

export interface Box {
  key: string;
  item: Item;
  x: number; // of the upper left corner, within the box around it
  y: number;
  width: number;
  height: number;
  inside: Plan | null; // of an open module
}

export interface Line {
  from: string;
  to: string;
  points: { x: number; y: number }[];
}

export interface Plan {
  scope: Scope;
  boxes: Box[];
  lines: Line[];
  width: number;
  height: number;
}

export interface Open {
  modules: ReadonlySet<number>; // that are open inside
  starts: ReadonlyMap<number, number>; // of a module with more items than are shown at once: the first of those
}

export const HEAD = 30;
const PAD = 14;

export type Measure = (item: Item, isOpen: boolean) => { width: number; height: number };

export function planOf(model: Model, module: number, open: Open, measure: Measure): Plan {
  const scope = scopeOf(model, module, open.starts.get(module) ?? 0);
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: 'TB', nodesep: 18, ranksep: 34, edgesep: 8, marginx: PAD, marginy: PAD });
  graph.setDefaultEdgeLabel(() => ({}));
  const insides = scope.items.map((item) => (
    item.kind === 'module' && open.modules.has(item.module) ? planOf(model, item.module, open, measure) : null));
  scope.items.forEach((item, i) => {
    const inside = insides[i];
    const own = measure(item, inside !== null);
    const width = inside ? Math.max(own.width, inside.width) : own.width;
    graph.setNode(String(i), { width, height: inside ? inside.height + HEAD : own.height });
  });
  for (const [from, to] of scope.edges) graph.setEdge(String(from), String(to));
  dagre.layout(graph);
  const boxes = scope.items.map((item, i): Box => {
    const { x, y, width, height } = graph.node(String(i)) as Required<Record<'x' | 'y' | 'width' | 'height', number>>;
    return { key: itemKey(item), item, x: x - width / 2, y: y - height / 2, width, height, inside: insides[i] };
  });
  const lines = graph.edges().map((edge): Line => ({
    from: boxes[Number(edge.v)].key, to: boxes[Number(edge.w)].key, points: (graph.edge(edge) as { points: Line['points'] }).points,
  }));
  const size = graph.graph() as { width?: number; height?: number };
  return { scope, boxes, lines, width: Math.max(size.width ?? 0, 2 * PAD), height: Math.max(size.height ?? 0, 2 * PAD) };
}

/** A line through points, with rounded turns. */
export function pathThrough(points: { x: number; y: number }[]): string {
  if (points.length < 3) return points.map(({ x, y }, i) => `${i ? 'L' : 'M'}${x},${y}`).join('');
  let path = `M${points[0].x},${points[0].y}`;
  for (let i = 1; i < points.length - 1; i++) {
    const [a, b] = [points[i], points[i + 1]];
    const end = i === points.length - 2 ? b : { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
    path += `Q${a.x},${a.y} ${end.x},${end.y}`;
  }
  return path;
}
