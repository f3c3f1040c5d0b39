import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VERSION } from '../../web/wire/messages.js';

/** All that is settled by now is done. */
const drained = () => new Promise((resolve) => setImmediate(resolve));

const INPUT_AT = 4_096;

/**
 * A module that answers each call with the same: good or not, and some JSON; and keeps calls.
 * @param {number|null} version none leaves the export out, as old modules do
 */
function standIn(version) {
  const module = { good: 1, says: { handle: 1 }, calls: [] };
  const memory = new WebAssembly.Memory({ initial: 1 });
  const encoded = () => new TextEncoder().encode(JSON.stringify(module.says));
  const own = {
    memory,
    // After the output, so that it is still there to be looked at.
    input: () => INPUT_AT,
    output: () => {
      new Uint8Array(memory.buffer).set(encoded());
      return 0;
    },
    output_length: () => encoded().length,
    ...(version === null ? {} : { wire_version: () => version }),
  };
  const operation = (name) => (...numbers) => {
    module.calls.push([name, ...numbers]);
    return module.good;
  };
  module.input = (length) => [...new Uint8Array(memory.buffer, INPUT_AT, length)];
  module.exports = new Proxy(own, { get: (has, name) => has[name] ?? (name === 'wire_version' ? undefined : operation(name)) });
  return module;
}

/** A worker that was told to start with this module. @param {ReturnType<typeof standIn>} module */
async function started(module) {
  const said = [];
  globalThis.postMessage = (message) => void said.push(message);
  globalThis.fetch = async () => ({ ok: true });
  WebAssembly.compileStreaming = async () => 'compiled';
  WebAssembly.instantiate = async () => ({ exports: module.exports });
  started.count = (started.count ?? 0) + 1;
  await import(`../../web/prove/worker.js?${started.count}`);
  const tell = globalThis.onmessage;
  const [genesis, viewer] = [new Uint8Array(3), new Uint8Array(32).fill(9)];
  tell({ data: { type: 'start', wasm: '/m.wasm', genesis, sim: 'ab', viewer, version: VERSION } });
  await drained();
  return { said, tell: (data) => tell({ data }) };
}

test('a module that speaks the page\u2019s version begins, and each refusal is told', async () => {
  const module = standIn(VERSION);
  const { said, tell } = await started(module);
  assert.deepEqual(said, [{ type: 'ready', compiled: 'compiled' }]);
  Object.assign(module, { good: 0, says: { code: 'frame', text: 'seven bytes are left over' } });
  tell({ type: 'frame', frame: new Uint8Array(9) });
  assert.deepEqual([said[1].type, said[1].what], ['refused', 'frame']);
  assert.match(said[1].detail, /seven bytes are left over/);
});

test('the module is told whose avatar the own one is, and when it is in the world', async () => {
  const module = standIn(VERSION);
  const { tell } = await started(module);
  assert.deepEqual(module.calls, [['prover_new', 2]]);
  assert.deepEqual(module.input(32 + 2 + 3), [...Array(32).fill(9), 0x61, 0x62, 0, 0, 0]);
  tell({ type: 'present', present: true });
  tell({ type: 'present', present: false });
  assert.deepEqual(module.calls.slice(1), [['prover_present', 1, 1], ['prover_present', 1, 0]]);
});

test('a module of another version, or of none, is not used', async () => {
  for (const version of [null, VERSION - 1, VERSION + 1]) {
    const { said, tell } = await started(standIn(version));
    assert.deepEqual([said[0].type, said[0].code], ['failed', 'wasm-other']);
    assert.match(said[0].detail, new RegExp(`version ${VERSION} of the protocol`));
    tell({ type: 'frame', frame: new Uint8Array(9) });
    assert.equal(said.length, 1, 'and nothing else is said');
  }
});

test('a module that refuses the genesis that the page has read is of another version', async () => {
  const module = standIn(VERSION);
  Object.assign(module, { good: 0, says: { code: 'genesis', text: 'it is longer' } });
  const { said } = await started(module);
  assert.deepEqual([said[0].type, said[0].code], ['failed', 'wasm-other']);
});
