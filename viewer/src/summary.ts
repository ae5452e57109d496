// The first page: figures of the model, repeated layers, classes.
import type { App } from './app';
import { h } from './dom';
import * as format from './format';
import { shown } from './metrics';
import { groupLabel } from './rows';

function figure(label: string, value: string, exact: number | string, note = '', kind = ''): HTMLElement {
  return h('div', { class: `figure ${kind}` },
    h('dt', {}, label),
    h('dd', { 'data-figure': label, 'data-value': exact }, value),
    note && h('dd', { class: 'note' }, note));
}

export function summary(app: App): HTMLElement {
  const { statistics: s, profile, diff, notes } = app.model.data;
  const { costs } = app.model.module(0);
  const types = Object.entries(costs.total_weight_bytes).map(([type, size]) => `${format.bytes(size)} ${type}`).join(', ');
  const figures = [
    figure('Operations', format.exact(s.nodes - s.constants), s.nodes - s.constants, s.constants ? `and ${format.count(s.constants, 'constant')}` : ''),
    figure('Modules', format.exact(s.modules), s.modules),
    ...app.metrics.filter((m) => ['parameters', 'weight_bytes', 'activation_bytes', 'multiply_adds'].includes(m.key)).map((m) => figure(
      m.label, shown(m, 0), m.total(0) ?? '', m.key === 'weight_bytes' ? types : '')),
    figure('Tagged', format.percent(s.coverage), s.coverage, `${format.percent(s.placed_share)} below the root`),
    figure('Mean confidence', format.confidence(s.confidence), s.confidence,
      `${format.exact(s.contested)} contested, ${format.exact(s.shared)} shared`),
  ];
  if (profile) {
    figures.push(figure('Time of a run', format.milliseconds(profile.node_microseconds), profile.node_microseconds,
      `${profile.source}, ${format.percent(profile.attributed)} with a module`));
  }
  if (diff) {
    const first = diff.first >= 0 ? app.model.module(diff.first).path || app.model.module(diff.first).class : 'none';
    figures.push(figure('First module that diverges', format.visible(first), first,
      `from ${format.visible(diff.second_file)}, by more than ${diff.tolerance}`, 'wide'));
  }
  return h('section', { class: 'card', 'aria-labelledby': 'summary-title' },
    h('h2', { id: 'summary-title', class: 'visually-hidden' }, 'Summary'),
    h('dl', { class: 'figures' }, ...figures),
    ...notes.map((note) => h('p', { class: 'hint' }, `Not counted: ${format.visible(note)}.`)));
}

/** Repeated layers, and the evidence for the tags. */
export function facts(app: App): HTMLElement {
  const { model } = app;
  const { repeated, statistics } = model.data;
  const layers = repeated.slice(0, 8).map(({ class: name, modules }) => {
    const label = `${modules.length} × ${name}`;
    const paths = groupLabel(modules.map((m) => model.module(m).path));
    const link = h('button', { type: 'button', class: 'link', click: () => app.openModule(modules[0]) }, format.visible(label));
    return h('li', {}, link, h('span', { class: 'path' }, format.visible(format.shortened(paths, 60))));
  });
  const evidence = Object.entries(statistics.evidence).sort((a, b) => b[1].nodes - a[1].nodes).map(([kind, found]) => {
    const bar = h('span', { class: 'bar' });
    bar.style.width = `${(100 * found.nodes) / Math.max(1, statistics.tagged)}%`;
    return h('tr', {}, h('th', { scope: 'row' }, kind || 'none'), h('td', { class: 'number' }, format.exact(found.nodes)),
      h('td', { class: 'bars' }, bar), h('td', { class: 'number' }, format.confidence(found.confidence)));
  });
  return h('div', { class: 'columns' },
    h('section', { class: 'card' }, h('h2', {}, 'Repeated layers'),
      layers.length ? h('ul', { class: 'plain' }, ...layers) : h('p', { class: 'hint' }, 'No module appears twice.')),
    h('section', { class: 'card' }, h('h2', {}, 'Evidence for the tags'),
      h('table', { class: 'small' }, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Evidence'),
        h('th', { scope: 'col', class: 'number' }, 'Nodes'), h('th', {}), h('th', { scope: 'col', class: 'number' }, 'Confidence'))),
      h('tbody', {}, ...evidence))),
    classes(app));
}

function classes(app: App): HTMLElement {
  const { model } = app;
  const sums = new Map<string, { modules: number; nodes: number; adds: number; time: number }>();
  model.data.modules.forEach((m, i) => {
    if (!m.nodes) return;
    const sum = sums.get(m.class) ?? { modules: 0, nodes: 0, adds: 0, time: 0 };
    sum.modules++;
    sum.nodes += m.nodes;
    sum.adds += m.costs.multiply_adds;
    sum.time += model.data.profile?.self[i] ?? 0;
    sums.set(m.class, sum);
  });
  const { profile } = model.data;
  const rank = (s: { nodes: number; adds: number; time: number }): number => (profile ? s.time : s.adds || s.nodes / 1e9);
  const rows = [...sums].sort((a, b) => rank(b[1]) - rank(a[1])).slice(0, 8).map(([name, s]) => h('tr', {},
    h('th', { scope: 'row' }, format.visible(name)), h('td', { class: 'number' }, format.exact(s.modules)),
    h('td', { class: 'number' }, format.exact(s.nodes)), h('td', { class: 'number' }, format.short(s.adds)),
    profile && h('td', { class: 'number' }, format.milliseconds(s.time))));
  return h('section', { class: 'card' }, h('h2', {}, 'Classes, by their own operations'),
    h('table', { class: 'small' }, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Class'),
      h('th', { scope: 'col', class: 'number' }, 'Modules'), h('th', { scope: 'col', class: 'number' }, 'Nodes'),
      h('th', { scope: 'col', class: 'number' }, 'Multiply-adds'), profile && h('th', { scope: 'col', class: 'number' }, 'Time'))),
    h('tbody', {}, ...rows)));
}
