// The graph view: a module's children as boxes that open in place, down to operations. Zoom, pan, keys.
import type { App } from './app';
import { textOn } from './color';
import { button, choice, h, onActivate, svg } from './dom';
import { count, shortened, visible } from './format';
import { HEAD, pathThrough, planOf, type Box, type Plan } from './layout';
import { itemKey, MOST_ITEMS, neighbours, openedAtFirst, startFor, type Item, type Neighbour } from './scope';

const LETTER = 7.4;
const SMALL_LETTER = 6.6;
const SIDES = 6; // neighbours that are named on each side

export class GraphView {
  readonly element: HTMLElement;
  private readonly crumbs = h('nav', { class: 'crumbs', 'aria-label': 'Module shown in the graph' });
  private readonly scene = svg('g');
  private readonly picture: SVGSVGElement;
  private readonly note = h('span', { class: 'hint', role: 'status' });
  private readonly sides = { producers: h('div', { class: 'side' }), consumers: h('div', { class: 'side' }) };
  private readonly controls = h('div', { class: 'controls' });
  private inside = new Set<number>();
  private starts = new Map<number, number>();
  private zoom = { x: 0, y: 0, scale: 1 };
  private plan: Plan | null = null;
  private shown = -1;
  private places = new Map<string, { x: number; y: number; width: number; height: number }>();

  constructor(private readonly app: App) {
    const arrow = svg('marker', { id: 'arrow', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, markerUnits: 'userSpaceOnUse', orient: 'auto' },
      svg('path', { d: 'M0,0L8,4L0,8z', class: 'arrow' }));
    this.picture = svg('svg', {
      class: 'graph', role: 'group', 'aria-label': 'Graph. Tab moves between boxes, Enter opens, plus and minus zoom, arrows move.',
    }, svg('defs', {}, arrow), this.scene);
    this.element = h('section', { class: 'card fill', 'aria-label': 'Graph' },
      h('div', { class: 'card-head' }, this.crumbs, this.controls),
      h('div', { class: 'graph-frame' }, this.sides.producers, this.picture, this.sides.consumers));
    this.listen();
    app.store.onChange((state, changed) => {
      if (state.tab !== 'graph') return;
      if (changed.has('open') || changed.has('tab') || (changed.has('color') || changed.has('dark'))) this.show(changed.has('open'));
      else if (changed.has('selected')) this.select();
    });
  }

  /** Draws the graph for the current state; `fresh` closes boxes that were opened inside another module. */
  show(fresh = false): void {
    const { open, selected } = this.app.store.state;
    if (fresh || this.shown !== open) {
      this.inside = open === 0 ? openedAtFirst(this.app.model) : new Set();
      this.starts.clear();
    }
    if (selected && (fresh || this.shown !== open)) this.starts.set(open, startFor(this.app.model, open, selected));
    const moved = this.shown !== open;
    this.shown = open;
    this.draw();
    if (moved) this.fit();
    this.select();
  }

  private draw(): void {
    const { app } = this;
    const begin = performance.now();
    const measure = (item: Item, isOpen: boolean): { width: number; height: number } => {
      const [first, second] = this.labels(item, this.shown);
      const width = isOpen ? (first.length + second.length + 2) * LETTER + 30
        : Math.max(first.length * LETTER, second.length * SMALL_LETTER) + 24;
      if (isOpen) return { width: Math.min(420, width), height: 0 };
      return { width: Math.min(280, Math.max(70, Math.ceil(width))), height: second ? 42 : 26 };
    };
    this.plan = planOf(app.model, this.shown, { modules: this.inside, starts: this.starts }, measure);
    this.places.clear();
    this.scene.replaceChildren(...this.contents(this.plan, 0, 0));
    this.picture.dataset.milliseconds = (performance.now() - begin).toFixed(0);
    this.drawCrumbs();
    this.drawControls();
    this.drawSide('producers', 'from');
    this.drawSide('consumers', 'to');
  }

  private labels(item: Item, above: number): [string, string] {
    const { model } = this.app;
    if (item.kind === 'op') {
      const types = model.types(item.node);
      return [visible(model.op(item.node)), visible(types)];
    }
    const entry = model.module(item.module);
    const nodes = count(entry.total_nodes, 'op');
    return [visible(model.shortName(item.module, above) || entry.class), `${visible(entry.class)} · ${nodes}`];
  }

  private contents(plan: Plan, left: number, top: number): SVGElement[] {
    const lines = plan.lines.map((line) => svg('path', {
      class: 'edge', d: pathThrough(line.points), 'data-from': line.from, 'data-to': line.to, 'marker-end': 'url(#arrow)',
    }));
    return [...lines, ...plan.boxes.map((box) => this.box(box, plan, left, top))];
  }

  private box(box: Box, plan: Plan, left: number, top: number): SVGElement {
    const { item, width, height } = box;
    const [first, second] = this.labels(item, plan.scope.module);
    const { x, y } = box;
    this.places.set(box.key, { x: left + x, y: top + y, width, height });
    const isModule = item.kind === 'module';
    const color = isModule ? this.app.colors.color(item.module) : null;
    const frame = svg('rect', { width, height, rx: isModule ? 7 : 13 });
    if (color && !box.inside) frame.style.fill = color;
    if (color && box.inside) frame.style.stroke = color;
    const letters = Math.floor((width - 20) / LETTER);
    const title = svg('text', { x: box.inside ? 12 : width / 2, y: second && !box.inside ? 18 : box.inside ? 19 : 17, class: 'label', 'text-anchor': box.inside ? 'start' : 'middle' },
      shortened(box.inside ? `${first}: ${second}` : first, letters + (box.inside ? 6 : 0)));
    const more = second && !box.inside && svg('text', { x: width / 2, y: 33, class: 'amount', 'text-anchor': 'middle' }, shortened(second, Math.floor((width - 20) / SMALL_LETTER)));
    if (color && !box.inside) for (const text of [title, more]) if (text) text.style.fill = textOn(color);
    const name = isModule ? this.app.model.module(item.module).path : this.app.model.nodeName(item.node);
    const parts: SVGElement[] = box.inside ? this.contents(box.inside, left + x + this.shift(box), top + y + HEAD) : [];
    const inner = box.inside && svg('g', { transform: `translate(${this.shift(box)},${HEAD})` }, ...parts);
    return svg('g', {
      class: `box ${item.kind}${box.inside ? ' open' : ''}`, transform: `translate(${x},${y})`, tabindex: 0, role: 'button',
      'data-key': box.key, 'aria-label': `${first}, ${second}`, 'aria-expanded': isModule ? String(box.inside !== null) : null,
      click: (event) => { event.stopPropagation(); this.app.select(item); },
      dblclick: (event) => { event.stopPropagation(); this.toggle(item); },
      keydown: onActivate(() => { this.app.select(item); this.toggle(item); this.focus(box.key); }),
    }, frame, svg('title', {}, visible(name)), title, more, inner, box.inside && this.pager(box.inside, width));
  }

  private shift(box: Box): number {
    return box.inside ? (box.width - box.inside.width) / 2 : 0;
  }

  /** For a module with more items than are shown at once: which of them are shown. */
  private pager(plan: Plan, width: number): SVGElement | null {
    const { scope } = plan;
    if (!scope.hidden) return null;
    const text = `${scope.start + 1}–${scope.start + scope.items.length} of ${scope.all}`;
    return svg('text', { x: width - 12, y: 19, class: 'amount', 'text-anchor': 'end' }, text);
  }

  private toggle(item: Item): void {
    if (item.kind === 'op') return;
    if (this.inside.has(item.module)) this.inside.delete(item.module);
    else this.inside.add(item.module);
    this.draw();
    this.select();
  }

  private focus(key: string): void {
    for (const box of this.scene.querySelectorAll<SVGElement>('.box')) if (box.dataset.key === key) box.focus();
  }

  private drawCrumbs(): void {
    const { model } = this.app;
    const stack = model.stack(this.shown).filter((m) => m === this.shown || !model.isContainer(m));
    this.crumbs.replaceChildren(...stack.map((module, i) => {
      const label = i ? model.shortName(module, stack[i - 1]) : model.module(module).class;
      return button(visible(label), () => this.app.openModule(module), { 'aria-current': module === this.shown && 'true' });
    }));
  }

  private drawControls(): void {
    const scope = this.plan!.scope;
    const step = (by: number): void => {
      this.starts.set(this.shown, Math.max(0, scope.start + by));
      this.draw();
      this.fit();
    };
    const pages: (HTMLElement | false)[] = scope.hidden ? [
      button('‹', () => step(-MOST_ITEMS), { 'aria-label': 'Earlier items', disabled: scope.start === 0 }),
      h('span', { class: 'hint' }, `${scope.start + 1}–${scope.start + scope.items.length} of ${scope.all}`),
      button('›', () => step(MOST_ITEMS), { 'aria-label': 'Later items', disabled: scope.start + MOST_ITEMS >= scope.all }),
    ] : [];
    this.note.textContent = 'Double-click a box or press Enter to open it.';
    this.controls.replaceChildren(this.note, ...pages.filter((part): part is HTMLElement => part !== false),
      choice('Colour', this.app.colorChoices(), this.app.store.state.color, (color) => this.app.store.set({ color }), 'graph-color'),
      button('−', () => this.zoomBy(0.8), { 'aria-label': 'Zoom out' }), button('+', () => this.zoomBy(1.25), { 'aria-label': 'Zoom in' }),
      button('Fit', () => this.fit(), { 'aria-label': 'Show all' }));
  }

  private drawSide(side: 'producers' | 'consumers', word: string): void {
    const { model } = this.app;
    const found = this.shown === 0 ? [] : neighbours(model, this.shown, side);
    const name = ({ item }: Neighbour): string => (item.kind === 'module' ? model.module(item.module).path : model.op(item.node));
    const more = found.length - SIDES;
    this.sides[side].replaceChildren(...found.slice(0, SIDES).map((other) => button(
      shortened(visible(name(other)), 48), () => this.app.reveal(other.item), { class: 'neighbour', title: visible(name(other)), 'data-key': itemKey(other.item) })),
    ...(more > 0 ? [h('span', { class: 'hint' }, `and ${more} more`)] : []));
    this.sides[side].prepend(...(found.length ? [h('span', { class: 'hint' }, word)] : []));
    this.sides[side].hidden = found.length === 0;
  }

  /** Marks the selected item and its edges, and brings it into view. */
  private select(): void {
    const { selected } = this.app.store.state;
    const key = selected ? itemKey(selected) : '';
    for (const box of this.scene.querySelectorAll<SVGElement>('.box')) box.classList.toggle('selected', box.dataset.key === key);
    for (const edge of this.scene.querySelectorAll<SVGElement>('.edge')) {
      edge.classList.toggle('into', edge.dataset.to === key);
      edge.classList.toggle('out', edge.dataset.from === key);
    }
    const place = this.places.get(key);
    if (place && !this.isInView(place)) this.center(place);
  }

  private isInView({ x, y, width, height }: { x: number; y: number; width: number; height: number }): boolean {
    const { scale } = this.zoom;
    const [left, top] = [x * scale + this.zoom.x, y * scale + this.zoom.y];
    return left >= 0 && top >= 0 && left + width * scale <= this.picture.clientWidth && top + height * scale <= this.picture.clientHeight;
  }

  private center({ x, y, width, height }: { x: number; y: number; width: number; height: number }): void {
    const scale = Math.max(this.zoom.scale, 0.8);
    this.move(this.picture.clientWidth / 2 - (x + width / 2) * scale, this.picture.clientHeight / 2 - (y + height / 2) * scale, scale);
  }

  fit(): void {
    if (!this.plan) return;
    const [width, height] = [this.picture.clientWidth, this.picture.clientHeight];
    if (!width || !height) return;
    const whole = Math.min(width / this.plan.width, height / this.plan.height);
    const scale = Math.min(1.1, Math.max(whole, 0.75)); // smaller text would be unreadable
    const tall = this.plan.height * scale > height;
    this.move((width - this.plan.width * scale) / 2, tall ? 8 : (height - this.plan.height * scale) / 2, scale);
  }

  private move(x: number, y: number, scale: number): void {
    this.zoom = { x, y, scale };
    this.scene.setAttribute('transform', `translate(${x.toFixed(1)},${y.toFixed(1)}) scale(${scale.toFixed(4)})`);
  }

  private zoomBy(factor: number, at?: { x: number; y: number }): void {
    const { x, y, scale } = this.zoom;
    const next = Math.min(4, Math.max(0.04, scale * factor));
    const center = at ?? { x: this.picture.clientWidth / 2, y: this.picture.clientHeight / 2 };
    this.move(center.x - (center.x - x) * (next / scale), center.y - (center.y - y) * (next / scale), next);
  }

  private listen(): void {
    this.picture.addEventListener('wheel', (event) => {
      event.preventDefault();
      const bounds = this.picture.getBoundingClientRect();
      const at = { x: event.clientX - bounds.left, y: event.clientY - bounds.top };
      if (event.ctrlKey || !event.shiftKey) this.zoomBy(Math.exp(-event.deltaY * 0.0015), at);
    }, { passive: false });
    let from: { x: number; y: number } | null = null;
    this.picture.addEventListener('pointerdown', (event) => {
      if (event.button === 0) from = { x: event.clientX - this.zoom.x, y: event.clientY - this.zoom.y };
    });
    window.addEventListener('pointermove', (event) => {
      if (!from) return;
      const [x, y] = [event.clientX - from.x, event.clientY - from.y];
      if (Math.hypot(x - this.zoom.x, y - this.zoom.y) > 3) this.picture.classList.add('moving');
      if (this.picture.classList.contains('moving')) this.move(x, y, this.zoom.scale);
    });
    window.addEventListener('pointerup', () => { from = null; this.picture.classList.remove('moving'); });
    this.picture.addEventListener('keydown', (event) => {
      const steps: Record<string, () => void> = {
        '+': () => this.zoomBy(1.25), '=': () => this.zoomBy(1.25), '-': () => this.zoomBy(0.8), 0: () => this.fit(),
        ArrowLeft: () => this.move(this.zoom.x + 60, this.zoom.y, this.zoom.scale),
        ArrowRight: () => this.move(this.zoom.x - 60, this.zoom.y, this.zoom.scale),
        ArrowUp: () => this.move(this.zoom.x, this.zoom.y + 60, this.zoom.scale),
        ArrowDown: () => this.move(this.zoom.x, this.zoom.y - 60, this.zoom.scale),
        Backspace: () => { const { parent } = this.app.model.module(this.shown); if (parent >= 0) this.app.openModule(parent); },
      };
      const step = steps[event.key];
      if (!step || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      step();
    });
    let known = 0;
    new ResizeObserver(() => {
      const width = this.picture.clientWidth;
      if (!width || !this.plan) return;
      // Keep the centre in place, so that the position is not lost when the details open.
      if (known) this.move(this.zoom.x + (width - known) / 2, this.zoom.y, this.zoom.scale);
      else this.fit();
      known = width;
    }).observe(this.picture);
  }
}
