// The editor of scripts, below its pixels: what keys do, what is coloured, and where mistakes are shown.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { completions, create, edited, placeOf } from '../../web/ui/editor.js';
import { learn, tokens } from '../../web/ui/highlight.js';
import { emptyDocument } from './elements.mjs';

const SOURCE = 'fn on_touch(other) {\n    say("Hi");\n}\n';

/** An editor in a document of its own, and what it told. */
function made(value = SOURCE, names = []) {
  const element = emptyDocument();
  const told = [];
  const editor = create(element, { value, onChange: (text) => told.push(text), names: () => names });
  const [area] = element.all('textarea');
  return { element, editor, area, told, lines: () => element.all('li') };
}

/** A text with `[` and `]` around what is selected, or `|` for a caret, after a key. */
function after(key, marked) {
  const start = marked.search(/[|[]/);
  const text = marked.replaceAll(/[|[\]]/g, '');
  const end = marked.includes(']') ? marked.indexOf(']') - 1 : start;
  const edit = edited(text, start, end, key);
  if (!edit) return null;
  const done = text.slice(0, edit.from) + edit.put + text.slice(edit.to);
  if (edit.start === edit.end) return `${done.slice(0, edit.start)}|${done.slice(edit.start)}`;
  return `${done.slice(0, edit.start)}[${done.slice(edit.start, edit.end)}]${done.slice(edit.end)}`;
}

test('Tab goes on to the next step, and moves whole lines where some are selected', () => {
  assert.equal(after('Tab', '|x'), '    |x');
  assert.equal(after('Tab', 'fn |x'), 'fn  |x');
  assert.equal(after('Tab', 'a\nlet |x'), 'a\nlet     |x');
  assert.equal(after('Tab', 'a\n[b\nc]\nd'), 'a\n    [b\n    c]\nd');
  assert.equal(after('Tab', 'a\n[b\n]c'), 'a\n    [b\n]c', 'a line of which nothing is selected stays');
  assert.equal(after('Tab', '[a\n\nb]'), '    [a\n\n    b]', 'an empty line stays empty');
});

test('Shift+Tab moves lines out, at most to where lines begin', () => {
  assert.equal(after('Shift+Tab', 'a\n    b|\nc'), 'a\nb|\nc');
  assert.equal(after('Shift+Tab', '[    a\n  b\n\tc]'), '[a\nb\nc]');
  assert.equal(after('Shift+Tab', 'a\n  |  b'), 'a\n|b');
  assert.equal(after('Shift+Tab', '|a'), '|a');
});

test('a new line is as far in as the last one, one step further behind what opens, and a closing brace one less', () => {
  assert.equal(after('Enter', 'a|b'), 'a\n|b');
  assert.equal(after('Enter', '    a|'), '    a\n    |');
  assert.equal(after('Enter', '  if x {|'), '  if x {\n      |');
  assert.equal(after('Enter', '|\nb'), '\n|\nb');
  assert.equal(after('}', 'if x {\n    |'), 'if x {\n}|');
  assert.equal(after('}', 'say(`${x|'), null, 'inside of a line it is a letter as others are');
  assert.equal(after('a', '    |'), null);
});

test('lines, words, numbers, texts, comments and what the world gives are coloured', () => {
  learn(['tremble']);
  const { lines } = made('const N = 1.5; // why\n\nfn go() {\n    tremble(N, "x");\n}\n');
  assert.equal(lines().length, 6, 'the last line, which is empty, is one of them');
  const coloured = lines().flatMap((line) => line.all('span').map((piece) => [piece.textContent, piece.className]));
  assert.deepEqual(coloured, [
    ['const', 'code-word'], ['1.5', 'code-number'], ['// why', 'code-comment'], ['fn', 'code-word'], ['go', 'code-name'],
    ['tremble', 'code-host'], ['"x"', 'code-text'],
  ]);
  assert.equal(tokens('say', 'a.rhai')[0].kind, 'host');
});

test('what is drawn is what is typed, and is told once', () => {
  const { area, told, lines, editor } = made('');
  area.type('fn f() {');
  assert.ok(area.press('Enter').prevented);
  area.type('say(1)');
  area.press('Enter');
  // As browsers do that can take back what was typed: they tell of it themselves.
  document.execCommand = (_, name, text) => area.type(text) ?? true;
  assert.ok(area.press('}').prevented);
  assert.equal(area.value, 'fn f() {\n    say(1)\n}');
  assert.equal(editor.value, area.value);
  assert.equal(told.at(-1), area.value);
  assert.equal(new Set(told).size, told.length, 'nothing is told twice');
  assert.equal(lines().map((line) => line.textContent.replaceAll('\u200B', '')).join('\n'), area.value);
  editor.value = 'x';
  assert.deepEqual([area.value, lines().length, told.at(-1) === 'x'], ['x', 1, false], 'what the page sets is not told');
});

test('Escape leaves the editor without closing what it is in, and keys with Ctrl are the browser\'s', () => {
  const { area, element } = made();
  area.focus();
  assert.deepEqual(area.press('Escape'), { prevented: false, stopped: true });
  const [outside] = element.all('span').filter(({ attributes }) => attributes.tabindex === '-1');
  assert.equal(document.activeElement, outside);
  for (const more of [{ ctrlKey: true }, { metaKey: true }, { isComposing: true }]) {
    assert.deepEqual(area.press('Tab', more), { prevented: false, stopped: false });
  }
  assert.ok(area.press('Tab').prevented);
});

test('a mistake marks its line until there is none, also while somebody types', () => {
  const { area, editor, lines } = made();
  const marked = () => lines().flatMap((line, i) => (line.classList.contains('mistake') ? [i + 1] : []));
  editor.setMistakes([{ line: 2, column: 5, message: 'no' }, { line: 77, column: 1, message: 'far' }, { line: 0, column: 0, message: 'all of it' }]);
  assert.deepEqual([marked(), area.attributes['aria-invalid']], [[2], 'true']);
  area.type('// ');
  assert.deepEqual(marked(), [2]);
  editor.setMistakes([]);
  assert.deepEqual([marked(), area.attributes['aria-invalid']], [[], 'false']);
});

test('the way to a mistake ends before its first letter', () => {
  const { area, editor, lines } = made();
  editor.goTo(2, 5);
  assert.deepEqual([area.selectionStart, area.selectionEnd], [SOURCE.indexOf('say'), SOURCE.indexOf('say')]);
  assert.equal(document.activeElement, area);
  assert.equal(document.shown, lines()[1]);
  assert.equal(placeOf('a\n"\u{1F600}" b', 2, 5), 7, 'columns count characters');
  assert.deepEqual([placeOf('a\nb', 0, 0), placeOf('a\nb', 2, 99), placeOf('a\nb', 9, 1)], [0, 3, 2]);
});

test('names that fit what is begun are offered, and the first is taken by a key', () => {
  const names = ['say', 'self_', 'send', 'sin', 'sort', 'split', 'sqrt', 'state', 'sub'];
  const fit = (text) => completions(text, text.length, names).names;
  assert.deepEqual([fit('s'), fit('x.se'), fit('say'), fit('as'), fit('2 * sq'), fit('')], [[], ['self_', 'send'], [], [], ['sqrt'], []]);
  assert.equal(completions('s', 1, ['sa', 'sb']).names.length, 0, 'one letter is too little to go by');
  const imported = ['lib::add', 'lib::MOST', 'library'];
  assert.deepEqual(completions('f(lib::', 7, imported), { from: 2, names: ['lib::add', 'lib::MOST'] }, 'what an import has');
  assert.deepEqual(completions('lib::a', 6, imported).names, ['lib::add']);

  const { area, element, told } = made('', names);
  area.type('fn f() { se');
  const offered = () => element.all('button').map((each) => each.textContent);
  assert.deepEqual(offered(), ['self_', 'send']);
  assert.ok(area.press(' ', { ctrlKey: true, code: 'Space' }).prevented);
  assert.deepEqual([area.value, told.at(-1), offered()], ['fn f() { self_', 'fn f() { self_', []]);
  area.press(' ', { ctrlKey: true, code: 'Space' });
  assert.equal(area.value, 'fn f() { self_', 'where nothing is offered nothing is taken');
});

test('people who do not see the colours are told what it is and how to leave it', () => {
  const { area, element } = made();
  assert.equal(area.attributes['aria-label'], 'Source');
  const [keys] = element.all('p').filter(({ attributes }) => attributes.id === area.attributes['aria-describedby']);
  assert.match(keys.textContent, /Escape leaves/);
});
