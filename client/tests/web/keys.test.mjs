import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { publicKey, sign, verify } from '../../web/core/ed25519.js';
import { fromHex } from '../../web/wire/buffer.js';

const rows = JSON.parse(readFileSync(new URL('./signatures.json', import.meta.url), 'utf8'));

test('signatures on the edge get the verdict of the servers', () => {
  assert.ok(rows.length > 20);
  for (const row of rows) {
    const verdict = verify(fromHex(row.key), fromHex(row.message), fromHex(row.signature));
    assert.equal(verdict, row.valid, row.name);
  }
});

test('what is signed is verified, and of the wrong length is not', () => {
  const secret = new Uint8Array(32).fill(9);
  const message = new TextEncoder().encode('hello');
  const signature = sign(message, secret);
  assert.ok(verify(publicKey(secret), message, signature));
  assert.ok(!verify(publicKey(secret), message, signature.subarray(1)));
  assert.ok(!verify(publicKey(secret).subarray(1), message, signature));
});
