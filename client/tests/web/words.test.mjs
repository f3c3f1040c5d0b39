// The page's words and its manners, read from its files.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { has, refusal, t, why } from '../../web/strings.js';
import { checking } from '../../web/ui/proof.js';

const WEB = new URL('../../web/', import.meta.url);

/** Sources above the pixels, by their paths. */
async function sources() {
  const found = new Map();
  for (const folder of ['', 'ui/', 'draw/']) {
    for (const name of await readdir(new URL(folder || '.', WEB))) {
      if (name.endsWith('.js')) found.set(`${folder}${name}`, await readFile(new URL(`${folder}${name}`, WEB), 'utf8'));
    }
  }
  return found;
}

test('every key that the page asks for has words', async () => {
  let asked = 0;
  for (const [path, text] of await sources()) {
    for (const [, key] of text.matchAll(/\bt\(\s*'([^']+)'/g)) {
      asked += 1;
      assert.ok(has(key), `${path} asks for ${key}`);
    }
    for (const [, first, second] of text.matchAll(/\bt\([^()]*\? '([a-z.]+)' : '([a-z.]+)'/g)) {
      assert.ok(has(first) && has(second), `${path} asks for ${first} or ${second}`);
    }
  }
  assert.ok(asked > 150, `only ${asked} keys were found`);
});

test('all words are asked for', async () => {
  const all = await sources();
  const table = all.get('strings.js');
  const rest = [...all].filter(([path]) => path !== 'strings.js').map(([, text]) => text).join('\n');
  const keys = [...table.matchAll(/'([a-z][\w.-]*)':/g)].map(([, key]) => key);
  // Families whose last part is a code from elsewhere.
  const families = ['no', 'reason', 'store', 'what', 'dir', 'shape', 'emote', 'light', 'moves', 'panel', 'kind', 'replica', 'badge'];
  for (const key of keys) {
    if (families.includes(key.split('.')[0]) || key.startsWith('governance.delayed.')) continue;
    assert.ok(rest.includes(`'${key}'`), `nobody asks for ${key}`);
  }
  assert.equal(new Set(keys).size, keys.length, 'a key is there twice');
});

test('a tab that checks nothing says nothing of checks', () => {
  for (const stale of [false, true]) {
    assert.ok(!checking('reduced', stale).includes(t('proof.how.checks')));
    assert.ok(checking('reduced', stale).includes(t('proof.how.nothing')));
  }
  for (const level of ['green', 'amber', 'red']) {
    assert.ok(checking(level, false).endsWith(t('proof.how.checks')), level);
    assert.ok(checking(level, true).includes(t('proof.how.stale')), level);
  }
});

test('each rule that can refuse an act has words', async () => {
  const outcome = await readFile(new URL('../../../sim/types/src/outcome.rs', import.meta.url), 'utf8');
  const message = await readFile(new URL('../../protocol/src/message.rs', import.meta.url), 'utf8');
  const variants = (text, name) => {
    const body = text.split(`pub enum ${name} {`)[1].split('\n}')[0];
    return [...body.matchAll(/^ {4}([A-Z]\w+)/gm)].map(([, variant]) => variant);
  };
  const refusals = [...variants(outcome, 'Refusal'), ...variants(message, 'SubmitRefusal'), ...variants(message, 'Goodbye')];
  assert.ok(refusals.length > 25, `only ${refusals.length} were found`);
  for (const code of refusals) assert.ok(has(`no.${code}`), `no words for ${code}`);
});

test('each code of the client has words', async () => {
  let found = 0;
  for (const folder of ['core/', 'prove/']) {
    for (const name of await readdir(new URL(folder, WEB))) {
      const text = await readFile(new URL(`${folder}${name}`, WEB), 'utf8');
      const codes = [...text.matchAll(/(?:ActError|leave|end|ended\?\.|stop)\('([A-Za-z-]+)'\)/g)].map(([, code]) => code);
      found += codes.length;
      for (const code of codes) assert.ok(has(`no.${code}`), `${folder}${name}: no words for ${code}`);
    }
  }
  assert.ok(found > 8, `only ${found} were found`);
});

test('what has no words is told as it is', () => {
  assert.equal(refusal('SomethingNew'), 'something new');
  assert.equal(why(new Error('odd.')), 'odd');
  assert.equal(why({ code: 'OutOfReach' }), t('no.OutOfReach'));
});

test('texts of others never become markup, and nothing is styled inline', async () => {
  for (const [path, text] of await sources()) {
    for (const banned of ['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'document.write', "setAttribute('style'", 'eval(', 'new Function']) {
      assert.ok(!text.includes(banned), `${path} uses ${banned}`);
    }
  }
  const html = await readFile(new URL('index.html', WEB), 'utf8');
  assert.ok(!/\sstyle=|<style|\son\w+="/.test(html));
});

test('modules stay small enough to be read', async () => {
  for (const [path, text] of await sources()) {
    const lines = text.split('\n').length;
    // The table of words is looked up, not read.
    const most = path === 'strings.js' ? 600 : 420;
    assert.ok(lines <= most, `${fileURLToPath(new URL(path, WEB))} has ${lines} lines`);
  }
});
