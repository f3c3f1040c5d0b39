// The editor of scripts, below its pixels: what is coloured, how far in lines begin, what is offered, and where mistakes are.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';

import { basics, completions, KINDS, language, marks, placeOf } from '../../web/ui/editor.js';
import LOOK from '../../web/ui/editor.json' with { type: 'json' };
import { learn, tokens } from '../../web/ui/highlight.js';
import { CompletionContext, EditorState, highlightTree, insertNewlineAndIndent } from '../../web/vendor/codemirror/index.js';

const WEB = new URL('../../web/', import.meta.url);

/** A state of a text with `|` where the caret is. */
function state(marked) {
  const at = marked.indexOf('|');
  return EditorState.create({ doc: marked.replace('|', ''), selection: { anchor: Math.max(at, 0) }, extensions: basics });
}

/** A state as such a text. */
function shown({ doc, selection: { main } }) {
  const text = doc.toString();
  return `${text.slice(0, main.head)}|${text.slice(main.head)}`;
}

/** A text after Enter. */
function broken(marked) {
  let after = state(marked);
  insertNewlineAndIndent({ state: after, dispatch: (transaction) => (after = transaction.state) });
  return shown(after);
}

/** A text after a sign was typed. */
function typed(marked, sign) {
  const before = state(marked);
  const at = before.selection.main.head;
  return shown(before.update({ changes: { from: at, insert: sign }, selection: { anchor: at + sign.length }, userEvent: 'input.type' }).state);
}

/** The coloured pieces of a text, as the editor has them. */
function coloured(text) {
  const style = (all) => Object.keys(KINDS).find((kind) => all.includes(KINDS[kind])) ?? null;
  const found = [];
  highlightTree(language.parser.parse(text), { style }, (from, to, kind) => found.push([text.slice(from, to), kind]));
  return found;
}

test('lines, words, numbers, texts, comments and what the world gives are coloured, in the editor as where sources are shown', () => {
  learn(['tremble']);
  const text = 'const N = 1.5; // why\n\nfn go() {\n    tremble(N, "x");\n}\n/* a\n\n"b" */ let c = `d ${e}\n\\` f` + g;\n';
  assert.deepEqual(coloured(text), [
    ['const', 'word'], ['1.5', 'number'], ['// why', 'comment'], ['fn', 'word'], ['go', 'name'], ['tremble', 'host'], ['"x"', 'text'],
    ['/* a', 'comment'], ['"b" */', 'comment'], ['let', 'word'], ['`d ${e}', 'text'], ['\\` f`', 'text'],
  ]);
  const pieces = tokens(text, 'a.rhai').filter(({ kind }) => kind);
  const lines = pieces.flatMap(({ kind, text: piece }) => piece.split('\n').filter(Boolean).map((line) => [line, kind]));
  assert.deepEqual(lines, coloured(text));
  assert.equal(tokens('say', 'a.rhai')[0].kind, 'host');
});

test('a new line is as far in as the last one, one step further behind what opens, and a closing bracket one less', () => {
  assert.equal(broken('a|b'), 'a\n|b');
  assert.equal(broken('    a|'), '    a\n    |');
  assert.equal(broken('  if x {|'), '  if x {\n      |');
  assert.equal(broken('    go([|])'), '    go([\n        |\n    ])');
  assert.equal(broken('|\nb'), '\n|\nb');
  assert.equal(typed('if x {\n    |', '}'), 'if x {\n}|');
  assert.equal(typed('    if x {\n        y();\n\n        |', '}'), '    if x {\n        y();\n\n    }|');
  assert.equal(typed('    if x {\n    |', '}'), '    if x {\n    }|', 'where it is already it stays');
  assert.equal(typed('say(`${x|', '}'), 'say(`${x}|', 'inside of a line it is a letter as others are');
});

/** What is offered at the caret of a text. */
const NAMES = [
  { name: 'on_touch', form: 'fn on_touch(other)', doc: '' }, { name: 'say', form: 'say(text: string)', doc: 'Says it.' },
  { name: 'say', form: 'say(key: Key, text: string)', doc: 'Whispers it.' }, { name: 'text', form: 'object.text: string', doc: 'What it reads.' },
  { name: 'self_', form: 'self_', doc: '' }, { name: 'lib::add' },
];
function offered(marked, explicit = false) {
  const at = state(marked);
  return completions(() => NAMES)(new CompletionContext(at, at.selection.main.head, explicit));
}
const labels = (found) => found?.options.map(({ label }) => label) ?? [];

test('what scripts can use is offered to whoever has begun a name: behind a dot what things have, elsewhere the rest', () => {
  assert.deepEqual(labels(offered('s|')), [], 'one letter is too little to go by');
  assert.deepEqual(labels(offered('s|', true)), ['on_touch', 'say', 'self_', 'lib::add'], 'unless somebody asks');
  assert.deepEqual(labels(offered('f(se|')), ['on_touch', 'say', 'self_', 'lib::add']);
  assert.equal(offered('f(lib::a|').from, 2);
  const behind = offered('self_.|');
  assert.deepEqual([behind.from, labels(behind)], [6, ['say', 'text', 'self_', 'lib::add']]);
  assert.deepEqual(behind.options.filter(({ boost }) => boost).map(({ label }) => label), ['text'], 'what things have comes first');
  for (const none of ['1.|', '0..|', '// se|', '"se|"', '`a\nse|`']) assert.deepEqual(labels(offered(none)), [], none);
  assert.ok(behind.validFor.test('te') && !behind.validFor.test('te('));
});

test('a handler is put with what it is given, and a name is told with all of its forms', () => {
  const [handler, say] = offered('fn on|').options;
  assert.equal(handler.apply, 'on_touch(other)');
  assert.deepEqual(say.of.map(({ doc }) => doc), ['Says it.', 'Whispers it.']);
  assert.equal(offered('lib::|').options.at(-1).info, null, 'of an import no more is known than its name');
});

test('a mistake is underlined where it is, as far as its word goes', () => {
  const { doc } = state('fn on_touch(other) {\n    sya("Hi");\n}\n');
  const all = [{ line: 2, column: 5, message: 'no' }, { line: 77, column: 1, message: 'far' }, { line: 0, column: 0, message: 'all of it' }, { line: 3, column: 9, message: 'end' }];
  const found = marks(doc, all);
  assert.deepEqual(found.map(({ from, to, message }) => [doc.sliceString(from, to), message]), [['sya', 'no'], ['', 'end']]);
  const text = state('a\n"\u{1F600}" b').doc;
  assert.equal(placeOf(text, 2, 5), 7, 'columns count characters');
  assert.deepEqual([placeOf(state('a\nb').doc, 0, 0), placeOf(state('a\nb').doc, 2, 99), placeOf(state('a\nb').doc, 9, 1)], [0, 3, 2]);
});

test('the editor has no colour of its own: light and dark are the page\u2019s', async () => {
  const css = await readFile(new URL('page.css', WEB), 'utf8');
  const [, light, dark] = /:root \{(.*?)\n\}.*?:root\[data-theme="dark"\] \{(.*?)\n\}/s.exec(css);
  const text = JSON.stringify(LOOK) + await readFile(new URL('ui/editor.js', WEB), 'utf8');
  assert.ok(!/#[0-9a-f]{3}|\brgb/.test(JSON.stringify(LOOK)));
  const used = new Set([...text.matchAll(/var\((--[a-z-]+)\)/g)].map(([, name]) => name));
  assert.ok(used.size > 12, `only ${[...used]}`);
  for (const name of used) assert.ok(light.includes(`${name}:`) && (dark.includes(`${name}:`)), name);
});

test('what others made is what VENDOR.md says, beside its licence, and what the editor is made of is pinned', async () => {
  const said = await readFile(new URL('vendor/VENDOR.md', WEB), 'utf8');
  const folders = (await readdir(new URL('vendor/', WEB), { withFileTypes: true })).filter((each) => each.isDirectory()).map(({ name }) => name);
  const listed = [...said.matchAll(/^ {4}([0-9a-f]{64}) {2}(\w+)\/index\.js$/gm)];
  assert.deepEqual(listed.map(([, , name]) => name), folders.sort());
  for (const [, digest, name] of listed) {
    const text = await readFile(new URL(`vendor/${name}/index.js`, WEB), 'utf8');
    const [first] = text.split('\n', 1);
    assert.match(first, /^\/\*! .* \| MIT \| Copyright .* \| see LICENSE\.txt \*\/$/);
    assert.equal(createHash('sha256').update(text.slice(first.length + 1)).digest('hex'), digest, name);
    assert.match(await readFile(new URL(`vendor/${name}/LICENSE.txt`, WEB), 'utf8'), /^MIT License\n\nCopyright/);
  }
  const lock = JSON.parse(await readFile(new URL('../editor/package-lock.json', WEB), 'utf8'));
  const wanted = JSON.parse(await readFile(new URL('../editor/package.json', WEB), 'utf8')).devDependencies;
  for (const [name, version] of Object.entries(wanted)) assert.equal(lock.packages[`node_modules/${name}`].version, version, name);
  assert.ok(said.includes(`## CodeMirror ${wanted['@codemirror/view']}\n`));
  const code = await readFile(new URL('vendor/codemirror/index.js', WEB));
  assert.ok(code.length < 400_000, `${code.length} bytes`);
  assert.ok(code.every((byte) => byte < 128), 'plain ASCII');
});
