// Elements without markup: names of a model only ever become text nodes and attributes.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | EventListener>;

const SVG = 'http://www.w3.org/2000/svg';

function filled<T extends Element>(element: T, attributes: Attributes, children: Child[]): T {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children) {
    if (child || child === '') element.append(child);
  }
  return element;
}

/** `h('button', { class: 'x', click: run }, 'text')`; functions are listeners. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  return filled(document.createElement(tag), attributes, children);
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]
): SVGElementTagNameMap[K] {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

export function button(label: string, run: () => void, attributes: Attributes = {}): HTMLButtonElement {
  return h('button', { type: 'button', ...attributes, click: () => run() }, label);
}

export function choice(
  label: string, options: [value: string, text: string][], chosen: string, change: (value: string) => void, id: string,
): HTMLElement {
  const select = h('select', { id, change: (event) => change((event.target as HTMLSelectElement).value) },
    ...options.map(([value, text]) => h('option', { value, selected: value === chosen }, text)));
  return h('label', { class: 'choice' }, h('span', {}, label), select);
}

/** Enter and the space bar do what a click does. */
export function onActivate(run: () => void): EventListener {
  return (event) => {
    const { key } = event as KeyboardEvent;
    if (key === 'Enter' || key === ' ') {
      event.preventDefault();
      event.stopPropagation();
      run();
    }
  };
}

/** A long name in which a line may break after a dot, a slash or an underscore. */
export function breakable(name: string): DocumentFragment {
  const parts = document.createDocumentFragment();
  for (const part of name.split(/(?<=[./_])/)) parts.append(part, document.createElement('wbr'));
  return parts;
}
