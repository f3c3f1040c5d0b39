// Scripts that are not published yet, and what changed in them.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { changes } from '../../web/ui/versions.js';
import { begun, drop, forked, kept, nextVersion, packageName, put } from '../../web/ui/drafts.js';
import { emptyDocument } from './elements.mjs';

beforeEach(() => {
  const items = new Map();
  globalThis.localStorage = {
    items, getItem: (key) => items.get(key) ?? null, setItem: (key, value) => items.set(key, value), removeItem: (key) => items.delete(key),
  };
});

const REFERENCE = { example: 'fn on_start() {}\n', licences: ['AGPL-3.0-or-later', 'MPL-2.0'] };


test('what was typed outlives the tab, each script by itself, until it is dropped', () => {
  const draft = begun(REFERENCE, 'Old bench');
  put('sim', '5/new', { ...draft, files: { 'script.rhai': 'typed' } });
  put('sim', '6/2', draft);
  assert.equal(kept('sim', '5/new').files['script.rhai'], 'typed');
  assert.equal(kept('other', '5/new'), null, 'another sim has other things');
  drop('sim', '5/new');
  assert.deepEqual([kept('sim', '5/new'), kept('sim', '6/2').name], [null, 'old-bench']);
});

test('of more than sixteen drafts the one that was left longest is gone', () => {
  const draft = begun(REFERENCE, 'x');
  for (let n = 0; n < 16; n += 1) put('sim', `${n}/new`, draft);
  put('sim', '0/new', draft);
  put('sim', '16/new', draft);
  assert.equal(kept('sim', '1/new'), null);
  assert.ok(kept('sim', '0/new') && kept('sim', '2/new') && kept('sim', '16/new'));
  assert.equal([...localStorage.items.keys()].filter((key) => key.startsWith('metatopia.draft/')).length, 16);
});

test('without storage there are no drafts, and nothing fails', () => {
  globalThis.localStorage = undefined;
  put('sim', '5/new', begun(REFERENCE, 'x'));
  drop('sim', '5/new');
  assert.equal(kept('sim', '5/new'), null);
});

test('names of things become names that packages may have', () => {
  const names = ['Old Bench!', '7 dwarfs', '\u00C4rger', '--', 'a'.repeat(99)].map(packageName);
  assert.deepEqual(names.slice(0, 4), ['old-bench', 'dwarfs', 'rger', 'script']);
  assert.ok(names.every((name) => /^[a-z][a-z0-9-]{0,63}$/.test(name)), names.join());
});

test('a fork goes on from a package: its files, licence, authors and api, the next version, and it as parent', () => {
  const manifest = { name: 'bell', version: '1.2.9', api: 1, entry: 'bell.rhai', licence: 'MIT OR GPL-3.0-only', imports: { scores: 'cd' }, authors: [{ name: 'Eve', key: null }] };
  const files = [{ path: 'bell.rhai', text: 'fn f() {}' }, { path: 'notes.rhai', text: '// x' }];
  const draft = forked({ id: 'ab', manifest, files });
  assert.deepEqual({ ...draft, files: Object.keys(draft.files) }, {
    ...manifest, version: '1.2.10', files: ['bell.rhai', 'notes.rhai'], parent: 'ab', object: null, script: null, published: null,
  });
  assert.equal(begun(REFERENCE, 'x').licence, 'AGPL-3.0-or-later');
  assert.deepEqual(['0.0.0', '1.0.9'].map(nextVersion), ['0.0.1', '1.0.10']);
});

test('a comparison shows each line with its sign, and nothing where nothing changed', () => {
  emptyDocument();
  const compared = [{ sign: '=', text: 'a' }, { sign: '-', text: 'b' }, { sign: '+', text: 'c' }];
  const module = { textChanges: ({ before, after }) => (before === after ? [] : compared) };
  assert.deepEqual(changes(module, 'a\nb', 'a\nc').children.map((row) => row.textContent), ['  a', '- b', '+ c']);
  assert.equal(changes(module, 'a', 'a').firstChild, null);
});
