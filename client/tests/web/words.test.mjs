// The page's words and its manners, read from its files.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { age, has, reason, refusal, t, why } from '../../web/strings.js';
import { badgeKey } from '../../web/ui/badge.js';
import { checking } from '../../web/ui/proof.js';
import { TONES } from '../../web/ui/sounds.js';

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
  const rest = [...all.values()].join('\n');
  const table = await readFile(new URL('strings.json', WEB), 'utf8');
  const lines = table.split('\n').slice(1, -2).filter(Boolean);
  const keys = lines.map((line) => /^ {2}"([a-z][\w.-]*)": ".*",?$/.exec(line)?.[1] ?? assert.fail(`not one key a line: ${line}`));
  // Families whose last part is a code from elsewhere.
  const families = ['no', 'reason', 'store', 'what', 'dir', 'shape', 'part', 'emote', 'light', 'moves', 'panel', 'kind', 'replica', 'badge', 'age', 'moderate', 'did', 'right', 'material', 'block', 'buddy', 'govern', 'join', 'publish'];
  for (const key of keys) {
    if (families.includes(key.split('.')[0]) || key.startsWith('governance.delayed.') || key.startsWith('lot.do.') || key.startsWith('club.do.') || key.startsWith('code.state.')) continue;
    assert.ok(rest.includes(`'${key}'`), `nobody asks for ${key}`);
  }
  assert.equal(new Set(keys).size, keys.length, 'a key is there twice');
});

test('every kind of joint that builders have is offered, with words for it', async () => {
  const rust = await readFile(new URL('../src/build/joint.rs', WEB), 'utf8');
  const words = (text, pattern, quote) => [...pattern.exec(text)[1].matchAll(quote)].map(([, name]) => name);
  const all = words(rust, /JOINT_KINDS: \[&str; \d+\] = \[(.*?)\];/s, /"([a-z]+)"/g);
  const chosen = await readFile(new URL('ui/chosen.js', WEB), 'utf8');
  assert.deepEqual(words(chosen, /const KINDS = \[(.*?)\]/, /'([a-z]+)'/g), all);
  for (const name of all) assert.ok(has(`join.${name}`), name);
});

test('every material that builders have is offered, with words for it', async () => {
  const build = await readFile(new URL('../../sim/types/src/build.rs', WEB), 'utf8');
  const all = [.../pub const ALL: \[\(&'static str, Self\); \d+\] = \[(.*?)\];/s.exec(build)[1].matchAll(/"([a-z]+)"/g)].map(([, name]) => name);
  const own = await readFile(new URL('ui/own.js', WEB), 'utf8');
  const offered = [.../const MATERIALS = \[(.*?)\]/.exec(own)[1].matchAll(/'([a-z]+)'/g)].map(([, name]) => name);
  assert.deepEqual(offered, all);
  for (const name of all) assert.ok(has(`material.${name}`), name);
});

test('every shape that avatars have is drawn and offered, with words for it', async () => {
  const look = await readFile(new URL('../../sim/types/src/look.rs', WEB), 'utf8');
  const drawn = JSON.parse(await readFile(new URL('draw/wardrobe.json', WEB), 'utf8'));
  const shapes = (type) => [...new RegExp(` ${type};(.*?)^}`, 'ms').exec(look)[1].matchAll(/ "([a-z]+)" "[^"]+",$/gm)].map(([, word]) => word);
  const told = await readFile(new URL('../../docs/build.md', WEB), 'utf8');
  for (const [part, type] of [['body', 'BodyShape'], ['head', 'HeadShape'], ['hands', 'HandShape'], ['hat', 'HatShape']]) {
    assert.equal(shapes(type).length, 12);
    assert.deepEqual(Object.keys(drawn[part]), shapes(type));
    assert.ok(has(`part.${part}`));
    assert.ok(told.includes(`| ${part} | ${shapes(type).map((shape) => `\`${shape}\``).join(', ')} |`), part);
    for (const shape of shapes(type)) assert.ok(has(`shape.${part}.${shape}`), shape);
  }
});

test('every icon that the page asks for is there, and no other', async () => {
  const icons = JSON.parse(await readFile(new URL('ui/icons.json', WEB), 'utf8'));
  const rest = [...(await sources()).values()].join('\n');
  const asked = new Set([...rest.matchAll(/\bicon(?:: |\()'([a-z]+)'/g)].map(([, name]) => name));
  for (const name of /for \(const id of (\[.*?\])/.exec(rest)[1].matchAll(/[a-z]+/g)) asked.add(name[0]);
  assert.deepEqual(Object.keys(icons).sort(), [...asked].sort());
});

test('the badge claims what was checked, and no more', () => {
  for (const stale of [false, true]) {
    assert.ok(checking(stale).includes(t('proof.how.words')), 'words are the server\u2019s');
    assert.equal(checking(stale).includes(t('proof.how.stale')), stale);
  }
  assert.match(t('badge.green'), /places and looks are proven, words are the server/);
  for (const code of ['old', 'untrusted-age']) {
    assert.equal(badgeKey('amber', code), 'badge.old', 'it is proven, but of a time that went by');
    assert.match(reason({ reason: code, detail: 259_300 }), /3 days/);
  }
  assert.equal(badgeKey('amber', 'late'), 'badge.amber');
  assert.deepEqual([age(59), age(150), age(7_300), age(172_800)], ['59 s', '2 min', '2 h', '2 days']);
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

/** What a folder's files say in places of this form. */
async function codes(folder, form) {
  const found = [];
  for (const name of (await readdir(folder)).filter((each) => each.includes('.'))) {
    const text = await readFile(new URL(name, folder), 'utf8');
    found.push(...[...text.matchAll(form)].map(([, code]) => [name, code]));
  }
  return found;
}

test('each code of the client has words', async () => {
  const page = /(?:CoreError|leave|end|closed|stop)\('([A-Za-z-]+)'\)/g;
  const core = /(?:ActFailure::new\(|leave\(|failed\(\w+, |_\w+: BuildFault = )"([A-Za-z-]+)"/g;
  const all = [
    ...await codes(new URL('core/', WEB), page), ...await codes(new URL('prove/', WEB), page),
    ...await codes(new URL('../../wasm/src/core/', import.meta.url), core),
  ];
  assert.ok(all.length > 25, `only ${all.length} were found`);
  for (const [name, code] of all) assert.ok(has(`no.${code}`), `${name}: no words for ${code}`);
});

// Orders about lands stood in the list of what was ordered as `did.land set`.
test('each order that a sim records has words', async () => {
  const govern = await readFile(new URL('../../sim/types/src/govern.rs', WEB), 'utf8');
  const core = await readFile(new URL('../wasm/src/core/governing.rs', WEB), 'utf8');
  const [, body] = /pub const fn verb\(&self\)(.*?)\n    }\n/s.exec(govern);
  const verbs = [...body.matchAll(/=> "([a-z ]+)"/g)].map(([, verb]) => verb.replaceAll(' ', '-'));
  assert.ok(verbs.length >= 17 && verbs.includes('land-set'), `only ${verbs}`);
  const rest = [...core.split('#[cfg(test)]')[0].matchAll(/"verb": "([a-z-]+)"/g)].map(([, verb]) => verb);
  assert.ok(rest.length >= 9, `only ${rest}`);
  for (const verb of [...verbs, ...rest]) assert.ok(has(`did.${verb}`), `no words for ${verb}`);
  const people = await readFile(new URL('../../sim/src/rules/people.rs', WEB), 'utf8');
  const [, kinds] = /pub enum OrderedDeed \{(.*?)\n\}/s.exec(people);
  for (const [, kind] of kinds.matchAll(/^ {4}([A-Z]\w+)/gm)) assert.ok(core.includes(`OrderedDeed::${kind}`), kind);
});

test('each fault of the text of a key has words', async () => {
  const desk = await readFile(new URL('../wasm/src/key_desk.rs', WEB), 'utf8');
  const faults = [...desk.split('#[cfg(test)]')[0].matchAll(/(?:=> |CallError::new\()"([a-z-]+)"/g)].map(([, code]) => code);
  assert.ok(faults.length >= 8, `only ${faults}`);
  for (const code of faults) assert.ok(has(`no.${code}`), `no words for ${code}`);
});

test('each reason of the badge has words', async () => {
  const all = await codes(new URL('../../wasm/src/core/', import.meta.url), /(?:=> |Some\(\(|amber\()"([a-z-]+)"/g);
  const reasons = all.filter(([name]) => name === 'badge.rs').map(([, code]) => code);
  assert.ok(reasons.length > 8, `only ${reasons} were found`);
  for (const code of reasons) assert.ok(has(`reason.${code}`), `no words for ${code}`);
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
    assert.ok(lines <= 420, `${fileURLToPath(new URL(path, WEB))} has ${lines} lines`);
  }
});

test('the page knows the sound of every name that scripts use', async () => {
  const rust = await readFile(new URL('../../sim/types/src/sound.rs', WEB), 'utf8');
  const names = [...rust.matchAll(/\("([a-z]+)", Self::/g)].map(([, name]) => name);
  assert.equal(names.length, 12);
  assert.deepEqual(Object.keys(TONES), names);
  for (const [name, tones] of Object.entries(TONES)) {
    for (const [, from, to, seconds, loud, before = 0] of tones) {
      assert.ok(Math.min(from, to) >= 40 && Math.max(from, to) <= 4_000, `${name}: ${from} to ${to} hertz`);
      assert.ok(seconds > 0 && seconds + before <= 2.5 && loud > 0 && loud <= 1, name);
    }
  }
});

// The workshop for scripts (an editor, versions and their differences) took 600 lines more than the 8,000 before it,
// what things ask, the sounds that they make and the first steps of newcomers 290, trying scripts 370, building with
// several things at once and with thirty parts, 22 of which are drawn anew, 850; whose lot the ground is, 48; what people hold, 20; joints and seats, 60; reports, and who changed a thing last, 59;
// two sims in one picture, and the way from one into the other without loading the page again, 232; what the program could order, and the page
// not, 253, and what owners of clubs order, clubs on lots and signed lists, 10; house rules that change, and joints with numbers, 28; imports in the workshop, 37; portals, 22.
// Who may publish is said in 18; an editor that others made took the place of our own, which had 20 more.
// 266 went by then: shapes of what the page is told became types, and what was drawn, asked or chosen in several ways has one.
test('all of the page is little enough to be known', async () => {
  const files = (await readdir(WEB, { recursive: true })).filter((path) => path.endsWith('.js') && !path.startsWith('vendor/'));
  const counts = await Promise.all(files.map(async (path) => (await readFile(new URL(path, WEB), 'utf8')).split('\n').length - 1));
  const lines = counts.reduce((sum, count) => sum + count);
  assert.ok(files.length > 40 && lines <= 10_249, `${lines} lines in ${files.length} files`);
});
