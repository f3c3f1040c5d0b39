// Writes signatures.json: signatures that verifiers disagree about, with the verdict of the strict
// rules, for the page's verifier and the servers' to be tested with. The verdicts here follow from
// how each signature is made, not from a verifier.
import { writeFileSync } from 'node:fs';
import { Point, hashes, sha512, utils } from '../../web/vendor/noble/index.js';
import { toHex } from '../../web/wire/buffer.js';

hashes.sha512 = sha512;
const L = Point.CURVE().n;
const P = Point.CURVE().p;
const rows = [];

const number = (bytes) => BigInt(`0x${toHex(Uint8Array.from(bytes).reverse()) || '0'}`);
const scalarBytes = (value) =>
  Uint8Array.from({ length: 32 }, (_, i) => Number((value >> BigInt(8 * i)) & 255n));
const join = (...parts) => Uint8Array.from(parts.flatMap((part) => [...part]));
const utf8 = (text) => new TextEncoder().encode(text);
const challengeOf = (r, key, message) => number(sha512(join(r, key, message))) % L;

const add = (name, key, message, signature, valid) =>
  rows.push({ name, key: toHex(key), message: toHex(message), signature: toHex(signature), valid });

const holder = utils.getExtendedPublicKey(new Uint8Array(32).fill(5));
const [secret, key] = [holder.scalar, holder.pointBytes];
const message = utf8('a turn');

/** Signs with these very parts: the commitment as it is shown, and the number behind it. */
function made(r, shown, publicKey, text) {
  const challenge = challengeOf(shown, publicKey, text);
  return join(shown, scalarBytes((r + challenge * secret) % L));
}

const r = 123_456_789n;
const R = Point.BASE.multiply(r);
const honest = (text) => made(r, R.toBytes(), key, text);

for (const [name, text] of [['nothing', ''], ['a byte', 'x'], ['a sentence', 'Good morning.']]) {
  add(`honest, of ${name}`, key, utf8(text), honest(utf8(text)), true);
}
const signature = honest(message);
for (const at of [0, 31, 32, 63]) {
  const changed = signature.slice();
  changed[at] ^= 1;
  add(`a bit of byte ${at} changed`, key, message, changed, false);
}
add('another message', key, utf8('b turn'), signature, false);

const S = number(signature.subarray(32));
const withS = (value) => join(signature.subarray(0, 32), scalarBytes(value));
add('S + L', key, message, withS(S + L), false);
add('S = L', key, message, withS(L), false);
add('S = 0', key, message, withS(0n), false);
add('S with its highest bit', key, message, withS(S | (1n << 255n)), false);

// The eight points of small order, from one of order eight: any point times L.
const torsion = (() => {
  for (let y = 2n; ; y += 1n) {
    try {
      const some = Point.fromBytes(scalarBytes(y), false);
      const small = some.multiply(L - 1n, false).add(some);
      if (!small.multiply(4n, false).is0()) return small;
    } catch { /* no point has this y */ }
  }
})();
const smalls = Array.from({ length: 8 }, (_, n) => torsion.multiply(BigInt(n), false));
for (const [n, small] of smalls.entries()) {
  const bytes = small.toBytes();
  add(`small key ${n}, R = it, S = 0`, bytes, message, join(bytes, scalarBytes(0n)), false);
  add(`small key ${n}, R = 1, S = 0`, bytes, message, join(Point.ZERO.toBytes(), scalarBytes(0n)), false);
  add(`small R ${n}`, key, message, made(0n, bytes, key, message), false);
}

// Second encodings: y + p where that has 255 bits, and the sign of an x that is zero.
const one = scalarBytes(1n);
const signed = (bytes) => Uint8Array.from(bytes, (byte, i) => (i === 31 ? byte | 0x80 : byte));
for (const [name, bytes] of [
  ['1 + p', scalarBytes(1n + P)],
  ['0 + p', scalarBytes(P)],
  ['1 with a sign', signed(one)],
  ['-1 with a sign', signed(scalarBytes(P - 1n))],
  ['1 + p with a sign', signed(scalarBytes(1n + P))],
  ['3 + p', scalarBytes(3n + P)],
  ['4 + p', scalarBytes(4n + P)],
  ['2^255 - 1', scalarBytes(2n ** 255n - 1n)],
]) {
  add(`key ${name}, R = 1, S = 0`, bytes, message, join(one, scalarBytes(0n)), false);
  add(`key ${name}, R = it, S = 0`, bytes, message, join(bytes, scalarBytes(0n)), false);
  add(`R ${name}`, key, message, made(0n, bytes, key, message), false);
}
add('key that is no point', scalarBytes(2n), message, signature, false);
add('R that is no point', key, message, join(scalarBytes(2n), signature.subarray(32)), false);

// A part of small order in R passes where the equation is multiplied by eight, and not here.
for (const n of [1, 2, 4]) {
  const shown = R.add(smalls[n]).toBytes();
  add(`R with a part of small order ${n}`, key, message, made(r, shown, key, message), false);
}
// In a key it vanishes if the challenge is a multiple of eight: then strict verifiers take it.
const mixed = Point.fromBytes(key, false).add(smalls[1]).toBytes();
let taken = 0;
let refused = 0;
for (let n = 0; taken < 2 || refused < 2; n++) {
  const text = utf8(`turn ${n}`);
  const vanishes = challengeOf(R.toBytes(), mixed, text) % 8n === 0n;
  if (vanishes ? taken++ >= 2 : refused++ >= 2) continue;
  const name = `key with a part of small order that ${vanishes ? 'vanishes' : 'stays'}`;
  add(name, mixed, text, made(r, R.toBytes(), mixed, text), vanishes);
}

const text = `[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]\n`;
writeFileSync(new URL('./signatures.json', import.meta.url), text);
