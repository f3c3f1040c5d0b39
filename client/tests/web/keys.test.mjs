import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { checkpointOf, fragmentOf, ticketOf } from '../../web/core/fragment.js';
import { fromHex, toHex } from '../../web/core/bytes.js';
import { Identity, randomLane } from '../../web/core/keys.js';
import { memoryStore } from '../../web/core/store.js';

/** Stands in for the module: any function of the bytes will do. */
const hash = (...parts) => new Uint8Array(createHash('sha256').update(parts.join()).digest());
const scheme = { publicKey: (secret) => hash('key', secret), keyDesk: (task) => ({ text: JSON.stringify(task) }) };

test('a key is kept, written by the module, and another one takes its place', async () => {
  const store = memoryStore();
  const made = await Identity.open(scheme, store);
  assert.equal((await Identity.open(scheme, store)).public, made.public, 'two tabs agree');
  assert.notEqual((await Identity.open(scheme, memoryStore())).public, made.public, 'each browser has its own');
  assert.deepEqual([made.kept, made.why, made.rotation], [false, 'no-storage', null]);
  assert.deepEqual(JSON.parse(made.export()), { do: 'write', secret: made.secret, rotation: null });
  const other = { secret: '07'.repeat(32), rotation: 'metatopia-rotation-1 00' };
  await Identity.keep(store, other);
  const now = await Identity.open(scheme, store);
  assert.deepEqual([now.secret, now.rotation], [other.secret, other.rotation], 'with the document that led to it');
});

test('a lane is a number of 64 bits in decimal digits', () => {
  const lanes = Array.from({ length: 100 }, randomLane);
  for (const lane of lanes) assert.ok(BigInt(lane) < 2n ** 64n && /^\d+$/.test(lane));
  assert.equal(new Set(lanes).size, 100);
});

test('bytes are written and read as hexadecimal digits', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, n) => n);
  assert.deepEqual(fromHex(toHex(bytes)), bytes);
  assert.deepEqual(fromHex(''), new Uint8Array(0));
  for (const wrong of ['0', 'AB', 'xy']) assert.throws(() => fromHex(wrong));
});

test('the end of a link is a ticket, a checkpoint, or both', () => {
  const secret = '07'.repeat(32);
  assert.equal(ticketOf(`#ticket=${secret}`), secret);
  for (const text of ['', '#', '#ticket=', `#ticket=${secret}0`, `#key=${secret}`]) assert.equal(ticketOf(text), null);
  const checkpoint = 'a+b/c=1 2&3';
  assert.equal(checkpointOf(fragmentOf(checkpoint)), checkpoint);
  assert.equal(fragmentOf(null), '');
  const both = `#ticket=${secret}&at=x`;
  assert.deepEqual([ticketOf(both), checkpointOf(both)], [secret, 'x']);
  assert.equal(checkpointOf(`#at=${'x'.repeat(200)}`).length, 200);
  for (const text of ['#at=', `#at=${'x'.repeat(201)}`, `#ticket=${secret}`]) assert.equal(checkpointOf(text), null);
});
