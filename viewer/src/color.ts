// Colours of modules: by class, or along a scale that starts near the background. Text on them is dark or light, whichever is readable.
import type { Model } from './model';
import type { Metric } from './metrics';

const CLASSES = ['#7a9cc6', '#e0a458', '#82b38a', '#b790b8', '#7fbcb8', '#d6c26a', '#d98880', '#a98f7c', '#8d93c7', '#c98fa9', '#9bb86b', '#c7a17a'];
const OTHER = '#b4b8bf';
const NONE = { light: '#d3d6db', dark: '#454b53' };
// From low to high; readable without telling red from green.
const SCALES = {
  light: ['#dfe7ee', '#c5d8e6', '#f2d7a8', '#eaa96b', '#d9764f', '#b64a43'],
  dark: ['#2b3947', '#3c566d', '#85713f', '#b98748', '#d9764f', '#e8695f'],
};
export type Theme = keyof typeof SCALES;

export interface Legend {
  label: string;
  color: string;
}

export interface Coloring {
  color(module: number): string;
  legend: Legend[];
}

/** The classes with the most operations get a colour each; lists of modules need none. */
export function byClass(model: Model): Coloring {
  const counts = new Map<string, number>();
  model.data.modules.forEach((m, i) => {
    if (m.total_nodes && !model.isContainer(i)) counts.set(m.class, (counts.get(m.class) ?? 0) + m.nodes + m.total_nodes);
  });
  const ranked = [...counts].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  const colors = new Map(ranked.slice(0, CLASSES.length).map((name, i) => [name, CLASSES[i]]));
  const legend = [...colors].map(([label, color]) => ({ label, color }));
  if (ranked.length > CLASSES.length) legend.push({ label: 'other classes', color: OTHER });
  return { color: (m) => colors.get(model.module(m).class) ?? OTHER, legend };
}

/** Along a scale: high values are warm, but for confidence low ones, because they deserve a look. */
export function byMetric(model: Model, metric: Metric, theme: Theme = 'light'): Coloring {
  const low = metric.key === 'confidence';
  const values = model.data.modules.map((_, m) => (low ? metric.total(m) : metric.own(m)));
  const most = Math.max(...values.map((v) => v ?? 0), 0);
  const part = (value: number): number => {
    if (low) return Math.min(1, Math.max(0, 2 * (1 - value)));
    return most > 0 ? Math.sqrt(value / most) : 0;
  };
  const legend = [0, 0.5, 1].map((at) => ({
    label: low ? (1 - at / 2).toFixed(2) : metric.show(most * at * at), color: scale(at, theme),
  }));
  return { color: (m) => { const v = values[m]; return v === null ? NONE[theme] : scale(part(v), theme); }, legend };
}

export function scale(part: number, theme: Theme = 'light'): string {
  const steps = SCALES[theme];
  const at = Math.min(1, Math.max(0, part)) * (steps.length - 1);
  const index = Math.min(Math.floor(at), steps.length - 2);
  return mixed(steps[index], steps[index + 1], at - index);
}

function channels(color: string): number[] {
  return [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
}

function mixed(first: string, second: string, part: number): string {
  const [a, b] = [channels(first), channels(second)];
  const parts = a.map((value, i) => Math.round(value + (b[i] - value) * part));
  return `#${parts.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

/** Dark or light text, whichever stands out more. */
export function textOn(color: string): string {
  const [r, g, b] = channels(color).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.25 ? '#16202c' : '#ffffff';
}
