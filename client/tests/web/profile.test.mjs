// What people say of themselves, and whom a person likes to find: what the page keeps, asks and shows.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { t } from '../../web/strings.js';
import { Blocks } from '../../web/ui/blocks.js';
import { Profiles } from '../../web/ui/profile.js';
import { emptyDocument } from './elements.mjs';

const [EVE, BOB] = ['ee'.repeat(32), 'b0'.repeat(32)];

/** A page whose sim knows what these people say. */
function page(profiles = []) {
  emptyDocument();
  const [said, sent, asked] = [[], [], []];
  const client = Object.assign(new EventTarget(), {
    profiles: async (of) => (asked.push(of), profiles.filter(({ key }) => of.includes(key))),
    portrait: async (key, digest) => (asked.push([key, digest]), `data:image/png;base64,${digest}`),
    readProfile: async (text) => ({ key: EVE, version: 1, line: text, pronouns: '', picture: null, text, own: text !== 'other' }),
    setProfile: async (text, change) => (sent.push([text, change]), { ok: true }),
    players: async () => [{ name: 'Eve', key: EVE }, { name: 'Bob', key: BOB }],
  });
  const module = { peopleList: (word, { text, add, remove }) => {
    const people = [...JSON.parse(text || '[]').filter(({ key }) => key !== remove), ...(add ? [add] : [])];
    return { text: JSON.stringify(people), people };
  } };
  return { client, said, sent, asked, identity: { secret: '01', rotation: null }, loaded: { module }, toasts: { say: (text) => said.push(text) } };
}

test('what people say is asked once a minute, and a picture once for each that a profile names', async () => {
  const profile = { key: EVE, version: 3, line: 'I build mills.', pronouns: 'she/her', picture: 'f00d' };
  const made = page([profile]);
  const profiles = new Profiles(made);
  await profiles.learn([EVE, BOB]);
  await profiles.learn([EVE, BOB]);
  assert.deepEqual(made.asked, [[EVE, BOB], [EVE, 'f00d']]);
  assert.equal(profiles.of(EVE).image, 'data:image/png;base64,f00d');
  assert.equal(profiles.of(BOB), null);
});

test('what the core signed is kept, and shown to each sim that one comes into', async () => {
  const made = page();
  const profiles = new Profiles(made);
  await profiles.set({ line: 'hi' });
  made.client.dispatchEvent(Object.assign(new Event('profile'), { detail: { profile: { key: EVE, version: 2, text: 'kept' } } }));
  await profiles.greet();
  assert.deepEqual(made.sent, [['', { line: 'hi' }], ['kept', {}]]);
  assert.deepEqual(made.said, [t('profile.done')]);
  await profiles.edit();
  assert.ok(profiles.editor.textContent.includes(t('profile.how')));
});

test('buddies are kept, and those who are here are told of on arrival', async () => {
  const made = page();
  const buddies = new Blocks(made, 'buddy');
  assert.ok(buddies.element.textContent.includes(t('list.open')), 'a file can be added to an empty list');
  await buddies.greet();
  assert.deepEqual(made.said, []);
  buddies.add({ key: BOB, name: 'Bob' });
  await buddies.greet();
  assert.deepEqual(made.said, [t('buddy.done', { name: 'Bob' }), t('buddy.one', { n: 1, names: 'Bob' })]);
  assert.ok(buddies.has(BOB) && !buddies.has(EVE));
  assert.ok(buddies.change({ remove: BOB }) && !buddies.has(BOB));
});
