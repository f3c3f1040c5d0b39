// What people say: who is not heard, and what whoever comes in is told.
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';

import { t } from '../../web/strings.js';
import { Blocks } from '../../web/ui/blocks.js';
import { Chat } from '../../web/ui/chat.js';
import { emptyDocument } from './elements.mjs';

const [EVE, BOB] = ['ee'.repeat(32), 'b0'.repeat(32)];

/** As much of the module as blocks need: a line for each person. */
const module = {
  peopleList(word, { text, add, remove, file, secret }) {
    assert.equal(secret, '01', 'the key signs the list');
    if (file && !file.endsWith('by 01')) throw Object.assign(new Error('whose'), { code: 'unsigned-list' });
    if (file) add = { key: file.slice(0, 64), name: file.slice(65, -6) };
    if (add?.name === 'nobody') throw Object.assign(new Error('full'), { code: `${word}-list` });
    const lines = text.split('\n').filter((line) => line && !line.startsWith(remove ?? '-'));
    if (add) lines.push(`${add.key} ${add.name}`);
    const people = lines.map((line) => ({ key: line.slice(0, 64), name: line.slice(65) }));
    return { text: lines.map((line) => `${line}\n`).join(''), people };
  },
};

/** A page with a log, in which two people are in sight. */
function talking(motd = '') {
  emptyDocument();
  const said = [];
  const objects = new Map([[7, { player: EVE, look: { color: 1 } }], [8, { player: BOB, look: { color: 2 } }]]);
  const client = Object.assign(new EventTarget(), { sight: { objects }, governance: async () => ({ motd }), person: async () => ({ admin: false, rights: [{ right: 'moderate' }] }) });
  const page = { client, identity: { secret: '01', rotation: null }, loaded: { module }, picture: { bubbles: new Map(), sight: client.sight }, toasts: { say: (text) => said.push(text) } };
  page.blocks = new Blocks(page);
  page.clubs = { load: async () => {} };
  page.chat = new Chat(page);
  const hear = (more) => client.dispatchEvent(Object.assign(new Event('heard'), { detail: { channel: 0, speaker: 7, name: 'Eve', text: 'hello', earlier: false, by: EVE, ...more } }));
  return { page, said, hear, lines: () => page.chat.log.children.map((line) => line.textContent) };
}

mock.timers.enable({ apis: ['setTimeout'] });

test('of a blocked person nothing is shown, and what was shown goes: in the log, privately and over the head', () => {
  const { page, said, hear, lines } = talking();
  hear({});
  hear({ speaker: 8, name: 'Bob', by: BOB });
  assert.deepEqual([lines().length, page.picture.bubbles.size], [2, 2]);
  page.blocks.button({ key: EVE, name: 'Eve' }).click();
  assert.deepEqual(said, [t('block.done', { name: 'Eve' })]);
  hear({});
  hear({ channel: 1, speaker: 99 });
  hear({ channel: 4, speaker: 0, words: 1 });
  assert.ok(lines().length === 1 && lines()[0].startsWith('Bob'), String(lines()));
  assert.deepEqual([...page.picture.bubbles.keys()], [8]);
});

test('who is blocked is listed with what ends it, and heard again then', () => {
  const { page, hear, lines } = talking();
  const { element } = page.blocks;
  assert.ok(element.textContent.includes(t('list.open')), 'a file can be added to an empty list');
  page.blocks.add({ key: EVE, name: 'Eve' });
  assert.ok(element.textContent.includes(t('block.how')) && element.textContent.includes('Eve'));
  const [end] = element.all('button');
  assert.equal(end.textContent, t('block.end'));
  end.click();
  assert.ok(!element.textContent.includes('Eve'));
  hear({});
  assert.equal(lines().length, 1);
});

test('a list that cannot be changed is as it was, and that is said', () => {
  const { page, said } = talking();
  page.blocks.add({ key: EVE, name: 'Eve' });
  page.blocks.add({ key: BOB, name: 'nobody' });
  assert.deepEqual([page.blocks.has(EVE), page.blocks.has(BOB)], [true, false]);
  assert.equal(said.length, 2, String(said));
});

// A file of anybody was added to the list of whoever opened it.
test('a file is added to the list if the key signed it, and else it is said why not', async () => {
  const { page, said } = talking();
  const opened = async (text) => {
    const [input] = page.blocks.element.all('input');
    Object.assign(input, { files: [{ text: async () => text }] });
    input.listeners.change();
    await new Promise(setImmediate);
  };
  await opened(`${EVE} Eve by 02`);
  assert.deepEqual([page.blocks.has(EVE), said], [false, [t('block.failed', { why: t('no.unsigned-list') })]]);
  await opened(`${EVE} Eve by 01`);
  assert.deepEqual([page.blocks.has(EVE), said.length], [true, 1]);
});

// The panel showed the message of the day twice, and nobody reads that panel on the way in.
test('whoever comes in is told the message of the day once', async () => {
  const { page, lines } = talking('Market at eight.');
  await page.chat.greet();
  assert.equal(lines().length, 1);
  assert.ok(lines()[0].startsWith(t('governance.motd', { text: 'Market at eight.' })));
  const silent = talking();
  await silent.page.chat.greet();
  assert.deepEqual(silent.lines(), []);
});

test('a line that is forgotten leaves the log and the head, if it is whose it must be, and a control forgets it', async () => {
  const { page, said, hear, lines } = talking();
  const asked = [];
  Object.assign(page.identity, { public: EVE });
  page.client.forget = async (...words) => (asked.push(words), { ok: true });
  const forget = (words) => page.client.dispatchEvent(Object.assign(new Event('forgotten'), { detail: { height: 9, body: 'f0', by: null, ...words } }));
  hear({ height: 9, body: 'f0' });
  hear({ height: 9, body: 'f0', speaker: 8, name: 'Bob', by: BOB });
  hear({ speaker: 9, name: 'bell', by: null });
  const controls = page.chat.log.all('button');
  assert.deepEqual(controls.map((control) => control.className.includes('own')), [true, false], 'a thing has none');
  controls[0].click();
  await null;
  assert.deepEqual([asked, lines().length], [[[9, 'f0']], 3], 'it goes once a turn says so');
  forget({ height: 8 });
  forget({ by: EVE });
  assert.deepEqual([lines().map((line) => line.slice(0, 3)), [...page.picture.bubbles.keys()]], [['Bob', 'bel'], [8, 9]]);
  forget({});
  assert.deepEqual([lines().length, [...page.picture.bubbles.keys()]], [1, [9]]);
  await new Promise((done) => setImmediate(done));
  assert.deepEqual(said, [t('chat.forgotten')]);
  await page.chat.greet();
  await null;
  assert.ok(page.chat.log.className.includes('moderates'), 'who moderates sees the control at all lines');
});

test('a line that names whoever reads it is marked, in words too', () => {
  const { page, hear, lines } = talking();
  hear({ text: 'hello', named: false });
  hear({ text: 'hello @ada', named: true });
  assert.deepEqual(page.chat.log.children.map((line) => line.className.includes('named')), [false, true]);
  assert.deepEqual(lines().map((line) => line.includes(t('chat.named'))), [false, true]);
});

// The page said only what to type in the text client, and who has no other client lost her key by that.
test('whose friends ask for her key reads who, and stops it by a button', async () => {
  const open = { by: ['Bob', 'Carol'], need: 2, key: 'cc'.repeat(32), left: '3 days', proven: false };
  const told = { channel: 2, speaker: 0, name: 'the sim', text: 'In 72 h', by: null };
  for (const [recovery, outcome, words] of [
    [open, { ok: true }, t('recovery.done')],
    [{ ...open, key: null }, { ok: false, refusal: 'NoRecovery' }, t('moderate.refused', { why: t('no.NoRecovery') })],
  ]) {
    const { page, said, hear } = talking();
    Object.assign(page.client, { recovery: async () => recovery, cancelRecovery: async () => outcome });
    hear(told);
    await new Promise(setImmediate);
    const [line] = page.chat.log.children;
    const values = { ...recovery, by: 'Bob, Carol', n: 2, key: 'cccccccc' };
    assert.ok(line.textContent.startsWith(t(recovery.key ? 'recovery.chosen' : 'recovery.asked', values)), line.textContent);
    const [stop] = line.all('button').slice(-1);
    assert.equal(stop.textContent, t('recovery.cancel'));
    stop.click();
    await new Promise(setImmediate);
    assert.deepEqual(said, [words]);
  }
  const { page, hear, lines } = talking();
  page.client.recovery = async () => null;
  hear({ ...told, earlier: true });
  await new Promise(setImmediate);
  assert.deepEqual(lines(), [], 'it was stopped before it was asked about');
  hear(told);
  await new Promise(setImmediate);
  assert.ok(lines()[0].startsWith('In 72 h'), 'a node that lags knows of none');
  page.client.recovery = async () => { throw new Error('lost'); };
  hear(told);
  await new Promise(setImmediate);
  assert.ok(lines()[0].startsWith('In 72 h'), 'what the sim said has to do');
});

test('a name in the log says whose key it is', () => {
  const { page, hear } = talking();
  hear({});
  assert.equal(page.chat.log.all('b')[0].attributes.title, t('chat.key', { key: EVE.slice(0, 8) }));
});
