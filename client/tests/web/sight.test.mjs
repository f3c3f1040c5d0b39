import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Foresight } from '../../web/core/foresight.js';
import { Predictor, overlap } from '../../web/core/predict.js';
import { Sight } from '../../web/core/sight.js';
import { Timeline, Track } from '../../web/core/timeline.js';
import { encode } from '../../web/wire/postcard.js';
import { entry as entrySchema } from '../../web/wire/state.js';

const Q20 = 2 ** 20;
const Q30 = 2 ** 30;
const TICK = 1_000 / 60;
const HERE = { x: 0, y: 0 };
const THERE = { x: 1, y: 0 };

const vector = (x, y, one = Q20) => ({ x: Math.round(x * one), y: Math.round(y * one) });

/** An origin in another sim. */
const ORIGIN = { sim: 'a5'.repeat(32), number: 3 };

function body(id, { x = 1, y = 2, vx = 0, vy = 0, motion = 'Dynamic' } = {}) {
  return {
    id, geometry: { Rect: vector(0.5, 0.25) }, motion, sensor: false, fixed_rotation: false, mass: 65_536,
    friction: 0, restitution: 0, linear_damping: 0, angular_damping: 0, position: vector(x, y),
    facing: vector(0, 1, Q30), velocity: vector(vx, vy), spin: 0, slow_steps: 0,
  };
}

function object(over = {}) {
  return {
    kind: 'crate', name: 'a crate', owner: null, player: null, look: { color: 0xff8040, shape: 'Square' },
    text: '', scripts: [4], licence: 'CcBySa', author: null, birth: null, parent: ORIGIN, travels: false,
    ...over,
  };
}

const bytes = (id, where, what) => encode(entrySchema, [id, object(what), body(id, where)]);

const still = { position: null, facing: null, velocity: null, spin: null, slow_steps: null };
const moved = (x, y) => ({ ...still, position: [Math.round(x * Q20), Math.round(y * Q20)] });

const update = (over) => ({
  tile: HERE, since: null, entries: [], moved: [], gone: [], more: false, ...over,
});

let height = 100;
function view(number, over = {}) {
  height += 1;
  return {
    number, height, tick: height * 3, me: null, tiles: [], left: [], near: [], far: [], gestures: [],
    ...over,
  };
}

/** A sight with a crate of id 9 at (1, 2). */
function started() {
  const sight = new Sight();
  const first = view(1, { tiles: [update({ entries: [bytes(9)] })] });
  sight.take(first, 0);
  return { sight, at: first.height };
}

test('a thing is told as people see it', () => {
  const { sight } = started();
  assert.deepEqual(sight.objects.get(9), {
    id: 9, kind: 'crate', name: 'a crate', owner: null, player: null,
    look: { color: 0xff8040, shape: 'square' }, text: '', scripts: [{ script: 4, package: null }],
    licence: 'CcBySa', author: null, birth: null, parent: ORIGIN, travels: false,
    round: false, hx: 0.5, hy: 0.25, motion: 'dynamic', movable: true, sensor: false, gesture: null,
    far: false,
  });
  assert.ok(sight.unlearned);
  sight.learn([{ script: 4, package: 'ab' }]);
  assert.equal(sight.objects.get(9).scripts[0].package, 'ab');
  assert.ok(!sight.unlearned);
  const { x, y, angle } = sight.known(9);
  assert.deepEqual([x, y, angle], [1, 2, Math.PI / 2]);
});

test('a thing is found by its origin, wherever it was born', () => {
  const { sight, at } = started();
  const here = '5a'.repeat(32);
  const put = { entries: [bytes(10, {}, { birth: ORIGIN })] };
  sight.take(view(2, { tiles: [update({ since: at, ...put })] }), 50);
  assert.equal(sight.born({ sim: here, number: 9 }, here).id, 9);
  assert.equal(sight.born(ORIGIN, here).id, 10);
  assert.equal(sight.born({ sim: here, number: 10 }, here), undefined);
  assert.equal(sight.born({ ...ORIGIN, number: 9 }, here), undefined);
});

test('copies follow movements exactly, and keep what did not change', () => {
  const { sight, at } = started();
  const movement = { ...moved(1.5, 2), spin: -7 };
  sight.take(view(2, { tiles: [update({ since: at, moved: [[9, movement]] })] }), 50);
  const { body: now } = sight.tiles.get(9);
  assert.deepEqual(now, { ...body(9, { x: 1.5 }), spin: -7 });
});

test('no server makes a client hold more than a world has', () => {
  const entries = Array.from({ length: 16_385 }, (_, id) => bytes(id));
  const refused = () => new Sight().take(view(1, { tiles: [update({ entries })] }), 0);
  assert.throws(refused, { name: 'ViewError' });
  const tiles = Array.from({ length: 65 }, (_, x) => update({ tile: { x, y: 0 } }));
  assert.throws(() => new Sight().take(view(1, { tiles }), 0), { name: 'ViewError' });
});

test('an object that crosses into another tile stays in sight, whichever is told of first', () => {
  for (const order of [[0, 1], [1, 0]]) {
    const { sight, at } = started();
    const tiles = [
      update({ since: at, gone: [9] }),
      update({ tile: THERE, entries: [bytes(9, { x: 33 })] }),
    ];
    sight.take(view(2, { tiles: order.map((n) => tiles[n]) }), 50);
    assert.equal(sight.known(9).x, 33);
    assert.ok(sight.objects.has(9));
  }
});

test('what is gone, or in a tile that was left, is out of sight', () => {
  const gone = started();
  const told = view(2, { tiles: [update({ since: gone.at, gone: [9] })] });
  assert.ok(gone.sight.take(told, 50));
  const left = started();
  left.sight.take(view(2, { left: [HERE] }), 50);
  for (const { sight } of [gone, left]) {
    assert.equal(sight.objects.size, 0);
    assert.equal(sight.at(9, 60), null);
  }
});

test('views that do not fit are errors', () => {
  const { sight, at } = started();
  const refused = (told, why) => assert.throws(() => sight.take(told, 50), { name: 'ViewError' }, why);
  refused(view(3), 'a view is missing');
  refused({ ...view(2), height: at }, 'time goes back');
  refused(view(2, { tiles: [update({ since: at + 500 })] }), 'a copy of that height is not held');
  const stray = { tiles: [update({ since: at, moved: [[10, still]] })] };
  refused(view(2, stray), 'what moved is not in the copy');
  const other = encode(entrySchema, [9, object(), body(8)]);
  refused(view(2, { tiles: [update({ entries: [other] })] }), 'an entry with the body of another');
});

test('copies stay when a session goes on at another server, and an older since fits them', () => {
  const { sight, at } = started();
  sight.begin();
  const told = view(1, { tiles: [update({ since: at - 5, moved: [[9, moved(3, 3)]] })] });
  sight.take(told, 50);
  assert.equal(sight.known(9).x, 3);
});

test('copies that were not whole are dropped when a session goes on', () => {
  const sight = new Sight();
  sight.take(view(1, { tiles: [update({ more: true, entries: [bytes(9)] })] }), 0);
  sight.begin();
  assert.equal(sight.objects.size, 0);
  assert.throws(() => sight.take(view(1, { tiles: [update({ since: height })] }), 50));
});

test('what crosses between tiles close by is never out of sight', () => {
  const { sight, at } = started();
  const step = { ...moved(33, 2), velocity: [Q20, 0] };
  sight.take(view(2, { tiles: [update({ since: at, gone: [9] })], near: [[9, step]] }), 50);
  assert.equal(sight.known(9).x, 33);
  sight.take(view(3, { near: [[9, { ...step, position: [34 * Q20, 2 * Q20] }]] }), 100);
  assert.equal(sight.known(9).x, 34);
  sight.take(view(4), 150);
  assert.ok(!sight.objects.has(9));
});

test('only whole copies are named when a session goes on', () => {
  const { sight, at } = started();
  const part = view(2, { tiles: [update({ tile: THERE, more: true })] });
  sight.take(part, 50);
  assert.deepEqual(sight.tiles.have(), [[HERE, at]]);
  const rest = view(3, { tiles: [update({ tile: THERE, since: part.height })] });
  sight.take(rest, 100);
  assert.deepEqual(sight.tiles.have(), [[HERE, at], [THERE, rest.height]]);
});

test('far things come, and go when they are not told of again', () => {
  const { sight } = started();
  sight.take(view(2, { far: [bytes(77, { x: 200 })] }), 50);
  assert.ok(sight.objects.get(77).far);
  assert.ok(!sight.tiles.have().some(([tile]) => tile.x === 6));
  height += 201;
  assert.ok(sight.take(view(3), 100));
  assert.ok(!sight.objects.has(77));
});

test('gestures are of a moment', () => {
  const { sight } = started();
  sight.take(view(2, { gestures: [[9, 'Wave']] }), 50);
  assert.equal(sight.objects.get(9).gesture, 'wave');
  sight.take(view(3), 100);
  assert.equal(sight.objects.get(9).gesture, null);
});

test('what is very near moves for drawing, and its copy stays as it is', () => {
  const { sight } = started();
  sight.take(view(2, { near: [[9, moved(1.25, 2)]] }), 50);
  assert.equal(sight.known(9).x, 1.25);
  assert.equal(sight.tiles.get(9).body.position.x, Q20);
});

test('time is drawn steadily though views arrive unevenly, and never goes back', () => {
  const line = new Timeline(3);
  let worst = 0;
  let last = null;
  for (let turn = 1; turn < 400; turn++) {
    // Every seventh view is 20 ms late.
    const arrived = turn * 50 + (turn % 7 === 0 ? 20 : 0);
    line.heard(turn * 3, arrived);
    for (const step of [0, TICK, 2 * TICK]) {
      const tick = line.at(turn * 50 + 20 + step);
      if (last !== null) {
        assert.ok(tick >= last);
        if (turn > 100) worst = Math.max(worst, Math.abs(tick - last - 1));
      }
      last = tick;
    }
  }
  assert.ok(worst < 0.35, `a step of ${worst} ticks more or less than one`);
  assert.ok(line.delay > 50 && line.delay < 150, `${line.delay} ms behind`);
});

test('a thing is drawn between what was told before and after', () => {
  const sample = (tick, x, vx = 0) => ({ tick, x, y: 0, angle: 0, vx, vy: 0 });
  const track = new Track(sample(3, 0, 2));
  track.add(sample(6, 1, 2), 3);
  assert.equal(track.at(4.5).x, 0.5);
  assert.equal(track.at(0).x, 0);
  assert.equal(track.at(12).x, 1 + 2 * (6 / 60), 'it coasts a little');
  assert.equal(track.at(60).x, track.at(12).x);
  const rested = new Track(sample(3, 0));
  rested.add(sample(63, 1, 2), 60);
  assert.equal(rested.at(40).x, 0, 'what rested did not creep');
  rested.add(sample(66, 100), 63);
  assert.equal(rested.at(64).x, 100, 'what was put elsewhere does not fly there');
});

test('angles turn the short way', () => {
  const track = new Track({ tick: 0, x: 0, y: 0, angle: 3, vx: 1, vy: 0 });
  track.add({ tick: 2, x: 0, y: 0, angle: -3, vx: 1, vy: 0 }, 0);
  assert.ok(Math.abs(track.at(1).angle) > 3);
});

/** Plays a walk: the servers do the same, `late` ms later. */
function play({ late, seconds, steer, world = (place) => place }) {
  const rules = { radius: 0.35, speed: 4, acceleration: 24 };
  const [ours, theirs] = [new Predictor(rules), new Predictor(rules)];
  const start = { x: 0, y: 0, vx: 0, vy: 0, angle: 0 };
  ours.correct(start, 0, 50);
  theirs.correct(start, 0, 50);
  ours.latency = late + 50;
  let last = ours.at(0);
  let jump = 0;
  for (let now = 0; now < seconds * 1_000; now += 10) {
    steer(ours, now, now);
    steer(theirs, now - late, now);
    const told = world(theirs.at(now));
    if (now % 50 === 0) ours.correct(told, now, 50);
    const drawn = ours.at(now);
    jump = Math.max(jump, Math.hypot(drawn.x - last.x, drawn.y - last.y));
    last = drawn;
  }
  return { ours, theirs, last, jump };
}

test('the own avatar starts at once, and the servers only confirm it', () => {
  const { jump, last, theirs } = play({
    late: 100,
    seconds: 2,
    steer: (who, at, now) => at === 200 && who.steer(1, 0, now),
  });
  assert.ok(last.x > theirs.at(2_000).x + 0.3, 'it is ahead');
  assert.ok(jump < 0.05, `a jump of ${jump} m`);
});

test('after a stop, the own avatar is where the servers say', () => {
  const { last, jump } = play({
    late: 100,
    seconds: 4,
    steer: (who, at, now) => {
      if (at === 200) who.steer(0, 1, now);
      if (at === 900) who.steer(0, 0, now);
    },
    world: (place) => ({ ...place, x: place.x + 0.5 }),
  });
  assert.ok(Math.abs(last.x - 0.5) < 0.02, `${last.x}`);
  assert.ok(jump < 0.1, `a jump of ${jump} m`);
});

test('an avatar that was put elsewhere is there at once', () => {
  const one = new Predictor({ radius: 0.35, speed: 4, acceleration: 24 });
  one.correct({ x: 0, y: 0, vx: 0, vy: 0, angle: 0 }, 0, 50);
  one.correct({ x: 30, y: 0, vx: 0, vy: 0, angle: 0 }, 50, 50);
  assert.equal(one.at(50).x, 30);
});

test('walls hold the own avatar, also turned ones and corners', () => {
  const wall = { x: 3, y: 0, angle: 0.3, round: false, hx: 0.5, hy: 5 };
  const one = new Predictor({ radius: 0.35, speed: 4, acceleration: 24 });
  one.solids = () => [wall];
  one.correct({ x: 0, y: 0, vx: 0, vy: 0, angle: 0 }, 0, 50);
  one.steer(1, 0, 0);
  for (let now = 0; now < 3_000; now += 16) {
    const { x, y } = one.at(now);
    assert.ok((overlap(x, y, 0.35, wall)?.depth ?? 0) < 1e-6);
  }
  assert.ok(one.at(3_000).x < 3);
  assert.equal(overlap(0, 0, 1, { x: 1.9, y: 0, angle: 0, round: true, hx: 1, hy: 1 }).nx, -1);
  assert.equal(overlap(0, 0, 1, { x: 2.1, y: 0, angle: 0, round: true, hx: 1, hy: 1 }), null);
  assert.ok(overlap(0.1, 0, 1, { x: 0, y: 0, angle: 0, round: false, hx: 1, hy: 2 }).depth > 1.8);
});

test('a path that the servers\' own physics foresee is followed without a jump', () => {
  const one = new Predictor({ radius: 0.35, speed: 4, acceleration: 24 });
  one.correct({ x: 0, y: 0, vx: 0, vy: 0, angle: 0 }, 0, 50);
  const point = (n) => ({ x: 0.2 + n * 0.05, y: 0, vx: 3, vy: 0, angle: 0 });
  const points = Array.from({ length: 30 }, (_, n) => point(n));
  one.follow({ began: -50, points }, 1);
  assert.ok(Math.hypot(one.at(1).x, one.at(1).y) < 1e-9, 'it is shown where it was');
  let last = one.at(1).x;
  for (let now = 10; now < 400; now += 10) {
    const { x } = one.at(now);
    assert.ok(x >= last && x - last < 0.08);
    last = x;
  }
  const at = (400 + 50) / TICK - 1;
  assert.ok(Math.abs(one.at(400).x - (0.2 + at * 0.05)) < 0.01);
  one.steer(0, 0, 460);
  assert.ok(Number.isFinite(one.at(900).x), 'rules go on where the path ends');
});

test('headings under way change the path when they will be taken', () => {
  const asked = [];
  const foresight = new Foresight((number, walk) => asked.push({ number, ...walk }));
  const said = foresight.note(1, 0, 1_000);
  foresight.note(0, 0, 1_100);
  foresight.view(50, 1_050, 100);
  assert.deepEqual(asked[0].heading, [0, 0]);
  assert.deepEqual(asked[0].changes, [
    { after: 3, heading: [4_294_967_296, 0] },
    { after: 9, heading: [0, 0] },
  ]);
  said.height = 51;
  foresight.view(51, 1_100, 100);
  assert.deepEqual(asked[1].heading, [4_294_967_296, 0]);
  assert.deepEqual(asked[1].changes, [{ after: 6, heading: [0, 0] }]);
  const found = { tick: 153, path: [{ position: [1 << 20, 0], velocity: [0, 0], facing: [0, 1] }] };
  assert.equal(foresight.path(1, found), null, 'an answer to an older question');
  assert.deepEqual(foresight.path(2, found), {
    began: 1_000, points: [{ x: 1, y: 0, vx: 0, vy: 0, angle: Math.PI / 2 }],
  });
});
