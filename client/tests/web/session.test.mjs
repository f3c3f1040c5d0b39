import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestBytes } from '../../web/core/digest.js';
import { verify } from '../../web/core/ed25519.js';
import { Identity, KeyTextError } from '../../web/core/keys.js';
import { Session } from '../../web/core/session.js';
import { memoryStore } from '../../web/core/store.js';
import { fromHex } from '../../web/wire/buffer.js';
import { challenge as challengeSchema, decodeClient, encodeServer } from '../../web/wire/messages.js';
import { encode, tuple, variant } from '../../web/wire/postcard.js';
import { envelope as envelopeSchema, id } from '../../web/wire/types.js';

const SIM = 'ab'.repeat(32);
const ACT_DOMAIN = 'metatopia act v1';

/** A node that says what it is told to say, and a session with it. */
class Stage {
  constructor() {
    this.time = 0;
    this.sent = [];
    this.told = [];
    this.identity = new Identity(new Uint8Array(32).fill(3));
    const tell = (name) => (content) => {
      this.told.push([name, content]);
      return true;
    };
    this.session = new Session({
      identity: this.identity,
      lane: 7n,
      now: () => this.time,
      ears: { open: tell('open'), ended: tell('ended'), view: tell('view'), heard: tell('heard') },
    });
  }

  connect(server = 'cd'.repeat(32), height = 100) {
    this.session.attach((frame) => this.sent.push(decodeClient(frame)));
    const challenge = { version: 1, sim: SIM, server, nonce: '01'.repeat(32) };
    this.say({ Challenge: challenge });
    this.hello = this.take('Hello')[0];
    this.challenge = challenge;
    this.say({ Welcome: { height, turns_per_second: 20 } });
    return this;
  }

  say(message) {
    this.session.frame(encodeServer(message));
  }

  /** What was said of this kind since, taken off. */
  take(kind) {
    const found = this.sent.filter((message) => variant(message)[0] === kind);
    this.sent = this.sent.filter((message) => variant(message)[0] !== kind);
    return found.map((message) => variant(message)[1]);
  }

  pass(ms) {
    this.time += ms;
    this.session.tick();
  }

  submit(act) {
    const result = this.session.submit(act);
    result.catch(() => {});
    const [submission] = this.take('Submit').slice(-1);
    const name = digestBytes(ACT_DOMAIN, encode(envelopeSchema, submission.act.envelope));
    return { result, submission, act: Buffer.from(name).toString('hex') };
  }
}

const digest = '11'.repeat(32);
const header = {
  sim: SIM, engine: 1, height: 120, previous: digest, proposer: digest, round: 0, time: 5,
  acts: digest, act_count: 1, blobs: digest, blob_count: 0, root: digest, validators: digest,
  next_validators: digest, reserved: '00'.repeat(32),
};
const receipt = {
  header,
  certificate: { height: 120, round: 0, header: digest, signatures: [] },
  place: { index: 0, count: 1, path: [] },
};

test('a challenge is answered with a signature over it, for this server and key', () => {
  const stage = new Stage().connect();
  assert.equal(stage.hello.key, stage.identity.public);
  const parts = [stage.challenge, stage.identity.public];
  const message = digestBytes('metatopia hello v1', encode(tuple(challengeSchema, id), parts));
  assert.ok(verify(fromHex(stage.identity.public), message, fromHex(stage.hello.signature)));
  assert.equal(stage.told[0][0], 'open');
});

test('an act is signed over its id, and ends with its outcome', async () => {
  const stage = new Stage().connect();
  const { result, submission, act } = stage.submit('Leave');
  const { envelope, signature } = submission.act;
  assert.deepEqual(
    [envelope.sim, envelope.lane, envelope.seq, envelope.last_valid],
    [SIM, 7n, 1, 700],
  );
  assert.ok(verify(fromHex(envelope.author), fromHex(act), fromHex(signature)));
  stage.say({ Receipt: { act, receipt } });
  stage.pass(600);
  assert.deepEqual(stage.take('Submit'), [], 'what has a receipt is not sent again');
  stage.say({ Outcome: { act, height: 120, outcome: { Refused: 'NotLoggedIn' } } });
  assert.deepEqual(await result, {
    act, height: 120, ok: false, refusal: 'NotLoggedIn', made: null,
  });
  assert.equal(stage.session.pending.size, 0);
});

test('an act without a receipt is sent again, the very same bytes, here and at another server', () => {
  const stage = new Stage().connect();
  const { submission } = stage.submit('Heartbeat');
  stage.pass(400);
  assert.deepEqual(stage.take('Submit'), []);
  stage.pass(200);
  assert.deepEqual(stage.take('Submit'), [submission]);
  stage.session.detach();
  stage.pass(5_000);
  assert.deepEqual(stage.take('Submit'), []);
  stage.connect('ee'.repeat(32));
  assert.deepEqual(stage.take('Submit'), [submission]);
});

test('a receipt that nobody checked ends nothing: elsewhere the act is sent again', async () => {
  const stage = new Stage().connect();
  const { result, submission, act } = stage.submit('Heartbeat');
  stage.say({ Receipt: { act, receipt } });
  stage.session.detach();
  stage.connect('ee'.repeat(32));
  assert.deepEqual(stage.take('Submit'), [submission]);
  assert.deepEqual(stage.take('Ask'), []);
  stage.pass(600);
  assert.deepEqual(stage.take('Submit'), [submission], 'until there is one of this server');
  stage.say({ Receipt: { act, receipt } });
  stage.pass(600);
  assert.deepEqual(stage.take('Submit'), []);
  stage.say({ Outcome: { act, height: 120, outcome: 'Ok' } });
  assert.ok((await result).ok);
});

test('acts go out in the order of their lane when a session goes on', () => {
  const stage = new Stage().connect();
  stage.session.detach();
  for (let n = 0; n < 5; n++) stage.session.submit('Heartbeat').catch(() => {});
  stage.connect();
  const seqs = stage.take('Submit').map((submission) => submission.act.envelope.seq);
  assert.deepEqual(seqs, [1, 2, 3, 4, 5]);
});

test('an act that was decided elsewhere is asked about, and not given up', async () => {
  const stage = new Stage().connect();
  const { result, submission, act } = stage.submit('Leave');
  stage.session.detach();
  stage.connect('ee'.repeat(32));
  stage.say({ Refused: { act, why: { Replayed: 1 } } });
  const [asked] = stage.take('Ask');
  assert.deepEqual(asked.question, {
    Receipt: { author: stage.identity.public, lane: 7n, seq: 1 },
  });
  const found = { act: submission.act, receipt, outcome: 'Ok' };
  stage.say({ Answer: { id: asked.id, answer: { Receipt: found } } });
  assert.deepEqual(await result, { act, height: 120, ok: true, refusal: null, made: null });
});

test('a node without room does not end an act that was sent before; a lasting reason does', async () => {
  const stage = new Stage().connect();
  const { result, act } = stage.submit('Leave');
  stage.pass(600);
  stage.say({ Refused: { act, why: 'Full' } });
  assert.equal(stage.session.pending.size, 1);
  stage.say({ Refused: { act, why: 'BadSignature' } });
  await assert.rejects(result, { code: 'BadSignature' });
});

test('an act that no turn took in its time is given up once nobody knows it', async () => {
  const stage = new Stage().connect();
  const { result } = stage.submit('Leave');
  stage.session.height = 741;
  stage.pass(600);
  const [asked] = stage.take('Ask');
  stage.say({ Answer: { id: asked.id, answer: 'Unknown' } });
  await assert.rejects(result, { code: 'Expired' });
});

test('what a server says of the height is forgotten with its connection', () => {
  const far = 1_000_000;
  const view = {
    number: 1, height: far, tick: 390, me: null, tiles: [], left: [], near: [], far: [],
    gestures: [],
  };
  for (const lie of [
    (stage) => stage.connect('ee'.repeat(32), far),
    (stage) => stage.say({ Outcome: { act: digest, height: far, outcome: 'Ok' } }),
    (stage) => stage.say({ Receipt: { act: digest, receipt: { ...receipt, header: { ...header, height: far } } } }),
    (stage) => stage.say({ View: view }),
  ]) {
    const stage = new Stage().connect();
    lie(stage);
    assert.equal(stage.session.height, far);
    stage.session.detach();
    stage.connect();
    assert.equal(stage.submit('Heartbeat').submission.act.envelope.last_valid, 700);
  }
});

test('a height that was proven stays, and alone says which acts are late', () => {
  const stage = new Stage().connect();
  const { submission } = stage.submit('Heartbeat');
  stage.session.proven(150);
  stage.say({ Outcome: { act: digest, height: 1_000_000, outcome: 'Ok' } });
  stage.pass(600);
  assert.deepEqual(stage.take('Ask'), []);
  assert.deepEqual(stage.take('Submit'), [submission]);
  stage.session.detach();
  stage.session.submit('Leave').catch(() => {});
  stage.connect();
  stage.session.submit('Leave').catch(() => {});
  const valid = stage.take('Submit').map(({ act }) => act.envelope.last_valid);
  assert.deepEqual(valid, [700, 750, 750]);
});

test('a question is asked again where the session goes on, and answered once', async () => {
  const stage = new Stage().connect();
  const answer = stage.session.ask('Players');
  const [first] = stage.take('Ask');
  stage.session.detach();
  stage.connect();
  const [again] = stage.take('Ask');
  assert.deepEqual(again, first);
  stage.say({ Answer: { id: again.id, answer: { Root: digest } } });
  stage.say({ Answer: { id: again.id, answer: 'Busy' } });
  assert.deepEqual(await answer, { Root: digest });
});

test('whoever wants an answer as it came gets the whole frame', async () => {
  const stage = new Stage().connect();
  const answer = stage.session.ask('Snapshot', { raw: true });
  const [{ id: number }] = stage.take('Ask');
  const frame = encodeServer({ Answer: { id: number, answer: 'Busy' } });
  stage.session.frame(frame);
  assert.deepEqual(await answer, { kind: 'Busy', frame });
});

test('a view that was taken in is acknowledged', () => {
  const stage = new Stage().connect();
  const view = {
    number: 1, height: 130, tick: 390, me: null, tiles: [], left: [], near: [], far: [],
    gestures: [],
  };
  stage.say({ View: view });
  assert.deepEqual(stage.take('Seen'), [{ number: 1 }]);
  assert.equal(stage.session.height, 130);
});

test('garbage, another world, silence and a goodbye end a connection', () => {
  for (const [spoil, why] of [
    [(stage) => stage.session.frame(Uint8Array.of(99)), 'bad-frame'],
    [(stage) => stage.say({ Challenge: { ...stage.challenge, sim: digest } }), 'other-sim'],
    [(stage) => [1_100, 1_100, 1_100].forEach((ms) => stage.pass(ms)), 'silent'],
    [(stage) => stage.say({ Goodbye: 'Stopping' }), 'Stopping'],
  ]) {
    const stage = new Stage().connect();
    spoil(stage);
    assert.deepEqual(stage.told.at(-1), ['ended', why]);
  }
});

test('more acts or questions than may be under way are refused before they cost anybody', async () => {
  const stage = new Stage().connect();
  for (let n = 0; n < 256; n++) {
    stage.session.submit('Heartbeat').catch(() => {});
    stage.session.ask('Players').catch(() => {});
  }
  await assert.rejects(stage.session.submit('Heartbeat'), { code: 'TooManyPending' });
  await assert.rejects(stage.session.ask('Players'), { code: 'Busy' });
});

test('a tab that slept asks once more before it leaves its server', () => {
  const stage = new Stage().connect();
  stage.pass(60_000);
  assert.notEqual(stage.told.at(-1)[0], 'ended');
  assert.equal(stage.take('Ping').length, 2);
  stage.pass(300);
  assert.notEqual(stage.told.at(-1)[0], 'ended');
  stage.pass(300);
  assert.deepEqual(stage.told.at(-1), ['ended', 'silent']);
});

test('round trips are measured by pings', () => {
  const stage = new Stage().connect();
  const [ping] = stage.take('Ping');
  stage.time += 30;
  stage.say({ Pong: { token: ping.token } });
  assert.equal(stage.session.roundTrip.ms, 30);
});

test('a key goes out as a line and comes back, and a slip of the pen is seen', async () => {
  const store = memoryStore();
  assert.equal(await Identity.load('me', { store }), null);
  const made = await Identity.create('me', { store });
  const again = await Identity.create('me', { store });
  assert.equal(again.public, made.public, 'two tabs that begin at once are one person');
  assert.ok(!made.kept && made.why === 'no-storage');
  const other = memoryStore();
  const line = made.export();
  const moved = await Identity.import(`  ${line}\n`, 'me', { store: other });
  assert.equal(moved.public, made.public);
  assert.equal((await Identity.load('me', { store: other })).public, made.public);
  const slip = line.replace(/(:)([0-9a-f])/, (_, colon, digit) => colon + (digit === '0' ? '1' : '0'));
  await assert.rejects(Identity.import(slip, 'me', { store }), new KeyTextError('mistyped'));
  await assert.rejects(Identity.import('hello', 'me', { store }), new KeyTextError('no-key'));
});
