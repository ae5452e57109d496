// Operations with uncertain or contested tags, the least certain first, and the corrections made.
import type { App } from './app';
import { Corrections } from './assign';
import { choice, h } from './dom';
import { confidence, count, visible } from './format';

const AT_ONCE = 200;

export class Review {
  readonly element: HTMLElement;
  private readonly list = h('section', { class: 'card', 'aria-labelledby': 'review-title' });
  private kind = 'unsure';
  private rows = AT_ONCE;

  constructor(private readonly app: App) {
    this.element = h('div', { class: 'page' }, new Corrections(app).element, this.list);
    app.store.onChange((_, changed) => { if (changed.has('selected')) this.mark(); });
    app.overrides.onChange(() => this.draw());
    this.draw();
  }

  private nodes(): number[] {
    const { model } = this.app;
    if (this.kind === 'unsure') return model.data.unsure;
    const all = [...model.data.nodes.name.keys()];
    if (this.kind === 'root') return all.filter((node) => model.moduleOf(node) === 0);
    return all.filter((node) => model.contexts(node).length > 0);
  }

  private draw(): void {
    const { app } = this;
    const { model, overrides } = app;
    const nodes = this.nodes();
    const kinds: [string, string][] = [['unsure', 'uncertain or contested'], ['contexts', 'with other possible modules'], ['root', 'in no module below the root']];
    const rows = nodes.slice(0, this.rows).map((node) => {
      const module = model.moduleOf(node);
      const corrected = overrides.of(node);
      const path = (m: number): string => (m < 0 ? 'none' : model.module(m).path || model.module(m).class);
      return h('tr', { 'data-node': node, class: this.isSelected(node) && 'selected', click: () => app.select({ kind: 'op', node }) },
        h('td', {}, h('button', { type: 'button', class: 'link', click: () => app.select({ kind: 'op', node }) }, visible(model.nodeName(node)))),
        h('td', {}, visible(model.op(node))),
        h('td', { class: 'path' }, visible(path(module)), corrected !== undefined && h('span', { class: 'corrected' }, ` → ${visible(path(corrected))}`)),
        h('td', {}, visible(model.evidence(node) || 'none')),
        h('td', { class: 'number', 'data-value': model.confidence(node) }, confidence(model.confidence(node))),
        h('td', { class: 'path' }, visible([...new Set(model.contexts(node).map((c) => path(c.module)))].slice(0, 3).join(', '))));
    });
    const more = nodes.length - this.rows;
    this.list.replaceChildren(
      h('div', { class: 'card-head' }, h('h2', { id: 'review-title' }, count(nodes.length, 'operation')),
        h('div', { class: 'controls' }, choice('Show operations', kinds, this.kind, (kind) => { this.kind = kind; this.rows = AT_ONCE; this.draw(); }, 'review-kind'))),
      nodes.length ? h('div', { class: 'table-scroll' }, h('table', { class: 'small review' },
        h('thead', {}, h('tr', {}, ...['Operation', 'Type', 'Module', 'Evidence'].map((text) => h('th', { scope: 'col' }, text)),
          h('th', { scope: 'col', class: 'number' }, 'Confidence'), h('th', { scope: 'col' }, 'Or'))),
        h('tbody', {}, ...rows))) : h('p', { class: 'hint' }, 'All tags are certain, and no evidence points to another module.'),
      ...(more > 0 ? [h('button', { type: 'button', click: () => { this.rows += 1000; this.draw(); } }, `${more} more`)] : []));
  }

  private isSelected(node: number): boolean {
    const { selected } = this.app.store.state;
    return selected?.kind === 'op' && selected.node === node;
  }

  private mark(): void {
    for (const row of this.list.querySelectorAll('tr[data-node]')) {
      row.classList.toggle('selected', this.isSelected(Number(row.getAttribute('data-node'))));
    }
  }
}
