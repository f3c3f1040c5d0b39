import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Engine } from '../../web/core/engine.js';
import { Unframer, enframe } from '../../web/core/framing.js';
import { loadModule } from '../../web/core/load.js';
import { Servers } from '../../web/core/servers.js';
import { memoryStore } from '../../web/core/store.js';
import { Progress } from '../../web/ui/state.js';
import { Stage, drained, when } from './stage.mjs';

const A = 'http://127.0.0.1:1';
const B = 'http://127.0.0.1:2';
const IDENTITY = { public: '0c'.repeat(32), secret: '04'.repeat(32), rotation: 'metatopia-rotation-1 00' };
const GENESIS = {
  type: 'genesis', name: 'plaza', engine: 1, ticksPerTurn: 3, avatar: {}, hearing: 8, admins: [], validators: [], packages: [],
};

/** A client at a node, as far as the core lets it in. */
async function entered(t, stage, options = {}) {
  const client = new Engine({ origin: A, identity: IDENTITY, compiled: 'compiled', ...options });
  t.after(() => client.stop());
  const open = when(client, 'status', () => client.status.phase === 'open');
  client.start();
  await open;
  stage.core.say(GENESIS);
  await drained();
  return client;
}

test('the core starts with the genesis of the first node, and the session opens', async (t) => {
  const stage = new Stage();
  const node = stage.add(A);
  const client = await entered(t, stage, { ticket: 'aa', at: { x: 1, y: 2 } });
  const [begin, connected, first] = stage.core.told;
  const { lane, random, ...name } = begin.name;
  assert.match(lane, /^\d+$/);
  assert.match(random, /^[0-9a-f]{64}$/);
  assert.deepEqual(name, { secret: IDENTITY.secret, rotation: IDENTITY.rotation, ticket: 'aa', at: { x: 1, y: 2 }, sim: stage.sim, checkpoint: null });
  assert.deepEqual([begin.compiled, begin.genesis], ['compiled', stage.genesis]);
  assert.deepEqual([connected.type, connected.connection], ['connected', 1]);
  assert.deepEqual([first.type, first.given], ['frame', 1], 'its bytes are given away, not copied');
  const { phase, carrier, http, sim, simName, pending } = client.status;
  assert.deepEqual([phase, carrier, http, sim, simName, pending], ['open', 'websocket', A, stage.sim, 'plaza', 0]);
  assert.deepEqual(client.genesis.bytes, stage.genesis);
  client.stop();
  assert.deepEqual([client.status.phase, node.sockets.size, stage.core.ended], ['closed', 0, true]);
});

test('acts are commands, and end as the core says', async (t) => {
  const stage = new Stage();
  stage.add(A);
  const client = await entered(t, stage);
  const look = { color: 1, shape: 'star' };
  const acts = [
    [client.login('ada', look), 'login', { name: 'ada', look }],
    [client.say('hi', 1), 'say', { text: 'hi', channel: 1 }],
    [client.touch(9), 'touch', { object: 9 }],
    [client.sit(9), 'sit', { on: 9 }],
    [client.walk(0.5, -1), 'walk', { x: 0.5, y: -1 }],
    [client.build.place({ kind: 'crate', name: 'c', color: 1, w: 2, x: 1, y: 2 }), 'place', {
      spec: { text: '', round: false, h: 2, movable: true, angle: 0, licence: 'CcBySa', kind: 'crate', name: 'c', color: 1, w: 2, x: 1, y: 2 },
    }],
    [client.build.resize(2, 3, 4), 'resize', { object: 2, w: 3, h: 4 }],
    [client.build.attach(2, 'ab'), 'attach', { object: 2, package: 'ab' }],
    [client.build.upgrade(2, 9, 'ab'), 'upgrade', { object: 2, script: 9, package: 'ab' }],
    [client.build.letTravel(2, true), 'let_travel', { object: 2, travels: true }],
    [client.build.take(2), 'take', { object: 2 }],
    [client.build.putDown(2), 'put_down', { object: 2 }],
    [client.build.stow(2), 'stow', { object: 2 }],
    [client.build.fetch(2, 1, 0.5, true), 'fetch', { object: 2, hx: 1, hy: 0.5, movable: true }],
    [client.build.join(2, null, 'motor', -3), 'join', { object: 2, to: null, kind: 'motor', rate: -3 }],
    [client.build.unjoin(2), 'unjoin', { object: 2 }],
    [client.publish({ name: 'bell' }), 'publish', { draft: { name: 'bell' } }],
    [client.check('fn f() {}', { a: 'ab' }), 'check', { source: 'fn f() {}', imports: { a: 'ab' } }],
    [client.things('ab'), 'things', { owner: 'ab' }],
    [client.fileReport(9, undefined, undefined, 'spam'), 'file_report', { object: 9, key: undefined, private: undefined, words: 'spam' }],
  ];
  const commands = stage.core.commands();
  assert.deepEqual(commands.map(({ id, ...command }) => command), acts.map(([, what, fields]) => ({ do: what, ...fields })));
  assert.equal(new Set(commands.map(({ id }) => id)).size, acts.length);
  const [first, second, ...rest] = commands;
  stage.core.say({ type: 'done', id: second.id, result: { ok: true } }, { type: 'failed', id: first.id, code: 'NeedsTicket', detail: 7 });
  await assert.rejects(acts[0][0], { code: 'NeedsTicket', detail: 7 });
  assert.deepEqual(await acts[1][0], { ok: true });
  const lost = acts.slice(2).map(([promise]) => assert.rejects(promise, { code: 'left' }));
  assert.equal(rest.length, lost.length);
  client.stop();
  await Promise.all(lost);
  await assert.rejects(client.say('too late'), { code: 'left' });
});

test('what is asked before there is a core waits for it, up to a limit', async (t) => {
  const stage = new Stage();
  stage.add(A);
  const client = new Engine({ origin: A, identity: IDENTITY, compiled: 'compiled' });
  t.after(() => client.stop());
  const players = client.players();
  for (let n = 1; n < 256; n++) client.setPulse('hidden');
  await assert.rejects(client.players(), { code: 'Busy' });
  const open = when(client, 'status', () => client.status.phase === 'open');
  client.start();
  await open;
  const [asked] = stage.core.commands('players');
  stage.core.say({ type: 'done', id: asked.id, result: [{ name: 'ada', proven: false }] });
  assert.deepEqual(await players, [{ name: 'ada', proven: false }]);
});

test('frames of the core go to the server that they are for, and to no later one', async (t) => {
  const stage = new Stage();
  const [first, second] = [stage.add(A), stage.add(B)];
  const client = await entered(t, stage, { servers: [A, B] });
  stage.core.post({ type: 'frames', connection: stage.core.connection, frames: [Uint8Array.of(7)] });
  await drained();
  assert.deepEqual(first.heard, [Uint8Array.of(7)]);
  const old = stage.core.connection;
  client.moveTo(B);
  await when(client, 'status', () => client.status.phase === 'open' && client.status.http === B);
  stage.core.post({ type: 'frames', connection: old, frames: [Uint8Array.of(8)] });
  stage.core.post({ type: 'events', connection: old, events: [{ type: 'leave', why: 'silent' }] });
  await drained();
  assert.deepEqual([second.heard, client.status.phase], [[], 'open']);
});

test('when its server dies a client goes on at another with the same core', async (t) => {
  const stage = new Stage();
  const first = stage.add(A);
  stage.add(B);
  const client = await entered(t, stage);
  stage.core.say({ type: 'servers', list: [{ server: 'b', http: B, quic: 'q', issued: 1 }] });
  await drained();
  const said = client.say('one');
  const moved = when(client, 'status', () => client.status.http === B && client.status.phase === 'open');
  first.die();
  await moved;
  const kinds = stage.core.told.map(({ type }) => type).filter((type) => type !== 'frame');
  assert.deepEqual(kinds, ['start', 'connected', 'command', 'disconnected', 'connected']);
  assert.equal(stage.workers.length, 1);
  stage.core.say({ type: 'done', id: stage.core.commands('say')[0].id, result: { ok: true } });
  assert.ok((await said).ok);
});

test('the core says when a server has to be left, and which end is final', async (t) => {
  const stage = new Stage();
  stage.add(A);
  stage.add(B);
  const client = await entered(t, stage, { servers: [B] });
  stage.core.say({ type: 'leave', why: 'bad-view' });
  await when(client, 'status', () => client.status.http === B && client.status.phase === 'open');
  stage.core.say({ type: 'leave', why: 'OtherSession' });
  await drained();
  assert.deepEqual([client.status.phase, client.status.why], ['closed', 'OtherSession']);
});

test('one server that says a person is banned, or a version too old, ends nothing before a second one agrees', async (t) => {
  const stage = new Stage();
  stage.add(A);
  stage.add(B);
  const client = await entered(t, stage, { servers: [B] });
  stage.core.say({ type: 'leave', why: 'Version' });
  await when(client, 'status', () => client.status.http === B && client.status.phase === 'open');
  stage.core.say({ type: 'leave', why: 'Banned' });
  await when(client, 'status', () => client.status.http === A && client.status.phase === 'open');
  stage.core.say({ type: 'leave', why: 'Banned' });
  await drained();
  assert.deepEqual([client.status.phase, client.status.why], ['closed', 'Banned']);
});

test('a server of another sim is not entered, and a wrong genesis is asked of the next one', async (t) => {
  const stage = new Stage();
  const [liar, honest] = [stage.add(A), stage.add(B)];
  liar.genesis = Uint8Array.of(9);
  const client = await entered(t, stage, { servers: [B] });
  assert.equal(client.status.http, B);
  assert.deepEqual(stage.workers.map(({ ended }) => ended), [true, false]);
  assert.equal(honest.asked.filter((path) => path === '/api/genesis').length, 1);

  const other = new Engine({ origin: A, identity: IDENTITY, compiled: 'compiled', sim: 'ff'.repeat(32) });
  t.after(() => other.stop());
  const refused = when(other, 'status', () => other.status.why === 'other-world');
  other.start();
  await refused;
});

/** A try on the advanced tier, of which this module has none: the core is asked for a sketch. */
async function sketching(t) {
  const stage = new Stage();
  stage.add(A);
  const client = await entered(t, stage);
  const said = [];
  const ear = (name) => (what) => void said.push([name, what]);
  const task = { object: 7, script: 4, draft: { name: 'lamp' } };
  client.tryOut(task, { waits: ear('waits'), told: ear('told'), failed: ear('failed'), sketched: ear('sketched') });
  await drained();
  stage.workers.at(-1).post({ type: 'failed', code: 'tier' });
  await drained();
  const [asked] = stage.core.commands('sketch');
  assert.equal(asked.object, 7);
  const [[, trial]] = said.filter(([name]) => name === 'sketched');
  const drawn = async () => {
    stage.core.say({ type: 'done', id: asked.id, result: { genesis: 'AQID', sim: 'cd', object: 3, name: 'ada' } });
    await drained();
    return stage.workers.at(-1);
  };
  return { stage, client, said, asked, trial, drawn };
}

test('where there can be no copy of the state, a draft is tried among what is in sight, in a worker that ends with the try', async (t) => {
  const { client, said, trial, drawn } = await sketching(t);
  const worker = await drawn();
  const { compiled, genesis, sim, from } = worker.told[0];
  assert.deepEqual([compiled, genesis, sim, from], ['compiled', Uint8Array.of(1, 2, 3), 'cd', 'genesis']);
  worker.post({ type: 'status', status: { phase: 'following', height: 0, checked: 0, ownRoot: null, statedRoot: null, received: 0, bytes: 0 } });
  await drained();
  const { type, task: there } = worker.told[1];
  assert.deepEqual([type, there], ['try', { object: 3, script: null, draft: { name: 'lamp' }, author: IDENTITY.public, name: 'ada' }]);
  worker.post({ type: 'tried', report: { at: 1 } });
  await drained();
  assert.deepEqual(said.at(-1), ['told', { at: 1 }]);
  trial.end();
  assert.ok(worker.ended && !client.replica.on);
  assert.ok(said.every(([name]) => name !== 'failed'));
});

// The worker began all the same, and nobody held it any more.
test('a try that ends before its sketch is there starts no worker, and a sketch that fails by then is no failure of the next', async (t) => {
  for (const answer of ['done', 'failed']) {
    const { stage, said, asked, trial, drawn } = await sketching(t);
    const workers = stage.workers.length;
    trial.end();
    if (answer === 'done') await drawn();
    else stage.core.say({ type: 'failed', id: asked.id, code: 'NotInSight' });
    await drained();
    assert.equal(stage.workers.length, workers);
    assert.ok(said.every(([name]) => name !== 'failed'));
  }
});

test('a sketch that cannot be drawn says why, and one that runs ends with the replicas', async (t) => {
  const lost = await sketching(t);
  lost.stage.core.say({ type: 'failed', id: lost.asked.id, code: 'NotInSight' });
  await drained();
  assert.deepEqual(lost.said.filter(([name]) => name === 'failed').map(([, { code }]) => code), ['NotInSight']);

  const { client, drawn } = await sketching(t);
  const worker = await drawn();
  client.stopReplicas();
  assert.ok(worker.ended);
});

test('the newest checkpoint is kept for its sim, and counts for more than that of a link', async (t) => {
  const stage = new Stage();
  stage.add(A);
  const store = memoryStore();
  const first = await entered(t, stage, { store, checkpoint: 'of a link' });
  assert.equal(stage.core.told[0].name.checkpoint, 'of a link');
  assert.equal(first.checkpoint, 'of a link');
  stage.core.say({ type: 'checkpoint', text: 'own' });
  await drained();
  assert.deepEqual([first.checkpoint, await store.get(`checkpoint/${stage.sim}`)], ['own', 'own']);
  first.stop();
  await entered(t, stage, { store, checkpoint: 'of a link' });
  assert.equal(stage.core.told[0].name.checkpoint, 'own');
  for (const [refused, left] of [[['own'], 'of a link'], [['own', 'of a link'], null]]) {
    stage.refused = refused;
    await entered(t, stage, { store, checkpoint: 'of a link' });
    assert.equal(stage.core.told[0].name.checkpoint, left, 'one that nobody knows keeps nobody out');
  }
});

test('the age of a state is told, and the answer goes to the core', async (t) => {
  const stage = new Stage();
  stage.add(A);
  const client = await entered(t, stage);
  const asked = when(client, 'age');
  stage.core.say({ type: 'age', seconds: 5_000_000 });
  assert.equal(await asked, 5_000_000);
  assert.equal(client.age, 5_000_000);
  client.trust(true);
  assert.equal(client.age, null);
  assert.deepEqual(stage.core.commands('trust').map(({ accept }) => accept), [true]);
});

test('the newest headers are listed, and the others forgotten', async (t) => {
  const stage = new Stage();
  stage.add(A);
  const client = await entered(t, stage);
  assert.deepEqual([client.proof.level, client.proof.reason], ['amber', 'waiting']);
  for (let height = 1; height <= 70; height++) stage.core.say({ type: 'header', height, signers: [], verified: true });
  stage.core.say({ type: 'proof', level: 'green', of: 68, time: 5, signed: 3, members: 4, reason: null, detail: null });
  await when(client, 'proof');
  const { level, headers, signed } = client.proof;
  assert.deepEqual([level, signed, headers.length, headers[0].height], ['green', 3, 64, 70]);
});

test('the work of a first login is done in a worker of its own', async (t) => {
  const stage = new Stage();
  stage.add(A);
  await entered(t, stage);
  const puzzle = { type: 'work', id: 4, sim: '01'.repeat(32), key: '02'.repeat(32), header: '03'.repeat(32), tries: '18446744073709551615' };
  for (const [answer, told] of [[{ done: 77n }, { nonce: '77' }], [{ error: 'no memory' }, { failed: 'NoModule' }]]) {
    stage.core.say(puzzle);
    await drained();
    const worker = stage.workers.at(-1);
    assert.ok(worker.url.includes('work-worker'));
    assert.equal(worker.told[0].compiled, 'compiled');
    assert.equal(worker.told[0].tries, 2n ** 64n - 1n);
    assert.deepEqual(worker.told[0].key, new Uint8Array(32).fill(2));
    worker.onmessage({ data: answer });
    await drained();
    const { id, ...command } = stage.core.commands('worked').at(-1);
    assert.deepEqual(command, { do: 'worked', work: 4, ...told });
    assert.ok(worker.ended);
  }
});

test('a question of a replica gets the answer\u2019s whole frame', async (t) => {
  const stage = new Stage();
  stage.add(A);
  const client = await entered(t, stage);
  const answer = client.raw({ Links: { after: 0 } });
  const [{ id }] = stage.core.commands('raw');
  stage.core.say({ type: 'answer', id, kind: 'Links', frame: Buffer.from([0, 255, 7]).toString('base64') });
  assert.deepEqual(await answer, { kind: 'Links', frame: Uint8Array.of(0, 255, 7) });
});

test('a core that ended is told of, and nothing goes on', async (t) => {
  const stage = new Stage();
  const node = stage.add(A);
  const client = await entered(t, stage);
  const waiting = assert.rejects(client.say('one'), { code: 'wasm-ended' });
  const failed = when(client, 'failed');
  stage.core.post({ type: 'failed', code: 'wasm-ended', detail: 'unreachable' });
  assert.equal(await failed, 'wasm-ended');
  await waiting;
  assert.deepEqual([client.status.phase, client.status.why, node.sockets.size], ['closed', 'wasm-ended', 0]);
});

test('a page without its module is told why', async () => {
  await assert.rejects(loadModule(null), { code: 'no-wasm' });
  globalThis.fetch = async () => ({ ok: false, status: 404 });
  await assert.rejects(loadModule('/m.wasm'), { code: 'wasm-failed' });
  globalThis.fetch = async () => ({ ok: true });
  WebAssembly.compileStreaming = async () => {
    throw new WebAssembly.CompileError('invalid opcode 0xfd');
  };
  await assert.rejects(loadModule('/m.wasm'), { code: 'wasm-old' });
  WebAssembly.compileStreaming = async () => 'compiled';
  for (const [exports, code] of [[{}, 'wasm-other'], [{ core_new: () => 1 }, null]]) {
    WebAssembly.instantiate = async () => ({ exports });
    if (code) await assert.rejects(loadModule('/m.wasm'), { code });
    else assert.equal((await loadModule('/m.wasm')).compiled, 'compiled');
  }
  const { WebAssembly: kept } = globalThis;
  delete globalThis.WebAssembly;
  await assert.rejects(loadModule('/m.wasm'), { code: 'no-wasm' });
  globalThis.WebAssembly = kept;
});

test('a lost server is tried again only after the others', () => {
  let now = 0;
  const servers = new Servers(A, () => now);
  servers.add(B, null, null);
  assert.equal(servers.next(null), A);
  servers.failed(A);
  assert.equal(servers.next(A), B);
  assert.equal(servers.pause(), 0);
  servers.failed(B);
  assert.ok(servers.pause() > 0);
  now = 60_000;
  assert.equal(servers.next(B), A);
  servers.wanted = B;
  assert.equal(servers.next(A), B);
  servers.add('nonsense', null, null);
  assert.equal(servers.known.size, 2);
});

test('of servers only those that vote are remembered, whatever their number', () => {
  const servers = new Servers(A, () => 0);
  const named = Array.from({ length: 100 }, (_, n) => ({ server: `${n}`, http: `http://10.0.0.${n}`, quic: 'q' }));
  servers.learn([]);
  assert.ok(!servers.learned, 'nobody is known to vote');
  servers.learn(named.slice(-2));
  assert.deepEqual([...servers.known.keys()], [A, 'http://10.0.0.98', 'http://10.0.0.99']);
  servers.opened(B, 'b');
  servers.learn([{ ...named[99], http: 'http://10.1.0.99' }]);
  assert.deepEqual([...servers.known.keys()], [A, B, 'http://10.1.0.99'], 'it moved');
  servers.learn(named);
  assert.equal(servers.known.size, 33, '31 more at most');
});

test('suggestions of servers are few, are addresses, and end when it is known who votes', () => {
  const servers = new Servers(A, () => 0);
  servers.suggest('all');
  servers.suggest([null, 7, 'nowhere', `${B}/path`, B]);
  assert.deepEqual([...servers.known.keys()], [A, B]);
  servers.suggest(Array.from({ length: 100 }, (_, n) => `http://127.0.0.1:${n + 100}`));
  assert.equal(servers.known.size, 31);
  servers.learn([{ server: 'b', http: B, quic: 'q' }]);
  assert.deepEqual([...servers.known.keys()], [A, B]);
});

test('servers are told with what is known of them', async (t) => {
  const stage = new Stage();
  stage.add(A);
  const client = await entered(t, stage);
  stage.core.say({ type: 'members', members: [{ key: 'b', power: 1 }] });
  await drained();
  const asked = client.servers();
  stage.core.say({ type: 'done', id: stage.core.commands('servers')[0].id, result: [{ server: 'b', http: B, quic: 'q' }] });
  const told = (await asked).map(({ http, here, voting, rtt }) => [http, here, voting, rtt !== null]);
  assert.deepEqual(told, [[A, true, false, true], [B, false, true, false]]);
});

test('frames survive any cutting of the stream, and one that is too long is refused', () => {
  const frames = [[], [1], Array.from({ length: 300 }, (_, n) => n % 256)].map((f) => Uint8Array.from(f));
  const wire = Uint8Array.from(frames.flatMap((frame) => [...enframe(frame)]));
  for (const cut of [1, 3, 4, 7, 100, 1_000]) {
    const unframer = new Unframer(300);
    const found = [];
    for (let at = 0; at < wire.length; at += cut) found.push(...unframer.take(wire.slice(at, at + cut)));
    assert.deepEqual(found, frames);
  }
  assert.throws(() => new Unframer(299).take(wire), RangeError);
});

test('a tab whose server dies before it told who votes goes to those that the first answer named', async (t) => {
  for (const told of ['the page', 'the session']) {
    const stage = new Stage();
    const first = stage.add(A);
    stage.add(B);
    if (told === 'the session') first.servers = [A, B];
    const client = await entered(t, stage, told === 'the page' ? { servers: [A, B] } : {});
    assert.ok(!client.known.learned, 'nobody has proved anything yet');
    const moved = when(client, 'status', () => client.status.phase === 'open' && client.status.http === B);
    first.die();
    await moved;
  }
});

test('a tab that knows of no other server does not say that it moves to one', async (t) => {
  const stage = new Stage();
  const node = stage.add(A);
  const client = await entered(t, stage);
  const gone = when(client, 'status', () => client.status.phase === 'moving');
  node.die();
  await gone;
  const said = () => Progress.prototype.words.call({ page: { client, entering: false } });
  const words = said();
  assert.ok(words.includes('no other one'), words);
  client.known.suggest([B]);
  const then = said();
  assert.ok(then.includes('moving to another one'), then);
});
