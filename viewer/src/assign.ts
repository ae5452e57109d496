// Corrections: choosing another module for a node or for all alike, the list of corrections, and saving them.
import type { App } from './app';
import { button, h } from './dom';
import { count, visible } from './format';
import { alike } from './overrides';

/** The form under an operation's details. */
export function assignment(app: App, node: number): HTMLElement {
  const { model, overrides } = app;
  const chosen = overrides.of(node);
  const others = alike(model, node);
  const contexts = model.contexts(node).map((context) => context.module).filter((module) => module >= 0);
  const name = (module: number): string => model.module(module).path || model.module(module).tag;
  const input = h('input', {
    type: 'text', id: 'assign-module', list: 'assign-modules', autocomplete: 'off', spellcheck: 'false',
    placeholder: 'path of a module', value: chosen === undefined ? '' : name(chosen),
  });
  // Modules with evidence come first; a longer list would only be slow.
  const suggestions = [...new Set([...contexts, ...model.data.modules.keys()])].slice(0, 2000);
  const list = h('datalist', { id: 'assign-modules' }, ...suggestions.map((module) => h('option', { value: name(module) }, model.module(module).class)));
  const status = h('p', { class: 'hint', role: 'status' });
  const assign = (nodes: number[]): void => {
    const wanted = input.value.trim();
    const module = model.data.modules.findIndex((m) => wanted !== '' && (m.path === wanted || m.tag === wanted));
    if (module < 0) {
      status.textContent = wanted ? 'The model has no such module.' : 'Choose a module first.';
      input.focus();
      return;
    }
    const { changed, skipped } = overrides.assign(node, module, nodes);
    if (skipped) window.setTimeout(() => announce(`${count(changed, 'node')} changed; ${skipped} have no such module in their own layer.`), 0);
  };
  const announce = (text: string): void => {
    const place = document.getElementById('assign-status');
    if (place) place.textContent = text;
  };
  status.id = 'assign-status';
  return h('form', { class: 'assign', submit: (event) => { event.preventDefault(); assign([node]); } },
    h('h3', {}, 'Correct the module'),
    chosen !== undefined && h('p', { class: 'corrected' }, '→ ', h('span', { class: 'path' }, visible(name(chosen)))),
    contexts.length > 0 && h('div', { class: 'chips' }, ...[...new Set(contexts)].slice(0, 4).map((module) => button(
      visible(name(module)), () => { input.value = name(module); }, { class: 'chip' }))),
    h('label', { for: 'assign-module', class: 'visually-hidden' }, 'Module for this node'), input, list,
    h('div', { class: 'actions' }, h('button', { type: 'submit', class: 'primary', id: 'assign-one' }, 'This node'),
      others.length > 1 && button(`All ${others.length} alike`, () => assign(others), {
        id: 'assign-alike', title: 'Nodes of the same type, at the same place in other layers, with the same evidence',
      }),
      chosen !== undefined && button('Undo', () => overrides.remove(node))),
    status);
}

export function download(name: string, text: string): void {
  const link = h('a', { href: URL.createObjectURL(new Blob([text], { type: 'application/json' })), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** All corrections, with buttons to save or clear them. */
export class Corrections {
  readonly element = h('section', { class: 'card', 'aria-labelledby': 'corrections-title' });
  private message = '';

  constructor(private readonly app: App) {
    app.overrides.onChange(() => { this.message = ''; this.draw(); });
    this.draw();
  }

  private draw(): void {
    const { overrides, model } = this.app;
    const { edit, file } = model.data;
    const entries = overrides.entries();
    const text = (): string => `${JSON.stringify(overrides, null, 1)}\n`;
    const title = h('h2', { id: 'corrections-title' }, `Corrections${entries.length ? ` (${entries.length})` : ''}`);
    if (!entries.length) {
      this.element.replaceChildren(title, h('p', { class: 'hint' },
        this.message || 'None yet. Choose an operation, here or in the graph, and give it another module.'));
      return;
    }
    const hint = edit ? `Write them into ${edit.file}, or download them as a separate file.`
      : `Then: htp tag ${file} --overrides overrides.json -o corrected.onnx`;
    this.element.replaceChildren(
      h('div', { class: 'card-head' }, title, h('div', { class: 'controls' },
        edit && button(`Write into ${edit.file}`, () => { void this.write(edit.token); }, { class: 'primary', id: 'write' }),
        button('Download overrides.json', () => download('overrides.json', text()), { class: edit ? '' : 'primary', id: 'download' }),
        button('Clear', () => overrides.clear()))),
      h('p', { class: 'hint', role: 'status', id: 'corrections-status' }, this.message || hint),
      h('ul', { class: 'plain corrections' }, ...entries.slice(0, 200).map(([node, module]) => h('li', {},
        button('✕', () => overrides.remove(node), { class: 'close', 'aria-label': `Remove the correction for ${visible(model.nodeName(node))}` }),
        h('button', { type: 'button', class: 'link', click: () => this.app.select({ kind: 'op', node }) }, visible(model.nodeName(node))),
        h('span', { class: 'path' }, ` → ${visible(model.module(module).path || model.module(module).class)}`))),
      entries.length > 200 && h('li', { class: 'hint' }, `and ${entries.length - 200} more`)));
  }

  private async write(token: string): Promise<void> {
    try {
      const answer = await fetch('overrides', {
        method: 'POST', headers: { 'Content-Type': 'application/json', 'X-HTP-Token': token }, body: JSON.stringify(this.app.overrides),
      });
      const found = await answer.json() as { message: string };
      if (answer.ok) {
        sessionStorage.setItem('htp-message', found.message);
        location.reload();
        return;
      }
      this.message = found.message;
    } catch (error) {
      this.message = `Nothing was written: ${String(error)}. Is 'htp view --edit' still running?`;
    }
    this.draw();
  }
}
