// Orders about people: what is sent, who is asked, and how the list of orders reads.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { mayModerate, motdTool, orderOf, thingOrders, told } from '../../web/ui/moderate.js';
import { t } from '../../web/strings.js';
import { withDialogs } from './elements.mjs';

const drained = () => new Promise((resolve) => setTimeout(resolve));

test('admins and those with the right may moderate, and nobody else', () => {
  assert.ok(mayModerate({ admin: true, rights: [] }));
  assert.ok(mayModerate({ admin: false, rights: [{ right: 'land' }, { right: 'moderate' }] }));
  assert.ok(!mayModerate({ admin: false, rights: [{ right: 'build' }] }));
});

test('what came over a border is sent home by who may order about borders, and nothing else is', () => {
  const [here, guest] = [{ id: 7, home: null }, { id: 8, home: 'ea' }];
  const verbs = (person, thing) => thingOrders(person, thing).map(({ verb }) => verb);
  const admin = { admin: true, rights: [] };
  assert.deepEqual(verbs(admin, here), ['freeze', 'thaw', 'return']);
  assert.deepEqual(thingOrders(admin, guest).at(-1), { verb: 'send_home', object: 8, sim: 'ea' });
  assert.deepEqual(verbs({ admin: false, rights: [{ right: 'moderate' }] }, guest), ['freeze', 'thaw', 'return']);
  assert.deepEqual(verbs({ admin: false, rights: [] }, guest), []);
});

test('only mutes and bans have a time and a reason', () => {
  assert.deepEqual(orderOf('mute', 'ab', 'hour', 'spam'), { verb: 'mute', key: 'ab', seconds: 3_600, reason: 'spam' });
  assert.deepEqual(orderOf('ban', 'ab', 'ever', ''), { verb: 'ban', key: 'ab', seconds: null, reason: '' });
  assert.deepEqual(orderOf('kick', 'ab', 'hour', 'spam'), { verb: 'kick', key: 'ab' });
});

test('a role is given for a time, and taken without one', () => {
  assert.deepEqual(orderOf('grant', 'ab', 'day', 'spam', 'land'), { verb: 'grant', key: 'ab', rights: ['land'], seconds: 86_400 });
  assert.deepEqual(orderOf('revoke', 'ab', 'day', 'spam', 'land'), { verb: 'revoke', key: 'ab', rights: ['land'] });
});

test('the message of the day is set by who may speak for the sim, once it is shown what that would do', async () => {
  for (const [right, hidden] of [['speak', false], ['land', true]]) {
    const box = withDialogs();
    const given = [];
    const client = { person: async () => ({ admin: false, rights: [{ right }] }), would: async ({ text }) => ({ does: `tell ${text}`, refusal: null, acts: 1 }), govern: async (order) => (given.push(order), { ok: true }) };
    const tool = motdTool({ client, toasts: { say: () => {} } });
    await tool.show('Hello');
    assert.equal(tool.element.hidden, hidden);
    const [text] = tool.element.all('input');
    assert.equal(text.value, 'Hello');
    text.value = ' Market at eight. ';
    tool.element.all('button')[0].click();
    await drained();
    assert.ok(box.textContent.includes(t('would.does', { does: 'tell Market at eight.' })), box.textContent);
    assert.deepEqual(given, [], 'it is only shown');
    box.all('form')[0].listeners.submit({ preventDefault: () => {} });
    await drained();
    assert.deepEqual(given, [{ verb: 'motd', text: 'Market at eight.' }]);
  }
});

test('a line says what was done, to what, for how long and why', () => {
  assert.deepEqual(told({ verb: 'ban', detail: 'spam', object: null, lasts: 'for good' }), ['banned', 'for good, spam']);
  assert.deepEqual(told({ verb: 'freeze', detail: '', object: 7, lasts: null }), ['froze thing 7', '']);
});
