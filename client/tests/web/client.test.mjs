import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Unframer, enframe } from '../../web/core/framing.js';
import { Build } from '../../web/core/build.js';
import { Client } from '../../web/core/client.js';
import { Deeds } from '../../web/core/deeds.js';
import { Inquiry } from '../../web/core/inquiry.js';
import { Identity } from '../../web/core/keys.js';
import { archive, readPackage } from '../../web/core/packages.js';
import { ActError } from '../../web/core/pending.js';
import { Sight } from '../../web/core/sight.js';
import { Servers } from '../../web/core/servers.js';
import { tar } from '../../web/core/tar.js';
import { Watch } from '../../web/core/watch.js';
import { Progress } from '../../web/ui/state.js';
import { Walker } from '../../web/core/walker.js';
import { ticketOf, ticketPass } from '../../web/core/ticket.js';
import { passOf } from '../../web/core/work.js';
import { fromHex, toHex } from '../../web/wire/buffer.js';
import { SIM, World, entranceOf, keyOf, linkOf } from './node.mjs';

const A = 'http://127.0.0.1:1';
const B = 'http://127.0.0.1:2';

/** What is under way between client and nodes has arrived. */
async function drained() {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** The next event of a kind for which something holds. */
function when(client, type, holds = () => true) {
  return new Promise((resolve) => {
    const look = (event) => {
      if (!holds(event.detail)) return;
      client.removeEventListener(type, look);
      resolve(event.detail);
    };
    client.addEventListener(type, look);
  });
}

/** Workers are made, and do nothing; gives what was told to the last one. */
function workers(t) {
  const made = { last: null, told: [] };
  t.after(() => delete globalThis.Worker);
  globalThis.Worker = class {
    constructor() {
      made.last = this;
    }

    postMessage(message) {
      made.told.push(message);
    }

    terminate() {}
  };
  return made;
}

async function entered(world, options = {}) {
  const client = new Client({
    origin: A, identity: new Identity(new Uint8Array(32).fill(4)), ...options,
  });
  const open = when(client, 'status', () => client.status.phase === 'open');
  client.start();
  await open;
  return client;
}

test('a client enters, acts, and leaves', async () => {
  const world = new World();
  const node = world.add(A);
  const client = await entered(world);
  const result = await client.login('ada', { color: 0xff0000, shape: 'star' });
  assert.ok(result.ok && client.status.here);
  const { server, carrier, sim, simName, pending } = client.status;
  assert.deepEqual(
    [server, carrier, sim, simName, pending],
    [node.key, 'websocket', SIM, 'plaza', 0],
  );
  assert.equal(client.proof.level, 'reduced');
  assert.equal(client.proof.reason, 'no-wasm');
  client.stop();
  assert.equal(client.status.phase, 'closed');
  assert.equal(node.sockets.size, 0);
});

test('the module is that of the page, whatever a node offers', async (t) => {
  const { told } = workers(t);
  const world = new World();
  world.add(A).wasm = 'https://elsewhere.example/keeps-keys.wasm';
  for (const wasm of ['/assets/0/metatopia.wasm', null, undefined]) {
    const client = await entered(world, { wasm });
    await drained();
    client.stop();
  }
  const started = told.filter(({ type }) => type === 'start').map(({ wasm }) => wasm);
  assert.deepEqual(started, ['/assets/0/metatopia.wasm'], 'its address is not one of the node');
});

test('the module is told whose avatar is the own one, and from login to leave that it is there', async (t) => {
  const { told } = workers(t);
  const world = new World();
  world.add(A);
  const client = await entered(world, { wasm: '/assets/0/metatopia.wasm' });
  t.after(() => client.stop());
  await drained();
  const [{ viewer }] = told.filter(({ type }) => type === 'start');
  assert.equal(toHex(viewer), client.identity.public);
  const presence = () => told.filter(({ type }) => type === 'present').map(({ present }) => present);
  const look = { color: 0xff0000, shape: 'star' };
  await client.login('ada', look);
  await client.login('eve', look);
  assert.deepEqual(presence(), [true]);
  world.holder = 7n;
  await client.say('here I am');
  assert.deepEqual(presence(), [true], 'the avatar that another tab had was there');
  await client.leave();
  assert.deepEqual(presence(), [true, false]);
});

test('that the avatar is gone, or another tab has it, is no word of a server to the module', async () => {
  for (const refusal of ['OtherSession', 'NotLoggedIn']) {
    const present = [];
    let answer = { ok: true, refusal: null };
    const nothing = () => {};
    const deeds = new Deeds({
      session: { open: true, submit: async () => answer }, work: async () => null, now: () => 0, steered: nothing,
      walking: () => nothing, present: (is) => present.push(is), done: nothing,
    });
    await deeds.login('ada', { color: 0, shape: 'round' });
    answer = { ok: false, refusal };
    for (const awake of [false, true]) {
      [deeds.here, deeds.lifeAt] = [true, -Infinity];
      deeds.tick(awake);
      await drained();
      assert.ok(!deeds.here, 'an act has to take it back first');
    }
    deeds.here = true;
    await deeds.act('Emote');
    assert.ok(!deeds.here);
    assert.deepEqual(present, [true], refusal);
    await deeds.leave();
    assert.deepEqual(present, [true, false], 'its visitor left');
  }
});

test('a key that is new to a sim shows work once it is asked for it', async () => {
  const sent = [];
  const submit = async (act) => {
    sent.push(act.Login.pass);
    if (act.Login.pass === null) throw new ActError('NeedsWork');
    return { ok: true, refusal: null };
  };
  const nothing = () => {};
  const work = { Work: { height: 40, nonce: 7n } };
  const deeds = new Deeds({
    session: { open: true, submit }, pass: async () => work, now: () => 0, steered: nothing,
    walking: () => nothing, present: nothing, done: nothing,
  });
  assert.ok((await deeds.login('ada', { color: 0, shape: 'round' })).ok);
  assert.deepEqual(sent, [null, work]);
});

test('what a login takes is read from the answer of the node', async () => {
  const solved = [];
  const solve = async (terms) => (solved.push(terms), 5n);
  const of = (answer, ticket = null) => passOf({ ask: async () => answer, key: 'k', solve, ticket });
  const puzzle = { height: 20, header: 'aa', tries: 9n };
  assert.equal(await of('Free'), null);
  assert.deepEqual(await of({ Work: puzzle }), { Work: { height: 20, nonce: 5n } });
  assert.deepEqual(solved, [puzzle]);
  await assert.rejects(of('Closed'), { code: 'NobodyNew' });
  await assert.rejects(of('Ticket'), { code: 'NeedsTicket' });
  const ticket = () => ({ ticket: 'aa', signature: 'bb' });
  assert.deepEqual(await of('Ticket', ticket), { Ticket: ticket() });
  assert.deepEqual(await of({ Work: puzzle }, ticket), { Ticket: ticket() });
  assert.equal(await of('Free', ticket), null);
  assert.equal(solved.length, 1, 'a ticket spares the work');
});

test('a ticket is the end of a link, and lets one key into one sim', () => {
  const secret = '07'.repeat(32);
  assert.deepEqual(ticketOf(`#ticket=${secret}`), new Uint8Array(32).fill(7));
  for (const text of ['', '#', '#ticket=', `#ticket=${secret}0`, `#key=${secret}`]) assert.equal(ticketOf(text), null);
  const [sim, key] = ['01'.repeat(32), '02'.repeat(32)];
  const pass = ticketPass(ticketOf(`#ticket=${secret}`), sim, key);
  // As sim/types/src/ticket.rs has it.
  assert.deepEqual(pass, {
    ticket: 'ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c',
    signature: '95b73a4e96706fa98cde46d1e36cf7ba17ff75ca90109dfe170d134bfdb3ec37'
      + 'd1b31cd112b637b3b407ef8c5bd9dbc05d81d508c61b078291b24fbe89f1850f',
  });
  assert.notEqual(ticketPass(ticketOf(`#ticket=${secret}`), key, sim).signature, pass.signature);
});

test('when its server dies a client goes on at another, and no act is lost or done twice', async () => {
  const world = new World();
  const [first, second] = [world.add(A), world.add(B)];
  const client = await entered(world);
  await drained();
  assert.equal(client.known.known.get(B).server, second.key);
  first.mute = true;
  const results = [client.say('one'), client.say('two'), client.touch(9)];
  await drained();
  assert.equal(world.decided.size, 3);
  const moved = when(client, 'status', () => client.status.http === B);
  first.die();
  await moved;
  const late = client.say('three');
  for (const result of await Promise.all([...results, late])) assert.ok(result.ok);
  assert.deepEqual([...world.decided.values()].map(({ seq }) => seq), [1, 2, 3, 4]);
  client.stop();
});

test('a server of another world is not entered', async () => {
  const world = new World();
  world.add(A);
  const client = new Client({
    origin: A, sim: 'ff'.repeat(32), identity: new Identity(new Uint8Array(32)),
  });
  const refused = when(client, 'status', () => client.status.why === 'other-world');
  client.start();
  await refused;
  client.stop();
});

test('a hidden tab asks for few views, and keeps its copies', async () => {
  const world = new World();
  const node = world.add(A);
  const client = await entered(world);
  client.setPulse('hidden');
  await drained();
  assert.ok(node.watching.turns_apart > 10 && node.watching.bytes_per_second < 10_000);
  client.setPulse('active');
  await drained();
  assert.equal(node.watching.turns_apart, 1);
  client.stop();
});

test('words too long for anybody are not sent', async () => {
  const world = new World();
  world.add(A);
  const client = await entered(world);
  await assert.rejects(client.say('x'.repeat(513)), { code: 'TooLong' });
  await assert.rejects(client.walk(Number.NaN, 0), { code: 'OutOfRange' });
  client.stop();
});

test('headings are told at once, then not too often, never twice, and the last one always', async () => {
  let now = 0;
  const told = [];
  const submit = async (x, y) => {
    told.push([now, x, y]);
    return { ok: true };
  };
  const walker = new Walker({ submit, now: () => now });
  await walker.walk(1, 0);
  await walker.walk(1, 0);
  now = 10;
  const held = [walker.walk(0, 1), walker.walk(0, 0)];
  assert.equal(told.length, 1);
  now = 100;
  await Promise.all(held);
  assert.deepEqual(told, [[0, 1, 0], [100, 0, 0]]);
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
  const names = Array.from({ length: 100 }, (_, n) => `http://10.0.0.${n}`);
  const all = names.map((name) => entranceOf(name));
  const voting = (count) => new Set(names.slice(-count).map(keyOf));
  servers.learn(all, SIM, voting(2));
  assert.deepEqual([...servers.known.keys()], [A, ...names.slice(-2)]);
  servers.learn([], SIM, voting(1));
  assert.deepEqual([...servers.known.keys()], [A, names[99]], 'who votes no more is forgotten');
  servers.opened(B, keyOf(B));
  servers.failed(names[99]);
  servers.learn([entranceOf(names[99], 'http://10.1.0.99', 2), all[99]], SIM, voting(1));
  assert.deepEqual([...servers.known.keys()], [A, B, 'http://10.1.0.99'], 'it moved');
  servers.learn(all, SIM, voting(100));
  assert.equal(servers.entrances.size, 32, '31 more at most');
});

test('strangers that a server names are not believed, and its changes end', async () => {
  const world = new World();
  const liar = world.add(A);
  world.add(B);
  for (let n = 0; n < 100; n++) liar.lies.entrances.push(entranceOf(`http://10.0.0.${n}`));
  const client = await entered(world);
  await drained();
  assert.deepEqual([...client.known.known.keys()], [A, B]);
  assert.equal(client.link.http, A);
  client.stop();
});

test('who votes, and how far the world is, is what the module found out', async (t) => {
  const made = workers(t);
  const world = new World();
  const [liar, honest] = [world.add(A), world.add(B)];
  const strangers = ['http://10.0.0.1', 'http://10.0.0.2'];
  liar.lies.links.push(linkOf(2, strangers.map(keyOf)));
  liar.lies.entrances.push(...strangers.map((name) => entranceOf(name)));
  const client = await entered(world, { wasm: '/metatopia.wasm' });
  await drained();
  assert.deepEqual([...client.known.known.keys()], [A, ...strangers], 'nothing is proven yet');

  const members = [liar, honest].map(({ key }) => ({ key, power: 1 }));
  const proven = { type: 'proven', of: 148, height: 150, signers: [], members: 2, late: [] };
  const events = [{ type: 'followed', height: 1, members }, proven];
  made.last.onmessage({ data: { type: 'events', events } });
  await drained();
  assert.deepEqual([...client.known.known.keys()], [A, B]);
  assert.deepEqual((await client.servers()).map(({ http, voting }) => [http, voting]), [[A, true], [B, true]]);
  assert.equal(client.session.certain, 150);
  client.stop();
});

test('a server that goes back, or on and on, about who votes is heard to an end', async () => {
  let asked = 0;
  for (const [height, most] of [[() => 7, 2], [(after) => after + 1, 129]]) {
    asked = 0;
    const ask = async ({ Links: { after } }) => {
      asked += 1;
      assert.ok(asked < 1_000, 'without end');
      return { Links: [linkOf(height(after), [keyOf(A)])] };
    };
    const inquiry = new Inquiry({ ask, genesis: () => {}, world: () => ({ sim: SIM, height: 1 }) });
    assert.deepEqual(await inquiry.validators(), [{ key: keyOf(A), power: 1 }]);
    assert.equal(asked, most);
  }
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

test('the archive of all sources is one that tar reads, and holds what re-hashes', () => {
  const rows = JSON.parse(readFileSync(new URL('./vectors.json', import.meta.url), 'utf8'));
  const row = rows.find((each) => each.kind === 'package');
  const bytes = fromHex(row.hex);
  const made = archive([{ bytes, source: readPackage(bytes, row.id) }], { sim: SIM, height: 7 });
  const list = execFileSync('tar', ['-tf', '-'], { input: made, encoding: 'utf8' }).trim().split('\n');
  const folder = `source/door-${row.id.slice(0, 12)}`;
  assert.deepEqual(list, [
    'source/MANIFEST.json', `${folder}/docs/readme.md`, `${folder}/door.rhai`,
    `source/packages/${row.id}.package`,
  ]);
  const take = (path) => execFileSync('tar', ['-xOf', '-', path], { input: made });
  assert.equal(toHex(take(list[3])), row.hex);
  const [listed] = JSON.parse(take(list[0]).toString()).packages;
  assert.ok(listed.verified && listed.id === row.id);
});

test('an archive takes long paths, and refuses what no archive holds', () => {
  const path = `${'a'.repeat(120)}/${'b'.repeat(90)}`;
  const made = tar([{ path, bytes: Uint8Array.of(1, 2, 3) }]);
  assert.equal(execFileSync('tar', ['-tf', '-'], { input: made, encoding: 'utf8' }).trim(), path);
  assert.throws(() => tar([{ path: 'c'.repeat(101), bytes: new Uint8Array() }]), RangeError);
});

test('a tab whose server dies before it told who votes goes to those that the first answer named', async (t) => {
  for (const told of ['the page', 'the session']) {
    const world = new World();
    const [first, other] = [world.add(A), world.add(B)];
    first.silent = true;
    if (told === 'the session') first.servers = [A, B];
    const client = await entered(world, told === 'the page' ? { servers: [A, B] } : {});
    t.after(() => client.stop());
    assert.ok(!client.known.learned, 'nobody has proved anything yet');
    const moved = when(client, 'status', () => client.status.phase === 'open' && client.status.server === other.key);
    first.die();
    await moved;
  }
});

test('a tab that knows of no other server does not say that it moves to one', async (t) => {
  const world = new World();
  const node = world.add(A);
  node.silent = true;
  const client = await entered(world);
  t.after(() => client.stop());
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

test('suggestions of servers are few, are addresses, and end when it is known who votes', async () => {
  const servers = new Servers(A, () => 0);
  servers.suggest('all');
  servers.suggest([null, 7, 'nowhere', `${B}/path`, B]);
  assert.deepEqual([...servers.known.keys()], [A, B]);
  servers.suggest(Array.from({ length: 100 }, (_, n) => `http://127.0.0.1:${n + 100}`));
  assert.equal(servers.known.size, 31);
  servers.learn([entranceOf(B)], SIM, new Set([keyOf(B)]));
  assert.deepEqual([...servers.known.keys()], [A, B]);
});

test('of two tabs of one person, the one that acts has the avatar', async () => {
  const world = new World();
  world.add(A);
  const [one, two] = [await entered(world), await entered(world)];
  assert.notEqual(one.session.lane, two.session.lane);
  const look = { color: 0, shape: 'round' };
  await one.login('ada', look);
  await two.login('ada', look);
  assert.ok((await one.emote('wave')).ok);
  const kinds = [...world.decided.values()].map(({ signed }) => {
    const { lane, act } = signed.envelope;
    return [lane === one.session.lane ? 1 : 2, typeof act === 'string' ? act : Object.keys(act)[0]];
  });
  assert.deepEqual(kinds, [[1, 'Login'], [2, 'Login'], [1, 'Emote'], [1, 'Login'], [1, 'Emote']]);
  assert.ok(one.status.here);
  one.stop();
  two.stop();
});

test('copies that do not fit another server are fetched anew, within the session', () => {
  const asked = [];
  const session = { open: true, watch: (watching) => asked.push(watching) };
  const begun = [];
  const proofs = { begin: (keep) => begun.push(keep) };
  const watch = new Watch({ session, sight: new Sight(), proofs, at: null });
  const tile = { x: 0, y: 0 };
  const update = { tile, since: null, entries: [], moved: [], gone: [], more: false };
  const view = (number, over) => ({
    number, height: 100 + number, tick: 300, me: null, tiles: [{ ...update, ...over }], left: [],
    near: [], far: [], gestures: [],
  });
  watch.begin();
  assert.ok(watch.take(view(1, {}), 0).taken);
  watch.anew();
  assert.deepEqual([asked.at(-1).have, begun], [[], [false, false]]);
  assert.ok(watch.take(view(2, { since: 101 }), 50).taken, 'it was under way');
  assert.ok(watch.take(view(3, {}), 100).taken);
  assert.deepEqual(watch.sight.tiles.have(), [[tile, 103]]);
  for (let number = 4; number < 12; number++) watch.take(view(number, { since: 103 }), 100);
  assert.ok(!watch.take(view(12, { since: 200 }), 150).taken, 'by now everything must fit');
});

test('what cannot be taken back is passed over the next time', async () => {
  const skips = [];
  const answers = ['GiftStays', 'NoObject', null, 'NothingToUndo'];
  const act = async ({ Build: { Undo } }) => {
    skips.push(Undo.skip);
    const refusal = answers[skips.length - 1];
    return { ok: refusal === null, refusal };
  };
  const build = new Build(act, () => false);
  for (let n = 0; n < answers.length; n++) await build.undo();
  assert.deepEqual(skips, [0, 1, 2, 0]);
});

test('sizes and angles of builders become those of the protocol', async () => {
  const told = [];
  const build = new Build(async (act) => void told.push(act.Build), (id) => id === 2);
  const one = 2n ** 32n;
  await build.resize(1, 2, 3);
  await build.resize(2, 4);
  await build.rotate(1, -Math.PI / 2);
  await build.move(1, -0.5, 2);
  assert.deepEqual(told, [
    { Resize: { object: 1, outline: { Box: { half: { x: one, y: (3n * one) / 2n } } } } },
    { Resize: { object: 2, outline: { Disc: { radius: 2n * one } } } },
    { Rotate: { object: 1, angle: 3 * 2 ** 30 } },
    { Move: { object: 1, position: { x: -one / 2n, y: 2n * one } } },
  ]);
});

test('a genesis that is longer than an answer is put together from its parts', async () => {
  const part = 256 * 1024;
  for (const length of [10, part, 2 * part + 7]) {
    const whole = Uint8Array.from({ length }, (_, n) => n % 251);
    const cut = (number) => whole.slice(number * part, (number + 1) * part);
    const ask = async (question) =>
      question === 'Genesis' ? { Genesis: cut(0) } : { GenesisPart: cut(question.GenesisPart.part) };
    const inquiry = new Inquiry({ ask, genesis: () => {}, world: () => ({ sim: SIM, height: 1 }) });
    assert.ok(Buffer.from(whole).equals(Buffer.from(await inquiry.genesisBytes())), `${length}`);
  }
});
