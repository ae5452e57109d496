// The search box of the page: finds modules and operations as you type.
import type { App } from './app';
import { h } from './dom';
import { shortened, visible } from './format';
import { search } from './search';
import type { Item } from './scope';

export class Finder {
  readonly element: HTMLElement;
  readonly input: HTMLInputElement;
  private readonly list = h('ul', { id: 'found', role: 'listbox', 'aria-label': 'Found', class: 'found' });
  private items: Item[] = [];
  private at = -1;

  constructor(private readonly app: App) {
    this.input = h('input', {
      type: 'search', id: 'search', placeholder: 'Search modules and operations', role: 'combobox', autocomplete: 'off', spellcheck: 'false',
      'aria-label': 'Search modules and operations', 'aria-controls': 'found', 'aria-expanded': 'false', 'aria-autocomplete': 'list',
      input: () => this.update(), keydown: (event) => this.onKey(event as KeyboardEvent),
      blur: () => window.setTimeout(() => this.close(), 150), focus: () => this.update(),
    });
    this.list.hidden = true;
    this.element = h('div', { class: 'finder' }, this.input, this.list);
  }

  private update(): void {
    const found = search(this.app.model, this.input.value);
    this.items = found.items;
    this.at = found.items.length ? 0 : -1;
    const rows = found.items.map((item, i) => this.row(item, i));
    if (this.input.value.trim() && !rows.length) rows.push(h('li', { class: 'hint' }, 'No matching names.'));
    if (found.more) rows.push(h('li', { class: 'hint' }, `and ${found.more} more`));
    this.list.replaceChildren(...rows);
    this.list.hidden = rows.length === 0;
    this.input.setAttribute('aria-expanded', String(rows.length > 0));
    this.mark();
  }

  private row(item: Item, index: number): HTMLElement {
    const { model } = this.app;
    const [name, what] = item.kind === 'module'
      ? [model.module(item.module).path || model.module(item.module).class, model.module(item.module).class]
      : [model.nodeName(item.node), model.op(item.node)];
    return h('li', { role: 'option', id: `found-${index}`, class: item.kind, mousedown: (event) => { event.preventDefault(); this.choose(index); } },
      h('span', { class: 'path' }, visible(shortened(name, 70))), h('span', { class: 'hint' }, visible(what)));
  }

  private onKey(event: KeyboardEvent): void {
    if (event.key === 'ArrowDown') this.at = Math.min(this.at + 1, this.items.length - 1);
    else if (event.key === 'ArrowUp') this.at = Math.max(this.at - 1, 0);
    else if (event.key === 'Enter') this.choose(this.at);
    else if (event.key === 'Escape') this.close();
    else return;
    event.preventDefault();
    this.mark();
  }

  private mark(): void {
    [...this.list.children].forEach((row, i) => row.setAttribute('aria-selected', String(i === this.at)));
    if (this.at >= 0) this.input.setAttribute('aria-activedescendant', `found-${this.at}`);
    this.list.children[this.at]?.scrollIntoView({ block: 'nearest' });
  }

  private choose(index: number): void {
    const item = this.items[index];
    if (!item) return;
    this.close();
    this.app.reveal(item);
  }

  private close(): void {
    this.list.hidden = true;
    this.input.setAttribute('aria-expanded', 'false');
  }
}
