import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { digest } from '../../web/core/digest.js';
import { entranceVerified } from '../../web/core/entrances.js';
import { readPackage } from '../../web/core/packages.js';
import { readGenesis } from '../../web/core/genesis.js';
import { fromHex, toHex } from '../../web/wire/buffer.js';
import * as messages from '../../web/wire/messages.js';
import * as postcard from '../../web/wire/postcard.js';
import * as state from '../../web/wire/state.js';
import * as types from '../../web/wire/types.js';

const file = readFileSync(new URL('./vectors.json', import.meta.url), 'utf8');
const rows = JSON.parse(file);
const schemas = {
  client: messages.clientMessage,
  server: messages.serverMessage,
  entry: state.entry,
  package: state.sourcePackage,
  act: types.signedEnvelope,
  header: types.header,
  blob: postcard.bytes,
  entrance: messages.signedEntrance,
};
const LIMIT = messages.SERVER_FRAME_BYTES_MAX;
const known = rows.filter((row) => row.kind in schemas);
const named = (kind) => rows.find((row) => row.kind === kind);

/** Long rows of bytes are written as hexadecimal text in the file. */
function plain(value) {
  if (Array.isArray(value)) {
    const byte = (each) => Number.isInteger(each) && each >= 0 && each < 256;
    return value.length >= 16 && value.every(byte) ? toHex(Uint8Array.from(value)) : value.map(plain);
  }
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, held]) => [name, plain(held)]));
}

test('every message of the protocol is read as the servers mean it, and written as they do', () => {
  assert.ok(known.length > 100);
  for (const row of known) {
    const schema = schemas[row.kind];
    const value = postcard.decode(schema, fromHex(row.hex), LIMIT);
    assert.deepEqual(plain(schema.json(value)), row.value);
    assert.equal(toHex(postcard.encode(schema, value)), row.hex);
  }
});

test('every kind of message has a vector', () => {
  const seen = (kind, path) =>
    new Set(
      rows
        .filter((row) => row.kind === kind)
        .map((row) => path.reduce((value, name) => value?.[name], row.value))
        .filter((value) => value !== undefined)
        .map((value) => postcard.variant(value)[0]),
    );
  const all = (schema) => new Set(schema.names);
  assert.deepEqual(seen('client', []), all(messages.clientMessage));
  assert.deepEqual(seen('client', ['Ask', 'question']), all(messages.question));
  assert.deepEqual(seen('client', ['Submit', 'act', 'envelope', 'act']), all(types.act));
  assert.deepEqual(seen('server', []), all(messages.serverMessage));
  assert.deepEqual(seen('server', ['Answer', 'answer']), all(messages.answer));
  assert.deepEqual(seen('server', ['Outcome', 'outcome']), all(types.outcome));
});

test('a frame that is cut anywhere is refused', () => {
  for (const row of known) {
    const frame = fromHex(row.hex);
    const cuts = frame.length < 600 ? frame.keys() : [0, 1, 50, frame.length - 1];
    for (const cut of cuts) {
      const read = () => postcard.decode(schemas[row.kind], frame.slice(0, cut), LIMIT);
      assert.throws(read, /the bytes end|beyond the end|bytes after/, `${row.hex} at ${cut}`);
    }
  }
});

test('what follows a value, and second forms of an integer, are refused', () => {
  const ping = messages.encodeClient({ Ping: { token: 1n } });
  assert.throws(() => messages.decodeClient(Uint8Array.of(...ping, 0)), { code: 'not-canonical' });
  const padded = Uint8Array.of(...ping.slice(0, -1), 0x81, 0);
  assert.throws(() => messages.decodeClient(padded), { code: 'not-canonical' });
  const long = new Uint8Array(messages.CLIENT_FRAME_BYTES_MAX + 1);
  assert.throws(() => messages.decodeClient(long), { code: 'oversize' });
});

test('integers go to their last bit, and not past it', () => {
  const read = (schema, hex) => postcard.decode(schema, fromHex(hex), 20);
  for (const [schema, value, hex] of [
    [postcard.u16, 65_535, 'ffff03'],
    [postcard.u32, 4_294_967_295, 'ffffffff0f'],
    [postcard.count, 2 ** 53 - 1, 'ffffffffffffff0f'],
    [postcard.u64, 2n ** 64n - 1n, 'ffffffffffffffffff01'],
    [postcard.i32, -(2 ** 31), 'ffffffff0f'],
    [postcard.i32, 2 ** 31 - 1, 'feffffff0f'],
    [postcard.i64, -(2n ** 63n), 'ffffffffffffffffff01'],
    [postcard.i64, 2n ** 63n - 1n, 'feffffffffffffffff01'],
  ]) {
    assert.equal(read(schema, hex), value);
    assert.equal(toHex(postcard.encode(schema, value)), hex);
  }
  for (const [schema, hex] of [
    [postcard.u16, 'ffff04'],
    [postcard.u16, 'ffff8300'],
    [postcard.u32, 'ffffffff10'],
    [postcard.count, '8080808080808010'],
    [postcard.u64, 'ffffffffffffffffff02'],
    [postcard.u64, 'ffffffffffffffffff8100'],
    [postcard.bool, '02'],
    [postcard.option(postcard.u8), '0201'],
    [postcard.text, '02c328'],
    [postcard.text, 'ffffffffffffffffff01'],
  ]) {
    assert.throws(() => read(schema, hex), { name: 'WireError' }, hex);
  }
  assert.throws(() => postcard.encode(postcard.u16, 65_536), RangeError);
  assert.throws(() => postcard.encode(postcard.i32, 2 ** 31), RangeError);
  assert.throws(() => postcard.encode(postcard.u64, 2n ** 64n), RangeError);
});

test('ids come to what the servers say', () => {
  const [act, header, blob] = ['act', 'header', 'blob'].map(named);
  const signed = postcard.decode(types.signedEnvelope, fromHex(act.hex), LIMIT);
  const envelope = postcard.encode(types.envelope, signed.envelope);
  assert.equal(digest('metatopia act v1', envelope), act.id);
  assert.equal(digest('metatopia header v1', fromHex(header.hex)), header.id);
  const words = postcard.decode(postcard.bytes, fromHex(blob.hex), LIMIT);
  assert.equal(digest('metatopia blob v1', words), blob.id);
});

test('a package re-hashes to its id, and one that was touched does not', () => {
  const row = named('package');
  const bytes = fromHex(row.hex);
  const found = readPackage(bytes, row.id);
  assert.ok(found.verified);
  assert.equal(found.manifest.name, 'door');
  assert.equal(found.manifest.version, '1.20.300');
  assert.deepEqual(found.files.map((each) => each.path), ['docs/readme.md', 'door.rhai']);
  assert.ok(!readPackage(bytes, '0'.repeat(64)).verified);
  bytes[bytes.length - 2] ^= 1;
  const touched = readPackage(bytes, row.id);
  assert.ok(!touched.verified, 'a file that is not the one of the manifest');
});

test('a genesis is read as far as a client needs it, if it is the sim\'s', () => {
  const row = named('genesis');
  const genesis = readGenesis(fromHex(row.hex), row.id);
  assert.equal(genesis.name, 'plaza');
  assert.equal(genesis.ticksPerTurn, 3);
  assert.equal(genesis.avatar.speed, 4);
  assert.equal(genesis.avatar.acceleration, 24);
  assert.throws(() => readGenesis(fromHex(row.hex), '0'.repeat(64)), /other-sim/);
});

test('an entrance counts if its server signed it', () => {
  const row = named('entrance');
  const signed = postcard.decode(messages.signedEntrance, fromHex(row.hex), LIMIT);
  assert.equal(signed.entrance.server, row.id);
  assert.ok(entranceVerified(signed));
  signed.entrance.http = 'http://127.0.0.1:8081';
  assert.ok(!entranceVerified(signed));
});
