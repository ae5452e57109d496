// The treemap: a module's area is its cost, and the modules below it are inside.
import { hierarchy, treemap, treemapSquarify, type HierarchyRectangularNode } from 'd3-hierarchy';
import type { App } from './app';
import { textOn } from './color';
import { button, choice, h, onActivate, svg } from './dom';
import { cut, visible } from './format';
import { shown, type Metric } from './metrics';
import type { Model } from './model';
import { below } from './rows';

export interface Cell {
  module: number;
  own: boolean; // the operations of a module itself, beside those of the modules below it
  children: Cell[];
  value: number;
}

/** The tree of cells below a module. A module's own operations are a separate cell if there are others beside it. */
export function cellsOf(model: Model, module: number, metric: Metric): Cell {
  const children = below(model, module).map((child) => cellsOf(model, child, metric)).filter((cell) => totalOf(cell) > 0);
  const own = metric.own(module) ?? 0;
  if (!children.length) return { module, own: false, children, value: own };
  if (own > 0) children.push({ module, own: true, children: [], value: own });
  return { module, own: false, children, value: 0 };
}

function totalOf(cell: Cell): number {
  return cell.value + cell.children.reduce((sum, child) => sum + totalOf(child), 0);
}

const SMALLEST = 5; // pixels: smaller cells cannot be distinguished or clicked
const HEAD = 18;

export class Treemap {
  readonly element: HTMLElement;
  private readonly picture = svg('svg', { class: 'treemap', role: 'group', 'aria-label': 'Treemap of modules' });
  private readonly path = h('nav', { class: 'crumbs', 'aria-label': 'Module shown in the treemap' });
  private readonly legend = h('div', { class: 'legend', 'aria-label': 'Colours' });
  private readonly controls = h('div', { class: 'controls' });
  private top = 0;

  constructor(private readonly app: App) {
    this.element = h('section', { class: 'card', 'aria-labelledby': 'treemap-title' },
      h('div', { class: 'card-head' }, h('h2', { id: 'treemap-title' }, 'Where it goes'), this.controls),
      this.path, this.picture, this.legend);
    app.store.onChange((_, changed) => {
      if (changed.has('size') || changed.has('color') || changed.has('dark')) this.draw();
      else if (changed.has('selected')) this.mark();
    });
    new ResizeObserver(() => this.draw()).observe(this.picture);
  }

  private drawControls(): void {
    const { app } = this;
    const sizes = app.metrics.filter((m) => m.isSum && (m.own(0) !== null || m.total(0) !== null));
    this.controls.replaceChildren(
      choice('Size', sizes.map((m) => [m.key, m.label.toLowerCase()]), app.store.state.size,
        (size) => app.store.set({ size }), 'treemap-size'),
      choice('Colour', app.colorChoices(), app.store.state.color, (color) => app.store.set({ color }), 'treemap-color'));
  }

  zoom(module: number): void {
    this.top = module;
    this.draw();
  }

  draw(): void {
    const { app } = this;
    const { model } = app;
    const width = this.picture.clientWidth;
    const height = this.picture.clientHeight;
    if (!width || !height) return;
    this.drawControls();
    this.drawPath();
    const metric = app.metric(app.store.state.size);
    const root = hierarchy<Cell>(cellsOf(model, this.top, metric), (cell) => cell.children).sum((cell) => cell.value)
      .sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
    if (!root.value) {
      this.picture.replaceChildren(svg('text', { x: width / 2, y: height / 2, 'text-anchor': 'middle', class: 'empty' },
        `No module has ${metric.label.toLowerCase()} here.`));
      return;
    }
    const placed = treemap<Cell>().size([width, height]).tile(treemapSquarify.ratio(1.3)).round(true)
      .paddingInner(1.5).paddingOuter(2).paddingTop((node) => (roomFor(node) ? HEAD : 2))(root);
    const cells: SVGElement[] = [];
    const pending = [placed];
    while (pending.length) {
      const node = pending.pop()!;
      const inside = (node.children ?? []).filter((c) => c.x1 - c.x0 >= SMALLEST && c.y1 - c.y0 >= SMALLEST);
      cells.push(this.cell(node, metric, inside.length === 0));
      pending.push(...inside.reverse());
    }
    this.picture.setAttribute('viewBox', `0 0 ${width} ${height}`);
    this.picture.replaceChildren(...cells);
    this.legend.replaceChildren(...app.colors.legend.map(({ label, color }) => {
      const box = h('span', { class: 'swatch' });
      box.style.background = color;
      return h('span', { class: 'legend-item' }, box, visible(label));
    }));
    this.mark();
  }

  private drawPath(): void {
    const { model } = this.app;
    this.path.replaceChildren(...model.stack(this.top).filter((m) => m === this.top || !model.isContainer(m)).map((module) => {
      const label = model.shortName(module) || model.module(module).class;
      return button(visible(label), () => this.zoom(module), { 'aria-current': module === this.top && 'true' });
    }));
    this.path.hidden = this.top === 0;
  }

  private cell(node: HierarchyRectangularNode<Cell>, metric: Metric, isLeaf: boolean): SVGElement {
    const { app } = this;
    const { model } = app;
    const { module, own } = node.data;
    const entry = model.module(module);
    const color = this.app.colors.color(module);
    const name = model.shortName(module, node.parent ? node.parent.data.module : undefined) || entry.class;
    const width = node.x1 - node.x0;
    const letters = Math.floor((width - 10) / 6.9);
    const full = name === entry.class ? name : `${name}: ${entry.class}`;
    const label = own ? 'own ops' : visible(full).length <= letters ? full : name;
    const amount = own ? metric.show(metric.own(module) ?? 0) : shown(metric, module);
    const height = node.y1 - node.y0;
    const rx = Math.min(3, width / 6, height / 6); // small ones stay boxes
    const box = svg('rect', { width, height, rx, class: isLeaf ? 'leaf' : 'branch' });
    if (isLeaf || app.store.state.color === 'class') box.style.fill = color;
    const group = svg('g', {
      class: 'cell', transform: `translate(${node.x0},${node.y0})`, tabindex: 0, role: 'button', 'data-module': module,
      'aria-label': `${visible(entry.path || entry.class)}, ${visible(entry.class)}, ${metric.label} ${amount}`,
      click: (event) => { event.stopPropagation(); this.app.select({ kind: 'module', module }); },
      dblclick: (event) => { event.stopPropagation(); this.zoom(module); },
      keydown: onActivate(() => (this.isSelected(module) ? this.zoom(module) : this.app.select({ kind: 'module', module }))),
    }, box, svg('title', {}, `${visible(entry.path || entry.class)}\n${visible(entry.class)}\n${metric.label}: ${amount}`));
    if (width > 40 && node.y1 - node.y0 > 14) {
      const text = svg('text', { x: 6, y: 13 }, cut(visible(label), letters));
      text.style.fill = isLeaf ? textOn(color) : '';
      group.append(text);
      if (isLeaf && node.y1 - node.y0 > 30 && amount.length <= letters) {
        const more = svg('text', { x: 6, y: 27, class: 'amount' }, amount);
        more.style.fill = textOn(color);
        group.append(more);
      }
    }
    return group;
  }

  private isSelected(module: number): boolean {
    const { selected } = this.app.store.state;
    return selected?.kind === 'module' && selected.module === module;
  }

  private mark(): void {
    for (const cell of this.picture.querySelectorAll('.cell')) {
      cell.classList.toggle('selected', this.isSelected(Number(cell.getAttribute('data-module'))));
    }
  }
}

function roomFor(node: HierarchyRectangularNode<Cell>): boolean {
  return node.x1 - node.x0 > 50 && node.y1 - node.y0 > 34;
}
