// The logic of the page, without a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byMetric, scale, textOn } from '../src/color';
import { bytes, cut, exact, short, shortened, visible } from '../src/format';
import { pathThrough, planOf } from '../src/layout';
import { metricsOf, shown } from '../src/metrics';
import { alike, moduleFor, Overrides } from '../src/overrides';
import { groupLabel, moduleKey, openAll, openAtFirst, rowsOf, type View } from '../src/rows';
import { itemsOf, MOST_ITEMS, neighbours, openedAtFirst, scopeOf, startFor } from '../src/scope';
import { search } from '../src/search';
import { fromHash, Store, toHash, type State } from '../src/state';
import { cellsOf } from '../src/treemap';
import { Model, type Document } from '../src/model';
import { sample } from './sample';

const view = (part: Partial<View> = {}): View => ({ open: new Set([moduleKey(0)]), collapse: true, order: { metric: null, descending: false }, filter: '', ...part });

test('numbers are short and exact', () => {
  assert.equal(short(1234567), '1.23\u202fM');
  assert.equal(short(999), '999');
  assert.equal(short(4385920), '4.39\u202fM');
  assert.equal(bytes(17543680), '17.5\u202fMB');
  assert.equal(exact(100650), '100\u202f650');
  assert.equal(shortened('abcdefghij', 5), 'ab…ij');
  assert.equal(cut('abcdefghij', 5), 'abcd…');
});

test('names cannot turn the text around or hide in it', () => {
  assert.equal(visible('a\u202eb'), 'a\\u{202E}b');
  assert.equal(visible('a\u0000\nb\ud800'), 'a\\u{0000}\\u{000A}b\\u{D800}');
  assert.equal(visible('größe 层'), 'größe 层');
});

test('equal layers are one row, lists of modules are passed over', () => {
  const model = sample();
  const rows = rowsOf(model, view());
  assert.deepEqual(rows.map((row) => [row.label, row.count, row.level]), [['Net', 1, 0], ['layer.0 … 1', 2, 1]]);
  const each = rowsOf(model, view({ open: new Set([moduleKey(0), 'group:2']) }));
  assert.deepEqual(each.map((row) => row.label), ['Net', 'layer.0 … 1', 'layer.0', 'layer.1']);
  assert.deepEqual(rowsOf(model, view({ collapse: false })).map((row) => row.label), ['Net', 'layer.0', 'layer.1']);
  assert.equal(rowsOf(model, view({ open: openAll(model, true) })).length, 8, 'a row for the group, none for the list');
  assert.ok(openAtFirst(model, 60).has(moduleKey(0)));
  assert.equal(groupLabel(['query', 'key']), 'query, key');
  assert.equal(groupLabel(['a.0', 'a.2']), 'a.0, a.2');
});

test('rows are sorted below each module, and filtered with what leads to them', () => {
  const model = sample();
  model.module(5).total_nodes = 9;
  const metric = metricsOf(model)[0];
  const sorted = rowsOf(model, view({ collapse: false, order: { metric, descending: true } }));
  assert.deepEqual(sorted.map((row) => row.label), ['Net', 'layer.1', 'layer.0']);
  const filtered = rowsOf(model, view({ filter: 'NORM' }));
  assert.deepEqual(filtered.map((row) => row.label), ['Net', 'layer.0', 'norm', 'layer.1', 'norm']);
  assert.equal(rowsOf(model, view({ filter: 'nothing like it' })).length, 1);
});

test('a module shows its children and own operations with the edges between them', () => {
  const model = sample();
  const root = scopeOf(model, 0);
  assert.deepEqual(root.items, [{ kind: 'op', node: 0 }, { kind: 'module', module: 2 }, { kind: 'module', module: 5 }]);
  assert.deepEqual(new Set(root.edges.map(String)), new Set(['0,1', '1,2', '0,2']));
  const layer = scopeOf(model, 2);
  assert.deepEqual(layer.items.map((item) => (item.kind === 'op' ? item.node : -item.module)), [-3, 2, -4]);
  assert.deepEqual(layer.edges, [[0, 1], [1, 2]]);
});

test('an operation without a module is shown with the model itself', () => {
  const model = sample();
  model.data.nodes.module[3] = -1;
  const again = new Model(model.data);
  assert.ok(scopeOf(again, 0).items.some((item) => item.kind === 'op' && item.node === 3));
  assert.ok(neighbours(again, 2, 'consumers').some(({ item }) => item.kind === 'op' && item.node === 3));
  assert.equal(alike(again, 3).length, 1);
});

test('neighbours are the largest modules outside', () => {
  const model = sample();
  assert.deepEqual(neighbours(model, 2, 'consumers').map(({ item }) => item), [{ kind: 'module', module: 5 }]);
  assert.deepEqual(neighbours(model, 5, 'producers').map(({ item }) => item), [{ kind: 'op', node: 0 }, { kind: 'module', module: 2 }]);
  assert.deepEqual(neighbours(model, 3, 'consumers').map(({ item }) => item), [{ kind: 'op', node: 2 }]);
});

test('a wrapper is open from the start', () => {
  assert.deepEqual(openedAtFirst(sample()), new Set([2]));
  assert.deepEqual(openedAtFirst(chain(10)), new Set());
});

/** A module of operations in a row. */
function chain(count: number): Model {
  const numbers = [...Array(count).keys()];
  const base: Document = sample().data;
  const zero = numbers.map(() => 0);
  return new Model({
    ...base, modules: [{ ...base.modules[0], nodes: count, total_nodes: count }], contexts: [], reasons: [], handles: [], unsure: [], repeated: [],
    nodes: {
      name: numbers.map((i) => `n${i}`), op: zero, module: zero, evidence: zero, confidence: zero, types: zero, source: zero,
      multiply_adds: zero, activation_bytes: zero,
    },
    edges: numbers.slice(1).flatMap((i) => [i - 1, i]),
  });
}

test('a module of a hundred thousand operations is shown in parts', () => {
  const model = chain(100_000);
  const first = scopeOf(model, 0);
  assert.equal(first.items.length, MOST_ITEMS);
  assert.equal(first.hidden, 100_000 - MOST_ITEMS);
  assert.equal(first.edges.length, MOST_ITEMS - 1);
  const start = startFor(model, 0, { kind: 'op', node: 77_777 });
  const there = scopeOf(model, 0, start);
  assert.ok(there.items.some((item) => item.kind === 'op' && item.node === 77_777));
  assert.equal(itemsOf(model, 0).length, 100_000);
});

test('boxes do not overlap, and open modules hold theirs', () => {
  const model = sample();
  const plan = planOf(model, 0, { modules: new Set([2]), starts: new Map() }, () => ({ width: 100, height: 40 }));
  const [, layer, other] = plan.boxes;
  assert.equal(layer.inside!.boxes.length, 3);
  assert.ok(layer.height > other.height);
  for (const a of plan.boxes) {
    for (const b of plan.boxes) {
      if (a === b) continue;
      const apart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
      assert.ok(apart, `${a.key} and ${b.key}`);
    }
  }
  assert.equal(plan.lines.length, 3);
  assert.match(pathThrough(plan.lines[0].points), /^M[\d.,-]+(Q|L)/);
});

test('cells of the treemap add up', () => {
  const model = sample();
  const metric = metricsOf(model)[0];
  const total = (cell: ReturnType<typeof cellsOf>): number => cell.value + cell.children.reduce((s, c) => s + total(c), 0);
  assert.equal(total(cellsOf(model, 0, metric)), 7);
  assert.equal(total(cellsOf(model, 2, metric)), 3);
});

test('what is not known is said', () => {
  const model = sample();
  const metric = metricsOf(model).find((m) => m.key === 'multiply_adds')!;
  assert.equal(shown(metric, 0), '70');
  model.module(0).costs.unknown = { multiply_adds: 2 };
  assert.equal(shown(metric, 0), '≥ 70');
  model.module(0).costs.total_multiply_adds = 0;
  assert.equal(shown(metric, 0), '?');
});

test('colours can be read', () => {
  assert.equal(textOn('#ffffff'), '#16202c');
  assert.equal(textOn('#102030'), '#ffffff');
  assert.match(scale(0.3), /^#[0-9a-f]{6}$/);
  const light = (color: string): number => parseInt(color.slice(1, 3), 16);
  assert.ok(light(scale(0, 'light')) > 200 && light(scale(0, 'dark')) < 60, 'little is near the background');
  const model = sample();
  const metric = metricsOf(model).find((m) => m.key === 'confidence')!;
  const { color } = byMetric(model, metric);
  model.data.modules[3].costs.confidence = null;
  assert.notEqual(byMetric(model, metric).color(3), color(2), 'nothing known is a colour of its own');
});

test('time and error are metrics where they are given', () => {
  const none = sample().data.modules.map(() => null);
  const model = sample({
    profile: { file: 'f', source: 's', runs: 1, node_microseconds: 5, model_microseconds: null, attributed: 1, self: none, total: none.map((_, i) => i) },
    diff: { first_file: 'a', second_file: 'b', tolerance: 0.1, equal: true, first: -1, relative: none, added: none, parts: [], missing: 0 },
  });
  const keys = metricsOf(model).map((m) => m.key);
  assert.deepEqual(keys.slice(-2), ['time', 'error']);
  assert.equal(shown(metricsOf(model).at(-1)!, 0), '–');
  assert.equal(shown(metricsOf(model).at(-2)!, 5), '0.005 ms');
});

test('nodes alike are those in the same place of other layers', () => {
  const model = sample();
  assert.deepEqual(alike(model, 2), [2, 5]);
  assert.deepEqual(alike(model, 0), [0]);
  assert.equal(model.module(moduleFor(model, 2, 4, 5)).path, 'layer.1.norm');
});

test('corrections become the file that htp tag takes', () => {
  const model = sample();
  const overrides = new Overrides(model);
  let changes = 0;
  overrides.onChange(() => { changes++; });
  assert.deepEqual(overrides.assign(2, 4, alike(model, 2)), { changed: 2, skipped: 0 });
  overrides.assign(6, 0, [6]);
  assert.deepEqual(overrides.toJSON(), {
    format: 'htp-overrides', version: 1, nodes: { add0: 'layer.0.norm', add1: 'layer.1.norm', value6: '/Net' },
  });
  overrides.assign(2, 2, [2]);
  assert.equal(overrides.of(2), undefined, 'the module that it has is no correction');
  overrides.remove(5);
  assert.equal(overrides.size, 1);
  assert.equal(changes, 4);
});

test('a layer without the module is skipped, and said', () => {
  const model = sample();
  model.data.modules[7].path = 'layer.1.other';
  assert.deepEqual(new Overrides(model).assign(2, 4, [2, 5]), { changed: 1, skipped: 1 });
});

test('search finds modules first, then operations, also by their values', () => {
  const model = sample();
  assert.deepEqual(search(model, 'layer.1').items[0], { kind: 'module', module: 5 });
  assert.deepEqual(search(model, 'MATMUL').items, [{ kind: 'op', node: 1 }, { kind: 'op', node: 4 }]);
  assert.deepEqual(search(model, 'value6').items, [{ kind: 'op', node: 6 }]);
  assert.deepEqual(search(model, '  '), { items: [], more: 0 });
  assert.equal(search(chain(1000), 'n', 40).more, 961, 'of a module and 1,000 operations');
});

test('an address holds what is chosen, and nothing that the model lacks', () => {
  const state: State = { tab: 'graph', selected: { kind: 'op', node: 4 }, open: 2, size: 'nodes', color: 'confidence', dark: false };
  assert.deepEqual({ ...state, ...fromHash(toHash(state), 8, 7, ['nodes', 'confidence']) }, state);
  assert.deepEqual(fromHash('#tab=evil&open=99&op=-1&color=x', 8, 7, []), {});
});

test('a store tells what changed', () => {
  const store = new Store({ tab: 'overview', selected: null, open: 0, size: 'nodes', color: 'class', dark: false });
  const seen: string[] = [];
  store.onChange((_, changed) => seen.push([...changed].join()));
  store.set({ tab: 'graph', open: 0 });
  store.set({ tab: 'graph' });
  assert.deepEqual(seen, ['tab']);
});
