// Numbers and names for people.

/** 1234567 as "1.23 M", with three significant digits. */
export function short(value: number): string {
  for (const [power, letter] of [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']] as const) {
    if (Math.abs(value) >= power) return `${trimmed(value / power)}\u202f${letter}`;
  }
  return Number.isInteger(value) ? String(value) : trimmed(value);
}

function trimmed(value: number): string {
  const text = Number(value.toPrecision(3));
  return String(text);
}

export function exact(value: number): string {
  return value.toLocaleString('en-US').replaceAll(',', '\u202f');
}

export const bytes = (value: number): string => (value < 1000 ? `${value} B` : `${short(value)}B`);
export const percent = (value: number): string => `${(100 * value).toFixed(1)} %`;
export const milliseconds = (microseconds: number): string => `${(microseconds / 1000).toFixed(3)} ms`;
export const confidence = (value: number): string => value.toFixed(3);
/** 0.78 and 3.1 as they are, 4.2e-5 in scientific notation. */
export function error(value: number): string {
  if (value === 0) return '0';
  return value >= 0.01 && value < 1000 ? String(Number(value.toPrecision(2))) : value.toExponential(1);
}

export function count(number: number, what: string): string {
  return `${exact(number)} ${what}${number === 1 ? '' : 's'}`;
}

/** Escapes control characters in names, including those that reverse the direction of text. */
export function visible(name: string): string {
  return name.replace(/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]/gu,
    (c) => `\\u{${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}}`);
}

/** Shortens a long text in the middle. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = Math.ceil((most - 1) / 2);
  return `${text.slice(0, head)}…${text.slice(text.length - (most - 1 - head))}`;
}

/** The beginning of a long text. */
export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1))}…`;
}
