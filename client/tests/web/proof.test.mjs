import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Proofs } from '../../web/core/proof.js';
import { ReplicaMode } from '../../web/core/replica.js';
import { has } from '../../web/strings.js';

/** All that is settled by now is done. */
const drained = () => new Promise((resolve) => setImmediate(resolve));

/** What the page sees of a worker. */
class FakeWorker {
  constructor() {
    FakeWorker.last = this;
    this.got = [];
  }

  postMessage(message) {
    this.got.push(message);
  }

  terminate() {
    this.ended = true;
  }

  say(data) {
    this.onmessage({ data });
  }

  took(type) {
    return this.got.filter((message) => message.type === type);
  }
}
globalThis.Worker = FakeWorker;

const proven = {
  type: 'proven', of: 10, height: 12, time: 5, proposer: 'aa', round: 0, signers: ['aa', 'bb', 'cc'],
  members: 4, tiles: 3, lagging: 0, late: [], objects: [9],
};

function opened() {
  const stage = { time: 0, asked: [], told: 0, heights: [], sets: [] };
  stage.proofs = new Proofs({
    now: () => stage.time,
    changed: () => void (stage.told += 1),
    ask: async (question) => void stage.asked.push(question),
    proven: (height) => void stage.heights.push(height),
    voting: () => void stage.sets.push(stage.proofs.members),
  });
  stage.proofs.open();
  stage.worker = FakeWorker.last;
  return stage;
}

const events = (...list) => ({ type: 'events', events: list });

test('without a module nothing is proven, and the badge says so', () => {
  const proofs = new Proofs({ now: () => 0, changed: () => {}, ask: async () => {} });
  assert.deepEqual([proofs.state.level, proofs.state.reason], ['reduced', 'no-wasm']);
  const header = { height: 3, time: 1, proposer: 'aa', round: 0 };
  proofs.seen({ header, certificate: { signatures: [['aa', '']] } });
  assert.deepEqual(proofs.state.headers, [{ ...header, signers: ['aa'], verified: false }]);
});

test('a proof turns the badge green, and it stays so only while proofs come', () => {
  const { proofs, worker, ...stage } = opened();
  assert.deepEqual([proofs.state.level, proofs.state.reason], ['amber', 'waiting']);
  worker.say(events(proven));
  assert.deepEqual(stage.heights, [12]);
  const { level, of, signed, members, headers } = proofs.state;
  assert.deepEqual([level, of, signed, members], ['green', 10, 3, 4]);
  assert.equal(headers[0].height, 12);
  assert.ok(headers[0].verified);
  proofs.tick(true);
  assert.equal(proofs.state.level, 'green');
  proofs.now = () => stage.time + 5_000;
  proofs.tick(true);
  assert.deepEqual([proofs.state.level, proofs.state.reason], ['amber', 'late']);
});

test('a part of what is near that stays away is told of, until it is there', () => {
  const { proofs, worker } = opened();
  worker.say(events(proven));
  worker.say(events({ ...proven, lagging: 2 }));
  assert.equal(proofs.state.level, 'green', 'it may come with the next proof');
  worker.say(events({ ...proven, of: 70, lagging: 2, late: [[-1, 2], [0, 2]] }));
  const { level, reason, detail, of } = proofs.state;
  assert.deepEqual([level, reason, detail, of], ['amber', 'missing', 'tile -1,2 0,2', 70]);
  assert.ok(has(`reason.${reason}`));
  worker.say(events(proven));
  assert.equal(proofs.state.level, 'green');
});

test('the newest headers are listed, and the others forgotten', () => {
  const { proofs, worker } = opened();
  for (let height = 1; height <= 70; height++) worker.say(events({ ...proven, height }));
  const heights = proofs.state.headers.map((header) => header.height);
  assert.deepEqual([heights.length, heights[0], heights[63]], [64, 70, 7]);
});

test('a lie turns the badge red, and no later proof of that server turns it back', () => {
  for (const lie of [
    events({ type: 'mismatch', of: 10, code: 'leaf', text: 'tile/0,0' }),
    { type: 'shown', found: { id: 9, code: 'position' } },
  ]) {
    const { proofs, worker } = opened();
    worker.say(lie);
    worker.say(events(proven));
    assert.equal(proofs.state.level, 'red');
    assert.ok(proofs.state.detail.length > 3);
    proofs.moved();
    worker.say(events(proven));
    assert.equal(proofs.state.level, 'green', 'another server is judged anew');
  }
});

test('what is shown and the same changes nothing', () => {
  const { proofs, worker } = opened();
  worker.say(events(proven));
  worker.say({ type: 'shown', found: { same: 5 } });
  worker.say({ type: 'shown', found: null });
  assert.equal(proofs.state.level, 'green');
});

test('set changes are asked about when the module wants them', () => {
  const { worker, asked } = opened();
  worker.say(events({ type: 'links', after: 7 }));
  assert.deepEqual(asked, [{ Links: { after: 7 } }]);
});

test('who votes is known once something is proven, and told when that changes', () => {
  const { proofs, worker, sets } = opened();
  const of = (...keys) => keys.map((key) => ({ key, power: 1 }));
  proofs.start('/metatopia.wasm', { bytes: new Uint8Array(3), validators: of('aa') }, 'ab', 'cd');
  worker.say(events({ type: 'links', after: 0 }));
  assert.equal(proofs.members, null);
  worker.say(events(proven, proven));
  worker.say(events(proven));
  const follow = (...keys) => ({ type: 'followed', height: 9, members: of(...keys) });
  worker.say(events(follow('bb'), follow('bb', 'cc'), proven));
  assert.deepEqual(sets, [of('aa'), of('bb', 'cc')]);
  worker.say({ type: 'failed', code: 'wasm-ended', detail: 'unreachable' });
  assert.equal(proofs.members, null, 'it would grow old');
});

test('a module that cannot be had, or ends, is no proof', () => {
  const { proofs, worker } = opened();
  worker.say(events(proven));
  worker.say({ type: 'failed', code: 'wasm-ended', detail: 'unreachable' });
  assert.deepEqual([proofs.state.level, proofs.state.reason], ['reduced', 'wasm-ended']);
  assert.ok(worker.ended && !proofs.works);
});

test('a module that refuses what the page reads is of another version, and proves nothing', () => {
  for (const what of ['frame', 'shown', 'begin']) {
    const { proofs, worker } = opened();
    worker.say({ type: 'refused', what, detail: 'frame: 7 bytes are left over' });
    const { level, reason, detail } = proofs.state;
    assert.deepEqual([level, reason], ['reduced', 'wasm-other'], what);
    assert.equal(detail, 'frame: 7 bytes are left over');
    assert.ok(worker.ended && !proofs.works && has(`reason.${reason}`));
  }
});

test('what the page cannot read either, and walks, say nothing about the module', () => {
  const { proofs, worker } = opened();
  proofs.unreadable();
  worker.say({ type: 'refused', what: 'frame', detail: 'frame: it ends too early' });
  worker.say({ type: 'refused', what: 'predict', detail: 'input: 90 ticks' });
  assert.deepEqual([proofs.state.level, proofs.works], ['amber', true]);
  worker.say({ type: 'refused', what: 'frame', detail: 'frame: it ends too early' });
  assert.equal(proofs.state.reason, 'wasm-other');
});

test('comparisons go round all that is drawn', () => {
  const { proofs, worker } = opened();
  const body = { position: { x: 1, y: 2 }, facing: { x: 3, y: 4 } };
  const ids = Array.from({ length: 600 }, (_, id) => id);
  const tiles = { height: 9, places: new Map(ids.map((id) => [id, ''])), get: () => ({ body }) };
  const seen = new Set();
  for (let n = 0; n < 3; n++) proofs.compare(tiles);
  for (const { drawn } of worker.took('shown')) {
    assert.ok(drawn.ids.length <= 256 && drawn.height === 9);
    assert.deepEqual([...drawn.numbers.slice(0, 4)], [1, 2, 3, 4]);
    drawn.ids.forEach((id) => seen.add(id));
  }
  assert.equal(seen.size, 600);
});

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
  stage.mode.start('/metatopia.wasm', new Uint8Array(3), 'ab');
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
