// The current selection and its listeners. The address contains the selection, so that a link shows the same.
import type { Item } from './scope';

export type Tab = 'overview' | 'modules' | 'graph' | 'review';
export const TABS: [Tab, string][] = [['overview', 'Overview'], ['modules', 'Modules'], ['graph', 'Graph'], ['review', 'Review']];

export interface State {
  tab: Tab;
  selected: Item | null;
  open: number; // the module that the graph shows
  size: string; // metric keys
  color: string; // 'class', or a metric's key
  dark: boolean;
}

export class Store {
  private listeners: ((state: State, changed: Set<keyof State>) => void)[] = [];

  constructor(public state: State) {}

  onChange(listener: (state: State, changed: Set<keyof State>) => void): void {
    this.listeners.push(listener);
  }

  set(part: Partial<State>): void {
    const changed = new Set<keyof State>();
    for (const key of Object.keys(part) as (keyof State)[]) {
      if (this.state[key] !== part[key]) changed.add(key);
    }
    if (!changed.size) return;
    this.state = { ...this.state, ...part };
    for (const listener of this.listeners) listener(this.state, changed);
  }
}

export function toHash(state: State): string {
  const parts = new URLSearchParams();
  parts.set('tab', state.tab);
  if (state.open) parts.set('open', String(state.open));
  if (state.selected) {
    parts.set(state.selected.kind, String(state.selected.kind === 'op' ? state.selected.node : state.selected.module));
  }
  if (state.size !== 'nodes') parts.set('size', state.size);
  if (state.color !== 'class') parts.set('color', state.color);
  return `#${parts}`;
}

/** The selection in an address, as far as the model has it. */
export function fromHash(hash: string, modules: number, nodes: number, metrics: string[]): Partial<State> {
  const parts = new URLSearchParams(hash.replace(/^#/, ''));
  const number = (key: string, most: number): number | null => {
    const text = parts.get(key);
    const value = Number(text);
    return text && Number.isInteger(value) && value >= 0 && value < most ? value : null;
  };
  const found: Partial<State> = {};
  const tab = parts.get('tab');
  if (TABS.some(([key]) => key === tab)) found.tab = tab as Tab;
  const open = number('open', modules);
  if (open !== null) found.open = open;
  const module = number('module', modules);
  if (module !== null) found.selected = { kind: 'module', module };
  const node = number('op', nodes);
  if (node !== null) found.selected = { kind: 'op', node };
  const size = parts.get('size');
  if (size && metrics.includes(size)) found.size = size;
  const color = parts.get('color');
  if (color && (color === 'class' || metrics.includes(color))) found.color = color;
  return found;
}
