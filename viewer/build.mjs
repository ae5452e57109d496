// Bundles the page into one file that the Python package carries, or the tests into one that Node runs:
//
//   node build.mjs [FILE]        FILE is ../python/htp/viewer/page.html by default
//   node build.mjs --test        build/test.mjs
//
// Script and style are allowed by their hashes, and nothing else is: the page cannot reach a network.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const common = {
  absWorkingDir: here, bundle: true, write: false, charset: 'ascii', logLevel: 'warning', legalComments: 'none',
};

async function bundled(options) {
  const result = await build({ ...common, ...options });
  return result.outputFiles[0].text;
}

const hash = (text) => `'sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}'`;

/** The licences of what the page holds; packages with the same text share it. */
function licences() {
  const names = ['@dagrejs/dagre', '@dagrejs/graphlib', 'd3-hierarchy'];
  const text = (name) => readFileSync(join(here, 'node_modules', name, 'LICENSE'), 'utf8').trim();
  return [...new Set(names.map(text))]
    .map((licence) => `${names.filter((name) => text(name) === licence).join(', ')}\n${licence}`)
    .join('\n\n')
    .replaceAll('--', '\u2013');
}

async function page(target) {
  const script = await bundled({ entryPoints: ['src/main.ts'], format: 'iife', minify: true, target: 'es2022' });
  const style = await bundled({ entryPoints: ['src/style.css'], minify: true, target: 'es2022' });
  if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style)) throw new Error('the bundle would end its own element');
  const policy = [
    "default-src 'none'", `script-src ${hash(script)}`, `style-src ${hash(style)}`, "connect-src 'none'",
    "base-uri 'none'", "form-action 'none'",
  ].join('; ');
  const html = readFileSync(join(here, 'src/page.html'), 'utf8')
    .replace('{{licences}}', () => licences())
    .replace('{{policy}}', () => policy)
    .replace('{{style}}', () => style)
    .replace('{{script}}', () => script);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, html);
  console.log(`${target}: ${(html.length / 1024).toFixed(0)} KB`);
}

async function tests() {
  const files = readdirSync(join(here, 'test')).filter((name) => name.endsWith('.test.ts')).sort();
  const contents = files.map((name) => `import './test/${name}';`).join('\n');
  const text = await bundled({
    stdin: { contents, resolveDir: here, loader: 'ts' }, format: 'esm', platform: 'node', target: 'node18',
  });
  mkdirSync(join(here, 'build'), { recursive: true });
  writeFileSync(join(here, 'build/test.mjs'), text);
}

const argument = process.argv[2];
if (argument === '--test') await tests();
else await page(argument ?? join(here, '../python/htp/viewer/page.html'));
