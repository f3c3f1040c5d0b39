// Clubs: which are shown, who may be invited, and where words go.
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';

import { emptyDocument, withDialogs } from './elements.mjs';
import { t } from '../../web/strings.js';
import { Chat } from '../../web/ui/chat.js';
import { Clubs, without } from '../../web/ui/clubs.js';

const [ADA, BOB, EVE] = ['aa', 'bb', 'ee'].map((digits) => digits.repeat(32));
const person = (key, name) => ({ key, name, here: true });
const club = (n, more) => ({ club: n, name: `club ${n}`, channel: `club:${n}`, own: false, invited: null, members: [person(ADA, 'Ada'), person(BOB, 'Bob')], asked: [], ...more });

mock.timers.enable({ apis: ['setTimeout'] });

/** A page that knows these clubs, and says what was ordered and said. */
function page(told) {
  emptyDocument();
  const [ordered, said] = [[], []];
  const client = Object.assign(new EventTarget(), {
    sight: { objects: new Map() }, clubs: async () => told, orderClub: async (order) => (ordered.push(order), { ok: true }),
    say: async (text, channel) => (said.push([channel, text]), { ok: true }),
  });
  const made = { client, identity: { public: ADA }, blocks: { has: (key) => key === EVE }, picture: { bubbles: new Map(), sight: client.sight }, toasts: { say: () => {}, watch: (_, act) => act }, layout() {}, canvas: { focus() {} } };
  made.chat = new Chat(made);
  made.clubs = new Clubs(made);
  return { made, ordered, said };
}

test('a person is invited to clubs of one\u2019s own in which she neither is nor is asked', () => {
  const invited = club(3, { invited: { name: 'Bob', key: BOB } });
  const all = [club(1), club(2, { asked: [person(EVE, 'Eve')] }), invited];
  assert.deepEqual(without(all, EVE).map((each) => each.club), [1]);
  assert.deepEqual(without(all, BOB), []);
});

test('clubs are shown with their channels, and invites but for those by who is blocked', async () => {
  const { made } = page([club(1), club(2, { invited: { name: 'Bob', key: BOB } }), club(3, { invited: { name: 'Eve', key: EVE } })]);
  await made.clubs.load();
  assert.deepEqual(made.clubs.all.map((each) => each.club), [1, 2]);
  assert.deepEqual([...made.chat.channel.children].slice(3).map((option) => option.textContent), [t('club.to', { name: 'club 1' })]);
  const rows = [...made.clubs.list.children].map((row) => row.textContent);
  assert.ok(rows[0].includes(t('club.members', { n: 2, here: 'Bob' })) && rows[0].includes(t('club.leave')), rows[0]);
  assert.ok(rows[1].includes(t('club.invited', { name: 'Bob' })) && rows[1].includes(t('club.accept')), rows[1]);
  assert.ok(made.clubs.element.textContent.includes('servers'), 'it says who can read it');
});

test('an owner removes a member, hands the club over and gives it another name, and nobody else is asked to', async () => {
  const { made, ordered } = page([club(1, { own: true, asked: [person(EVE, 'Eve')] }), club(2)]);
  const box = withDialogs();
  await made.clubs.load();
  const managed = made.clubs.list.all('button').filter((each) => each.textContent === t('club.manage'));
  assert.equal(managed.length, 1);
  for (const [verb, key] of [['remove', EVE], ['hand_over', BOB], ['rename', BOB]]) {
    managed[0].click();
    const [[what, whom], [name]] = [box.all('select'), box.all('input')];
    assert.deepEqual(whom.children.map(({ value }) => value), [BOB, EVE]);
    assert.equal(name.value, 'club 1');
    [what.value, whom.value, name.value] = [verb, key, ' Rowers '];
    box.all('form')[0].listeners.submit();
    box.all('dialog')[0].remove();
    assert.deepEqual(ordered.pop(), { verb, club: 1, key, name: 'Rowers' });
  }
});

test('a line of a club names it, and is no bubble over a head', () => {
  const { made } = page([]);
  made.client.dispatchEvent(Object.assign(new Event('heard'), { detail: { channel: 5, speaker: 7, name: 'Bob', text: 'hello', earlier: false, by: BOB, club: 'Gardeners' } }));
  assert.ok(made.chat.log.children[0].textContent.includes('Gardeners'));
  assert.equal(made.picture.bubbles.size, 0);
});
