// The module tree as a table: sorting, a filter, equal layers in one row. Only the rows in view exist in the page.
import type { App } from './app';
import { button, h } from './dom';
import { visible } from './format';
import { shown, type Metric } from './metrics';
import { moduleKey, openAll, openAtFirst, rowsOf, type Order, type Row } from './rows';

const ROW_HEIGHT = 28;
const ALL_AT_ONCE = 400; // rows that need no window
const PRINTED = 2000;

export class Tree {
  readonly element: HTMLElement;
  private readonly head = h('thead');
  private readonly body = h('tbody');
  private readonly table = h('table', { class: 'tree', role: 'treegrid', 'aria-label': 'Modules' }, this.head, this.body);
  private readonly scroller = h('div', { class: 'tree-scroll' }, this.table);
  private readonly note = h('span', { class: 'hint', role: 'status' });
  private open: Set<string>;
  private collapse = true;
  private filter = '';
  private order: Order = { metric: null, descending: false };
  private rows: Row[] = [];
  private focused = 0;

  constructor(private readonly app: App) {
    this.open = openAtFirst(app.model, 60);
    const filter = h('input', {
      type: 'search', id: 'tree-filter', placeholder: 'Filter by path or class', 'aria-label': 'Filter modules by path or class',
      input: (event) => { this.filter = (event.target as HTMLInputElement).value.trim(); this.update(); },
    });
    const equal = h('input', {
      type: 'checkbox', id: 'tree-collapse', checked: true,
      change: (event) => { this.collapse = (event.target as HTMLInputElement).checked; this.update(); },
    });
    this.element = h('section', { class: 'card fill', 'aria-labelledby': 'tree-title' },
      h('div', { class: 'card-head' }, h('h2', { id: 'tree-title' }, 'Modules'),
        h('div', { class: 'controls' }, this.note, filter, h('label', { class: 'choice' }, equal, 'equal layers in one row'),
          button('Open all', () => { this.open = openAll(app.model, this.collapse); this.update(); }),
          button('Close all', () => { this.open = new Set([moduleKey(0)]); this.update(); }))),
      this.scroller);
    this.scroller.addEventListener('scroll', () => this.drawRows());
    this.table.addEventListener('keydown', (event) => this.onKey(event));
    app.store.onChange((_, changed) => { if (changed.has('selected')) this.mark(); });
    new ResizeObserver(() => this.drawRows()).observe(this.scroller);
    window.addEventListener('beforeprint', () => this.drawRows(true));
    window.addEventListener('afterprint', () => this.drawRows());
    this.update();
  }

  update(): void {
    this.rows = rowsOf(this.app.model, { open: this.open, collapse: this.collapse, order: this.order, filter: this.filter });
    this.focused = Math.min(this.focused, this.rows.length - 1);
    this.table.setAttribute('aria-rowcount', String(this.rows.length + 1));
    const found = this.filter ? this.rows.length - 1 : null;
    this.note.textContent = found === null ? '' : found === 0 ? 'no module matches' : `${this.rows.length} rows`;
    this.drawHead();
    this.drawRows();
  }

  private drawHead(): void {
    const column = (label: string, title: string, metric: Metric | null, number: boolean): HTMLElement => {
      const chosen = this.order.metric === metric && (metric !== null || this.order.descending);
      const sort = chosen ? (this.order.descending ? 'descending' : 'ascending') : 'none';
      return h('th', { scope: 'col', role: 'columnheader', 'aria-sort': sort, class: number ? 'number' : 'name', title },
        button(`${label}${chosen ? (this.order.descending ? ' ↓' : ' ↑') : ''}`, () => this.sortBy(metric), { class: 'sort', 'data-sort': metric?.key ?? '' }));
    };
    this.head.replaceChildren(h('tr', { role: 'row' }, column('Module', 'In the order of the model', null, false),
      h('th', { scope: 'col', role: 'columnheader', class: 'class' }, 'Class'),
      ...this.app.metrics.map((metric) => column(metric.label, metric.title, metric, true))));
  }

  private sortBy(metric: Metric | null): void {
    if (this.order.metric !== metric) this.order = { metric, descending: metric !== null && metric.key !== 'confidence' };
    else if (metric && this.order.descending === (metric.key === 'confidence')) this.order = { metric: null, descending: false };
    else this.order = { metric, descending: !this.order.descending };
    this.update();
  }

  private drawRows(printing = false): void {
    const count = this.rows.length;
    let [first, last] = [0, Math.min(count, printing ? PRINTED : count)];
    if (!printing && count > ALL_AT_ONCE) {
      first = Math.max(0, Math.floor(this.scroller.scrollTop / ROW_HEIGHT) - 20);
      last = Math.min(count, first + Math.ceil((this.scroller.clientHeight || 600) / ROW_HEIGHT) + 40);
    }
    const space = (rows: number): HTMLElement | false => {
      if (!rows || printing) return false;
      const cell = h('td', { colspan: this.app.metrics.length + 2 });
      cell.style.height = `${rows * ROW_HEIGHT}px`;
      return h('tr', { class: 'space', 'aria-hidden': 'true' }, cell);
    };
    const shownRows = this.rows.slice(first, last).map((row, i) => this.row(row, first + i));
    const parts = [space(first), ...shownRows, space(count - last)].filter((part): part is HTMLElement => part !== false);
    const hadFocus = this.body.contains(document.activeElement);
    this.body.replaceChildren(...parts);
    if (hadFocus) this.focusRow(false);
  }

  private row(row: Row, index: number): HTMLElement {
    const { app } = this;
    const entry = app.model.module(row.module);
    const isOpen = this.filter !== '' || this.open.has(row.key);
    const toggle = row.hasChildren && h('button', {
      type: 'button', class: 'twist', tabindex: -1, 'aria-label': isOpen ? 'close' : 'open',
      click: (event) => { event.stopPropagation(); this.toggle(row); },
    }, isOpen ? '▾' : '▸');
    const indent = h('span', { class: 'indent' });
    indent.style.width = `${row.level * 16 + (row.hasChildren ? 0 : 18)}px`;
    const name = row.count > 1 ? h('span', { class: 'times' }, `${row.count} ×`) : null;
    const element = h('tr', {
      role: 'row', 'aria-level': row.level + 1, 'aria-rowindex': index + 2, 'aria-expanded': row.hasChildren && String(isOpen),
      tabindex: index === this.focused ? 0 : -1, 'data-module': row.module, 'data-path': entry.path, 'data-count': row.count,
      'data-index': index, class: this.isSelected(row.module) && 'selected',
      click: () => { this.focused = index; app.select({ kind: 'module', module: row.module }); },
      dblclick: () => app.openModule(row.module),
    },
    h('th', { scope: 'row', role: 'rowheader', class: 'name' }, indent, toggle, name, h('span', { class: 'path' }, visible(row.label))),
    h('td', { role: 'gridcell', class: 'class' }, visible(entry.class)),
    ...app.metrics.map((metric) => h('td', {
      role: 'gridcell', class: 'number', 'data-metric': metric.key, 'data-value': metric.total(row.module), 'data-own': metric.own(row.module),
    }, shown(metric, row.module))));
    return element;
  }

  private toggle(row: Row): void {
    if (this.open.has(row.key)) this.open.delete(row.key);
    else this.open.add(row.key);
    this.update();
  }

  private isSelected(module: number): boolean {
    const { selected } = this.app.store.state;
    return selected?.kind === 'module' && selected.module === module;
  }

  private mark(): void {
    for (const row of this.body.querySelectorAll('tr[data-module]')) {
      row.classList.toggle('selected', this.isSelected(Number(row.getAttribute('data-module'))));
    }
  }

  private focusRow(scroll = true): void {
    const top = this.focused * ROW_HEIGHT;
    if (scroll && this.rows.length > ALL_AT_ONCE) {
      const { scrollTop, clientHeight } = this.scroller;
      if (top < scrollTop || top > scrollTop + clientHeight - 2 * ROW_HEIGHT) this.scroller.scrollTop = top - clientHeight / 2;
      this.drawRows();
    }
    for (const row of this.body.querySelectorAll<HTMLElement>('tr[data-index]')) {
      const isIt = Number(row.dataset.index) === this.focused;
      row.tabIndex = isIt ? 0 : -1;
      if (isIt) row.focus({ preventScroll: !scroll });
    }
  }

  private onKey(event: KeyboardEvent): void {
    const row = this.rows[this.focused];
    if (!row || !(event.target as Element).closest('tbody')) return;
    const isOpen = this.open.has(row.key);
    const steps: Record<string, () => void> = {
      ArrowDown: () => { this.focused = Math.min(this.focused + 1, this.rows.length - 1); },
      ArrowUp: () => { this.focused = Math.max(this.focused - 1, 0); },
      Home: () => { this.focused = 0; },
      End: () => { this.focused = this.rows.length - 1; },
      ArrowRight: () => { if (row.hasChildren && !isOpen) this.toggle(row); else if (row.hasChildren) this.focused++; },
      ArrowLeft: () => {
        if (isOpen && row.hasChildren) this.toggle(row);
        else while (this.focused > 0 && this.rows[this.focused].level >= row.level) this.focused--;
      },
      Enter: () => this.app.select({ kind: 'module', module: row.module }),
      g: () => this.app.openModule(row.module),
    };
    const step = steps[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    step();
    if (event.key !== 'g') this.focusRow();
  }
}
