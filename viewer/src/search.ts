// Finds modules and operations by part of a name, class or operator.
import type { Model } from './model';
import type { Item } from './scope';

export interface Found {
  items: Item[];
  more: number; // number of matches that are not listed
}

export function search(model: Model, text: string, most = 40): Found {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return { items: [], more: 0 };
  const items: Item[] = [];
  let more = 0;
  const add = (item: Item): void => { if (items.length < most) items.push(item); else more++; };
  const { modules, nodes, names } = model.data;
  // Matches at the start of a component come first: "layer.1" before "sublayer.10".
  const ranked: [number, number][] = [];
  modules.forEach((m, i) => {
    const path = m.path.toLowerCase();
    const name = m.class.toLowerCase();
    if (path === wanted || name === wanted) ranked.push([0, i]);
    else if (path.startsWith(wanted) || path.includes(`.${wanted}`) || name.startsWith(wanted)) ranked.push([1, i]);
    else if (path.includes(wanted) || name.includes(wanted)) ranked.push([2, i]);
  });
  ranked.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const room = Math.ceil(most / 2);
  ranked.slice(0, room).forEach(([, module]) => add({ kind: 'module', module }));
  more += Math.max(0, ranked.length - room);
  const ops = names.ops.map((op) => op.toLowerCase().includes(wanted));
  for (let node = 0; node < nodes.name.length; node++) {
    const isCalled = nodes.name[node].toLowerCase().includes(wanted) || model.handle(node).toLowerCase().includes(wanted);
    if (ops[nodes.op[node]] || isCalled) add({ kind: 'op', node });
  }
  return { items, more };
}
