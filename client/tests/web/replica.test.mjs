import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReplicaMode } from '../../web/core/replica.js';
import { FakeWorker } from './fake-worker.mjs';

/** All that is settled by now is done. */
const drained = () => new Promise((resolve) => setImmediate(resolve));

const status = (over) => ({
  phase: 'following', height: 100, tick: 300, root: 'aa', checked: 98, ownRoot: 'bb',
  statedRoot: 'bb', decided: 100, received: 0, bytes: 0, ...over,
});

function running() {
  const stage = { height: 100, asked: [] };
  stage.mode = new ReplicaMode({
    changed: () => {},
    height: () => stage.height,
    askRaw: (question) =>
      new Promise((resolve, reject) => void stage.asked.push({ question, resolve, reject })),
  });
  stage.mode.start('compiled', new Uint8Array(3), 'ab');
  stage.worker = FakeWorker.last;
  return stage;
}

test('a replica is fed with what it asks for, and waits for turns that nobody decided', async () => {
  const stage = running();
  stage.worker.say({ type: 'want', want: { ask: 'part', height: 60, part: 2 } });
  assert.deepEqual(stage.asked[0].question, { SnapshotPart: { height: 60, part: 2 } });
  stage.asked[0].resolve({ kind: 'SnapshotPart', frame: Uint8Array.of(8, 1) });
  await drained();
  assert.deepEqual(stage.worker.took('frame')[0].frame, Uint8Array.of(8, 1));
  stage.worker.say({ type: 'want', want: { ask: 'turns', from: 101 } });
  assert.equal(stage.asked.length, 1);
  stage.height = 101;
  stage.mode.tick();
  assert.deepEqual(stage.asked[1].question, { Turns: { from: 101 } });
});

test('a replica tells its own root beside the certified one, and counts the turns that agree', () => {
  const { mode, worker } = running();
  worker.say({ type: 'status', status: status({ phase: 'snapshot', ownRoot: null, checked: 0 }) });
  assert.equal(mode.state.phase, 'snapshot');
  worker.say({ type: 'status', status: status() });
  worker.say({ type: 'status', status: status({ height: 110, checked: 108 }) });
  const { phase, certified, ownRoot, certifiedRoot, equal, behind } = mode.state;
  assert.deepEqual(
    [phase, certified, ownRoot, certifiedRoot, equal, behind],
    ['following', 108, 'bb', 'bb', 11, 0],
  );
});

test('a mismatch offers the capsule, and stays', () => {
  const { mode, worker } = running();
  const wrong = status({ phase: 'mismatch', statedRoot: 'cc' });
  worker.say({ type: 'status', status: wrong });
  worker.say({ type: 'mismatch', status: wrong, capsule: new Uint8Array(7) });
  assert.equal(mode.state.phase, 'mismatch');
  assert.equal(mode.state.capsule.size, 7);
  mode.stop();
  assert.ok(worker.ended && !mode.state.on);
});

test('a node without a snapshot is asked again, one without old turns for a snapshot', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const stage = running();
  stage.worker.say({ type: 'want', want: { ask: 'snapshot' } });
  stage.asked[0].resolve({ kind: 'Unknown', frame: Uint8Array.of(8, 1) });
  await drained();
  t.mock.timers.tick(500);
  assert.equal(stage.asked.length, 2);
  assert.deepEqual(stage.worker.took('frame'), []);
  stage.worker.say({ type: 'want', want: { ask: 'turns', from: 5 } });
  stage.asked[2].resolve({ kind: 'Unknown', frame: Uint8Array.of(8, 1) });
  await drained();
  assert.notEqual(FakeWorker.last, stage.worker);
  assert.ok(stage.worker.ended && stage.mode.state.phase === 'snapshot');
});

test('a replica whose snapshot is gone is told so, and begins with a newer one', async () => {
  const stage = running();
  const unknown = { kind: 'Unknown', frame: Uint8Array.of(8, 1) };
  stage.worker.say({ type: 'want', want: { ask: 'part', height: 60, part: 2 } });
  stage.asked[0].resolve(unknown);
  await drained();
  assert.deepEqual(stage.worker.took('frame').map(({ frame }) => frame), [unknown.frame]);
  assert.equal(stage.asked.length, 1, 'what to ask next the module says');
});

test('a question of a replica that there is no room for is asked again', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const stage = running();
  stage.worker.say({ type: 'want', want: { ask: 'links', after: 0 } });
  stage.asked[0].reject(new Error('Busy'));
  await drained();
  assert.equal(stage.asked.length, 1);
  t.mock.timers.tick(500);
  assert.deepEqual(stage.asked[1].question, { Links: { after: 0 } });
  stage.asked[1].reject(new Error('Busy'));
  await drained();
  stage.mode.stop();
  t.mock.timers.tick(500);
  assert.equal(stage.asked.length, 2, 'but not for a replica that is off');
});
