// What all parts of the page share: the model, its metrics, the selection, and navigation.
import { byClass, byMetric, type Coloring } from './color';
import { metricsOf, type Metric } from './metrics';
import type { Model } from './model';
import { Overrides } from './overrides';
import type { Item } from './scope';
import type { Store } from './state';

export class App {
  readonly metrics: Metric[];
  readonly overrides: Overrides;
  private coloring: { key: string; value: Coloring } | null = null;

  constructor(readonly model: Model, readonly store: Store) {
    this.metrics = metricsOf(model);
    this.overrides = new Overrides(model);
  }

  metric(key: string): Metric {
    return this.metrics.find((metric) => metric.key === key) ?? this.metrics[0];
  }

  get colors(): Coloring {
    const { color, dark } = this.store.state;
    const key = `${color} ${dark}`;
    if (this.coloring?.key !== key) {
      const theme = dark ? 'dark' : 'light';
      this.coloring = { key, value: color === 'class' ? byClass(this.model) : byMetric(this.model, this.metric(color), theme) };
    }
    return this.coloring.value;
  }

  colorChoices(): [string, string][] {
    const keys = ['confidence', 'multiply_adds', 'parameters', 'time', 'error'];
    const metrics = this.metrics.filter((metric) => keys.includes(metric.key));
    return [['class', 'class'], ...metrics.map((m): [string, string] => [m.key, m.label.toLowerCase()])];
  }

  select(item: Item | null): void {
    this.store.set({ selected: item });
  }

  /** Shows an item in the graph: opens the module around it and selects it. */
  reveal(item: Item): void {
    const { model } = this;
    let open = item.kind === 'op' ? model.moduleOf(item.node) : model.module(item.module).parent;
    while (open > 0 && model.isContainer(open)) open = model.module(open).parent;
    this.store.set({ tab: 'graph', open: Math.max(0, open), selected: item });
  }

  openModule(module: number): void {
    this.store.set({ tab: 'graph', open: module, selected: { kind: 'module', module } });
  }
}
