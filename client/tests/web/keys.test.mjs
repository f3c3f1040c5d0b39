import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { checkpointOf, fragmentOf, ticketOf } from '../../web/core/fragment.js';
import { fromHex, toHex } from '../../web/core/bytes.js';
import { Identity, randomLane } from '../../web/core/keys.js';
import { memoryStore } from '../../web/core/store.js';

/** Stands in for the module: any function of the bytes will do. */
const hash = (...parts) => new Uint8Array(createHash('sha256').update(parts.join()).digest());
const scheme = { publicKey: (secret) => hash('key', secret), digest: hash };

test('a key goes out as a line and comes back, and a slip of the pen is seen', async () => {
  const store = memoryStore();
  const made = await Identity.open(scheme, store);
  assert.equal((await Identity.open(scheme, store)).public, made.public, 'two tabs agree');
  assert.notEqual((await Identity.open(scheme, memoryStore())).public, made.public, 'each browser has its own');
  assert.deepEqual([made.kept, made.why], [false, 'no-storage']);
  const line = made.export();
  assert.match(line, /^metatopia-key-1:[0-9a-f]{64}:[0-9a-f]{8}$/);
  const other = memoryStore();
  assert.equal((await Identity.import(scheme, other, ` ${line.toUpperCase()}\n`)).secret, made.secret);
  assert.equal((await Identity.open(scheme, other)).secret, made.secret, 'it is kept from now on');
  const slip = line.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
  await assert.rejects(Identity.import(scheme, other, slip), { code: 'mistyped' });
  await assert.rejects(Identity.import(scheme, other, 'a key'), { code: 'no-key' });
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
