import assert from 'node:assert/strict';
import { test } from 'node:test';

/** All that is settled by now is done. */
const drained = () => new Promise((resolve) => setImmediate(resolve));

const INPUT_AT = 4_096;
const NAME = { secret: '09'.repeat(32), sim: 'ab', lane: '7', ticket: null, at: null, checkpoint: null };

/** A module whose calls are good and give nothing, unless a test says otherwise; keeps all calls. */
function standIn() {
  const module = { good: 1, says: {}, calls: [], frames: [] };
  const memory = new WebAssembly.Memory({ initial: 1 });
  const json = (value) => new TextEncoder().encode(JSON.stringify(value));
  let out = new Uint8Array(0);
  const own = {
    memory,
    // After the output, so that it is still there to be looked at.
    input: () => INPUT_AT,
    output: () => (new Uint8Array(memory.buffer).set(out), 0),
    output_length: () => out.length,
  };
  const operation = (name) => (...numbers) => {
    if (name === 'core_outgoing') out = module.frames.shift() ?? new Uint8Array(0);
    else if (name === 'core_events') [out, module.says.core_events] = [json(module.says.core_events ?? []), undefined];
    else {
      module.calls.push([name, ...numbers]);
      out = json(module.says[name] ?? { handle: 3 });
      return module.good;
    }
    return 1;
  };
  module.input = (length) => new Uint8Array(memory.buffer, INPUT_AT, length).slice();
  module.exports = new Proxy(own, { get: (has, name) => has[name] ?? operation(name) });
  return module;
}

/** A worker that was told to start with this module. */
async function started(t, module, genesis = new Uint8Array(3)) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const said = [];
  globalThis.postMessage = (message, transfer) => void said.push({ ...message, given: transfer?.length ?? 0 });
  WebAssembly.instantiate = async () => ({ exports: module.exports });
  started.count = (started.count ?? 0) + 1;
  await import(`../../web/core/worker.js?${started.count}`);
  const tell = globalThis.onmessage;
  tell({ data: { type: 'start', compiled: 'compiled', name: NAME, genesis, origin: performance.timeOrigin - 1_000 } });
  return { said, tell: (data) => tell({ data }) };
}

test('a core gets who speaks with which sim, then the genesis', async (t) => {
  const module = standIn();
  const { said } = await started(t, module, Uint8Array.of(1, 2, 3));
  await drained();
  const name = JSON.stringify(NAME);
  assert.deepEqual(module.calls, [['core_new', name.length]]);
  const input = module.input(name.length + 3);
  assert.equal(new TextDecoder().decode(input.subarray(0, name.length)), name);
  assert.deepEqual([...input.subarray(name.length)], [1, 2, 3]);
  assert.deepEqual(said, [{ type: 'ready', given: 0 }]);
});

test('frames and commands come to the core in order, also those from before it was there', async (t) => {
  const module = standIn();
  const { tell } = await started(t, module);
  tell({ type: 'connected', connection: 1 });
  tell({ type: 'frame', frame: Uint8Array.of(5, 6) });
  await drained();
  tell({ type: 'command', command: { id: 1, do: 'leave' } });
  tell({ type: 'disconnected' });
  const names = module.calls.map(([name]) => name);
  assert.deepEqual(names, ['core_new', 'core_connected', 'core_frame', 'core_command', 'core_disconnected']);
});

test('each call tells the page\u2019s clock and the time of day', async (t) => {
  const module = standIn();
  const { tell } = await started(t, module);
  await drained();
  tell({ type: 'connected', connection: 1 });
  t.mock.timers.tick(100);
  assert.equal(module.calls.at(-1)[0], 'core_tick');
  for (const [, handle, now, wall] of module.calls.slice(1)) {
    assert.equal(handle, 3);
    assert.ok(Math.abs(now - (performance.now() + 1_000)) < 1_000, `${now}`);
    assert.ok(Math.abs(wall - Date.now()) < 1_000, `${wall}`);
  }
});

test('after each call all frames and events go out, with the number of their connection', async (t) => {
  const module = standIn();
  const { said, tell } = await started(t, module);
  await drained();
  module.frames = [Uint8Array.of(1), Uint8Array.of(2, 2)];
  module.says.core_events = [{ type: 'open', server: 'aa' }];
  tell({ type: 'connected', connection: 4 });
  const [, frames, events] = said;
  assert.deepEqual([frames.type, frames.connection, frames.given], ['frames', 4, 2]);
  assert.deepEqual(frames.frames, [Uint8Array.of(1), Uint8Array.of(2, 2)]);
  assert.deepEqual(events, { type: 'events', connection: 4, events: [{ type: 'open', server: 'aa' }], given: 0 });
  tell({ type: 'disconnected' });
  assert.equal(said.length, 3, 'nothing is said where there is nothing to say');
});

test('a genesis that the core refuses is told, and so is a command', async (t) => {
  const refusing = standIn();
  Object.assign(refusing, { good: 0, says: { core_new: { code: 'other_genesis', text: 'it is of another sim' } } });
  const refused = await started(t, refusing);
  await drained();
  assert.deepEqual(refused.said.map(({ type, code }) => [type, code]), [['refused', 'other_genesis']]);
  t.mock.timers.reset();

  const module = standIn();
  const { said, tell } = await started(t, module);
  await drained();
  Object.assign(module, { good: 0, says: { core_command: { code: 'command', text: 'nobody knows it' } } });
  tell({ type: 'command', command: { id: 8, do: 'fly' } });
  assert.deepEqual(said[1].events, [{ type: 'failed', id: 8, code: 'command', detail: 'nobody knows it' }]);
  module.good = 1;
  tell({ type: 'command', command: { id: 9, do: 'leave' } });
  assert.equal(module.calls.at(-1)[0], 'core_command', 'it goes on');
});

test('a core that ended says so once, and does nothing any more', async (t) => {
  const module = standIn();
  const { said, tell } = await started(t, module);
  await drained();
  module.good = 0;
  module.says.core_frame = { code: 'frame', text: 'no page does this' };
  tell({ type: 'frame', frame: Uint8Array.of(1) });
  tell({ type: 'frame', frame: Uint8Array.of(2) });
  assert.deepEqual(said.slice(1).map(({ type, code }) => [type, code]), [['failed', 'wasm-ended']]);
});
