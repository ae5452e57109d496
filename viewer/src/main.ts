// The page: reads the document embedded in it, assembles the parts, and signals when it is ready.
import { App } from './app';
import { Details } from './details';
import { button, h } from './dom';
import { Finder } from './finder';
import { visible } from './format';
import { GraphView } from './graph';
import { metricsOf } from './metrics';
import { Model, type Document } from './model';
import { Review } from './review';
import { facts, summary } from './summary';
import { fromHash, Store, TABS, toHash, type Tab } from './state';
import { Tree } from './tree';
import { Treemap } from './treemap';

const THEMES = ['auto', 'light', 'dark'] as const;

/** Local storage, which a browser may deny to a local file. */
function remembered(key: string, value?: string): string | null {
  try {
    if (value !== undefined) localStorage.setItem(key, value);
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

const system = matchMedia('(prefers-color-scheme: dark)');

/** Whether the page is dark: as chosen by the button, else as the system is. */
function isDark(): boolean {
  const { theme } = document.documentElement.dataset;
  return theme ? theme === 'dark' : system.matches;
}

function themeButton(changed: () => void): HTMLButtonElement {
  let theme = THEMES.find((name) => name === remembered('htp-theme')) ?? 'auto';
  const show = (): void => {
    if (theme === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    element.textContent = { auto: '◐ Auto', light: '☀ Light', dark: '☾ Dark' }[theme];
  };
  const element = button('', () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    remembered('htp-theme', theme);
    show();
    changed();
  }, { id: 'theme', title: 'Light or dark' });
  show();
  return element;
}

function start(): void {
  const data = JSON.parse(document.getElementById('data')!.textContent!) as Document;
  const model = new Model(data);
  const keys = metricsOf(model).map((metric) => metric.key);
  const store = new Store({
    tab: 'overview', selected: null, open: 0, size: 'nodes', color: 'class', dark: false,
    ...fromHash(location.hash, data.modules.length, model.nodeCount, keys),
  });
  const app = new App(model, store);
  const theme = themeButton(() => store.set({ dark: isDark() }));
  store.set({ dark: isDark() });
  system.addEventListener('change', () => store.set({ dark: isDark() }));
  const name = model.module(0).class || data.file;
  document.title = `${visible(name)} · HTP`;

  const treemap = new Treemap(app);
  const graph = new GraphView(app);
  const pages: Record<Tab, HTMLElement> = {
    overview: h('div', { class: 'page' }, summary(app), treemap.element, facts(app)),
    modules: h('div', { class: 'page fill' }, new Tree(app).element),
    graph: h('div', { class: 'page fill' }, graph.element),
    review: new Review(app).element,
  };
  const finder = new Finder(app);
  const tabs = TABS.map(([key, label]) => h('button', {
    type: 'button', role: 'tab', id: `tab-${key}`, 'aria-controls': `page-${key}`, click: () => store.set({ tab: key }),
    keydown: (event) => moveTab(event as KeyboardEvent, key),
  }, key === 'review' && data.unsure.length ? `${label} (${data.unsure.length})` : label));

  function moveTab(event: KeyboardEvent, from: Tab): void {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const at = (TABS.findIndex(([key]) => key === from) + step + TABS.length) % TABS.length;
    store.set({ tab: TABS[at][0] });
    tabs[at].focus();
  }

  for (const [key] of TABS) {
    Object.assign(pages[key], { id: `page-${key}` });
    pages[key].setAttribute('role', 'tabpanel');
    pages[key].setAttribute('aria-labelledby', `tab-${key}`);
  }
  const showTab = (): void => {
    TABS.forEach(([key], i) => {
      const chosen = store.state.tab === key;
      tabs[i].setAttribute('aria-selected', String(chosen));
      tabs[i].tabIndex = chosen ? 0 : -1;
      pages[key].classList.toggle('away', !chosen);
    });
  };
  const main = h('main', {}, ...TABS.map(([key]) => pages[key]));
  document.getElementById('app')!.replaceChildren(
    h('header', {},
      h('div', { class: 'title' }, h('h1', {}, visible(name)), h('span', { class: 'file' }, visible(data.file))),
      h('div', { role: 'tablist', 'aria-label': 'Views', class: 'tabs' }, ...tabs),
      finder.element, theme),
    h('div', { class: 'body' }, main, new Details(app).element));
  store.onChange(showTab);
  store.onChange((state) => history.replaceState(null, '', toHash(state)));
  window.addEventListener('hashchange', () => store.set(fromHash(location.hash, data.modules.length, model.nodeCount, keys)));
  document.addEventListener('keydown', (event) => {
    const typing = (event.target as Element).closest('input, select, textarea');
    if (event.key === '/' && !typing) { event.preventDefault(); finder.input.focus(); }
    if (event.key === 'Escape' && !typing) app.select(null);
  });
  showTab();
  treemap.draw();
  if (store.state.tab === 'graph') graph.show(true);
  const message = data.edit && sessionStorage.getItem('htp-message');
  if (message) {
    sessionStorage.removeItem('htp-message');
    main.prepend(h('p', { class: 'banner', role: 'status' }, visible(message)));
  }
  document.documentElement.dataset.ready = performance.now().toFixed(0);
}

try {
  start();
} catch (error) {
  document.getElementById('app')!.replaceChildren(h('p', { class: 'banner', role: 'alert' }, `This page cannot show its model: ${String(error)}`));
  throw error;
}
