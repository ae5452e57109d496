// Details of the selected module or operation, links to its neighbours, and a form to correct its module.
import type { App } from './app';
import { assignment } from './assign';
import { breakable, button, h } from './dom';
import * as format from './format';
import { shown } from './metrics';
import { neighbours, type Item } from './scope';

const LISTED = 12;

export class Details {
  readonly element = h('aside', { class: 'details', 'aria-label': 'Details', 'aria-live': 'polite' });

  constructor(private readonly app: App) {
    app.store.onChange((_, changed) => { if (changed.has('selected')) this.draw(); });
    app.overrides.onChange(() => this.draw());
    this.draw();
  }

  draw(): void {
    const { selected } = this.app.store.state;
    this.element.hidden = selected === null;
    if (!selected) return;
    const close = button('✕', () => this.app.select(null), { class: 'close', 'aria-label': 'Close details' });
    const parts = selected.kind === 'op' ? this.operation(selected.node) : this.module(selected.module);
    this.element.replaceChildren(close, ...parts);
  }

  private module(module: number): HTMLElement[] {
    const { app } = this;
    const { model } = app;
    const entry = model.module(module);
    const rows = app.metrics.map((metric): [string, string] => {
      const own = metric.own(module);
      const detail = metric.isSum && own !== null && own !== metric.total(module) ? ` (own ${metric.show(own)})` : '';
      return [metric.label, shown(metric, module) + detail];
    });
    const { costs } = entry;
    if (costs.lowest_confidence !== null) rows.push(['Lowest confidence', format.confidence(costs.lowest_confidence)]);
    if (costs.unsure) rows.push(['Uncertain', format.count(costs.unsure, 'node')]);
    rows.push(['Evidence', Object.entries(costs.evidence).map(([kind, n]) => `${kind} ${format.exact(n)}`).join(', ') || '–']);
    if (entry.calls !== 1) rows.push(['Calls', String(entry.calls)]);
    const ops = this.operators(module);
    return [
      h('p', { class: 'eyebrow' }, 'Module'),
      h('h2', {}, breakable(format.visible(entry.path || entry.class))),
      h('p', { class: 'sub' }, format.visible(entry.qualified)),
      h('div', { class: 'actions' }, button('Show in graph', () => app.openModule(module)),
        entry.parent >= 0 && button('Up', () => app.select({ kind: 'module', module: entry.parent }), { 'aria-label': 'Select the module above' })),
      table(rows),
      ...(ops ? [h('h3', {}, 'Own operations'), h('p', { class: 'ops' }, ops)] : []),
      ...this.links('Inputs from', neighbours(model, module, 'producers').map(({ item }) => item)),
      ...this.links('Outputs to', neighbours(model, module, 'consumers').map(({ item }) => item)),
    ];
  }

  private operators(module: number): string {
    const { model } = this.app;
    const counts = new Map<string, number>();
    for (const node of model.ownNodes.of(module)) counts.set(model.op(node), (counts.get(model.op(node)) ?? 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1]).slice(0, LISTED).map(([op, n]) => `${n} ${format.visible(op)}`).join(', ');
  }

  private operation(node: number): HTMLElement[] {
    const { app } = this;
    const { model } = app;
    const { nodes } = model.data;
    const module = model.moduleOf(node);
    const rows: [string, string][] = [
      ['Makes', model.types(node) || '–'],
      ['Multiply-adds', nodes.multiply_adds[node] === null ? 'unknown' : format.short(nodes.multiply_adds[node]!)],
      ['Activations', nodes.activation_bytes[node] === null ? 'unknown' : format.bytes(nodes.activation_bytes[node]!)],
      ['Evidence', model.evidence(node) || 'none'],
      ['Confidence', format.confidence(model.confidence(node))],
    ];
    if (model.reason(node)) rows.push(['Reason', model.reason(node)]);
    if (model.source(node)) rows.push(['Code', model.source(node).split('/').slice(-2).join('/')]);
    const owner = module < 0
      ? h('p', { class: 'sub' }, 'belongs to no module')
      : h('button', { type: 'button', class: 'link', click: () => app.select({ kind: 'module', module }) },
        format.visible(model.module(module).path || model.module(module).class));
    const contexts = model.contexts(node);
    return [
      h('p', { class: 'eyebrow' }, format.visible(model.op(node))),
      h('h2', {}, breakable(format.visible(model.nodeName(node)))),
      owner,
      h('div', { class: 'actions' }, button('Show in graph', () => app.reveal({ kind: 'op', node })), this.explainer(node)),
      table(rows),
      ...(contexts.length ? [h('h3', {}, 'It could also belong to'), h('ul', { class: 'plain' }, ...contexts.map((context) => h('li', {},
        h('span', { class: 'path' }, format.visible(context.module < 0 ? '?' : model.module(context.module).path || model.module(context.module).class)),
        h('span', { class: 'hint' }, ` ${context.evidence} ${format.confidence(context.confidence)}`))))] : []),
      assignment(app, node),
      ...this.links('Inputs from', [...model.producers.of(node)].map((other): Item => ({ kind: 'op', node: other }))),
      ...this.links('Outputs to', [...model.consumers.of(node)].map((other): Item => ({ kind: 'op', node: other }))),
    ];
  }

  /** With a server, a button that shows the output of `htp explain`. */
  private explainer(node: number): HTMLElement | null {
    const { edit } = this.app.model.data;
    if (!edit) return null;
    return button('Explain', () => {
      void fetch(`explain?node=${encodeURIComponent(this.app.model.handle(node))}`, { headers: { 'X-HTP-Token': edit.token } })
        .then((answer) => answer.json() as Promise<{ message: string }>)
        .then(({ message }) => message, (error) => `No answer: ${String(error)}`)
        .then((text) => {
          this.element.querySelector('.explanation')?.remove();
          this.element.querySelector('.assign')?.before(h('pre', { class: 'explanation', tabindex: 0 }, text.split('\n').map(format.visible).join('\n')));
        });
    }, { id: 'explain' });
  }

  private links(title: string, items: Item[]): HTMLElement[] {
    if (!items.length) return [];
    const { model } = this.app;
    const label = (item: Item): string => (item.kind === 'module'
      ? model.module(item.module).path || model.module(item.module).class : `${model.op(item.node)}  ${model.nodeName(item.node)}`);
    const more = items.length - LISTED;
    return [h('h3', {}, title), h('ul', { class: 'plain links' }, ...items.slice(0, LISTED).map((item) => h('li', {},
      button(format.visible(label(item)), () => this.app.reveal(item), { class: 'link' }))),
    more > 0 && h('li', { class: 'hint' }, `and ${more} more`))];
  }
}

function table(rows: [string, string][]): HTMLElement {
  return h('dl', { class: 'facts' }, ...rows.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, format.visible(value))]));
}
