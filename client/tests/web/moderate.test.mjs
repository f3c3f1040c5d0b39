// Orders about people: what is sent, who is asked, and how the list of orders reads.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { mayModerate, orderOf, told } from '../../web/ui/moderate.js';

test('admins and those with the right may moderate, and nobody else', () => {
  assert.ok(mayModerate({ admin: true, rights: [] }));
  assert.ok(mayModerate({ admin: false, rights: [{ right: 'land' }, { right: 'moderate' }] }));
  assert.ok(!mayModerate({ admin: false, rights: [{ right: 'build' }] }));
});

test('only mutes and bans have a time and a reason', () => {
  assert.deepEqual(orderOf('mute', 'ab', 'hour', 'spam'), { verb: 'mute', key: 'ab', seconds: 3_600, reason: 'spam' });
  assert.deepEqual(orderOf('ban', 'ab', 'ever', ''), { verb: 'ban', key: 'ab', seconds: null, reason: '' });
  assert.deepEqual(orderOf('kick', 'ab', 'hour', 'spam'), { verb: 'kick', key: 'ab' });
});

test('a line says what was done, to what, for how long and why', () => {
  assert.deepEqual(told({ verb: 'ban', detail: 'spam', object: null, lasts: 'for good' }), ['banned', 'for good, spam']);
  assert.deepEqual(told({ verb: 'freeze', detail: '', object: 7, lasts: null }), ['froze thing 7', '']);
});
