// The metrics of modules: columns of the tree, sizes and colours in the treemap and the graph.
import type { Model } from './model';
import * as format from './format';

export interface Metric {
  key: string;
  label: string;
  title: string; // its meaning in a sentence
  total(module: number): number | null;
  own(module: number): number | null;
  show(value: number): string;
  unknown?(module: number): number; // number of nodes below that the sum lacks
  isSum: boolean; // a treemap can show it by area
}

const sum = (record: Record<string, number>): number => Object.values(record).reduce((a, b) => a + b, 0);

/** All metrics that the document has, in the order of columns. */
export function metricsOf(model: Model): Metric[] {
  const costs = (module: number) => model.module(module).costs;
  const found: Metric[] = [
    {
      key: 'nodes', label: 'Nodes', title: 'Operations of the module and of all modules below it, without constants',
      total: (m) => model.module(m).total_nodes, own: (m) => model.module(m).nodes, show: format.exact, isSum: true,
    },
    {
      key: 'parameters', label: 'Parameters', title: 'Number of parameters, as in PyTorch; shared ones count once',
      total: (m) => costs(m).total_parameters, own: (m) => costs(m).parameters, show: format.short, isSum: true,
    },
    {
      key: 'weight_bytes', label: 'Weights', title: 'Bytes of the weights in the file that its operations read; shared ones count once',
      total: (m) => sum(costs(m).total_weight_bytes), own: (m) => sum(costs(m).weight_bytes), show: format.bytes,
      unknown: (m) => costs(m).unknown.weight_bytes ?? 0, isSum: true,
    },
    {
      key: 'activation_bytes', label: 'Activations', title: 'Bytes of all values that its operations make',
      total: (m) => costs(m).total_activation_bytes, own: (m) => costs(m).activation_bytes, show: format.bytes,
      unknown: (m) => costs(m).unknown.activation_bytes ?? 0, isSum: true,
    },
    {
      key: 'multiply_adds', label: 'Multiply-adds', title: 'Of convolutions, matrix products, attention and recurrent cells',
      total: (m) => costs(m).total_multiply_adds, own: (m) => costs(m).multiply_adds, show: format.short,
      unknown: (m) => costs(m).unknown.multiply_adds ?? 0, isSum: true,
    },
    {
      key: 'confidence', label: 'Confidence', title: 'Mean over its operations and those of the modules below it',
      total: (m) => costs(m).confidence, own: (m) => costs(m).confidence, show: format.confidence, isSum: false,
    },
  ];
  const { profile, diff } = model.data;
  if (profile) {
    found.push({
      key: 'time', label: 'Time', title: `Time of one run, including all modules below it (${profile.source})`,
      total: (m) => profile.total[m], own: (m) => profile.self[m], show: format.milliseconds, isSum: true,
    });
  }
  if (diff) {
    found.push({
      key: 'error', label: 'Error', title: `The largest difference from ${diff.second_file}, as a fraction of the largest value`,
      total: (m) => diff.relative[m], own: (m) => diff.added[m], show: format.error, isSum: true,
    });
  }
  return found;
}

/** A total as text: "≥ 3 M" if some of it is unknown, "?" if all of it is, "–" if there is no figure. */
export function shown(metric: Metric, module: number): string {
  const value = metric.total(module);
  if (value === null) return '–';
  if (metric.unknown?.(module)) return value === 0 ? '?' : `≥ ${metric.show(value)}`;
  return metric.show(value);
}
