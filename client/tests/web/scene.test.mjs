import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Predictor } from '../../web/core/predict.js';
import { Scene } from '../../web/core/scene.js';
import { Timeline, Track } from '../../web/core/timeline.js';

const TICK = 1_000 / 60;

/** An origin in another sim. */
const ORIGIN = { sim: 'a5'.repeat(32), number: 3 };

const place = (x, y = 2, vx = 0) => ({ x, y, angle: 0, vx, vy: 0 });

/** A thing as the core tells of it. */
const put = (id, x = 1, over = {}) => ({
  id, kind: 'crate', name: 'a crate', scripts: [{ script: 4, package: null }], birth: null, gesture: null, far: false,
  place: place(x), ...over,
});

let height = 100;
function view(over = {}) {
  height += 1;
  return { height, tick: height * 3, me: null, put: [], gone: [], moved: [], gestures: [], reset: false, ...over };
}

/** A scene with a crate of id 9 at (1, 2). */
function started() {
  const scene = new Scene();
  scene.take(view({ put: [put(9)] }), 0);
  return scene;
}

test('what somebody holds is drawn at her right hand, where she is drawn', () => {
  const scene = new Scene();
  scene.take(view({ put: [put(7, 4, { kind: 'avatar' }), put(9, 4, { held: 7 })] }), 0);
  const [avatar, held] = [scene.at(7, 0), scene.at(9, 0)];
  assert.ok(held.x > avatar.x && held.y < avatar.y, 'to the right of who looks east');
  assert.ok(Math.abs(Math.hypot(held.x - avatar.x, held.y - avatar.y) - 0.45) < 1e-9);
  scene.take(view({ gone: [7] }), 50);
  assert.equal(scene.at(9, 50).x, 4, 'without its holder it is where it is');
  scene.take(view({ put: [put(9, 6, { held: null })] }), 50);
  assert.equal(scene.known(9).x, 6);
});

test('a thing is there as the core tells of it', () => {
  const scene = started();
  const { place: at, ...thing } = put(9);
  assert.deepEqual(scene.objects.get(9), thing);
  assert.deepEqual({ ...scene.known(9), tick: undefined }, { ...at, tick: undefined });
  const scripts = [{ script: 4, package: 'ab' }];
  scene.take(view({ put: [put(9, 1, { scripts })] }), 50);
  assert.deepEqual(scene.objects.get(9).scripts, scripts, 'it is told of again when more is known');
});

test('a thing is found by its origin, wherever it was born', () => {
  const scene = started();
  const here = '5a'.repeat(32);
  scene.take(view({ put: [put(10, 1, { birth: ORIGIN })] }), 50);
  assert.equal(scene.born({ sim: here, number: 9 }, here).id, 9);
  assert.equal(scene.born(ORIGIN, here).id, 10);
  assert.equal(scene.born({ sim: here, number: 10 }, here), undefined);
  assert.equal(scene.born({ ...ORIGIN, number: 9 }, here), undefined);
});

test('what moves is somewhere else, and what is gone is out of sight', () => {
  const scene = started();
  scene.take(view({ moved: [[9, 3, 2, 0, 0, 0]] }), 50);
  assert.equal(scene.known(9).x, 3);
  scene.take(view({ gone: [9] }), 100);
  assert.deepEqual([scene.objects.size, scene.at(9, 110), scene.known(9)], [0, null, null]);
});

test('a reset forgets all but what comes with it', () => {
  const scene = started();
  scene.take(view({ reset: true, put: [put(10)], gone: [9] }), 50);
  assert.deepEqual([...scene.objects.keys()], [10]);
  scene.take(view({ reset: true }), 100);
  assert.equal(scene.objects.size, 0);
});

test('gestures are of a moment, and outlive a change of their thing', () => {
  const scene = started();
  scene.take(view({ gestures: [[9, 'wave'], [77, 'bow']] }), 50);
  scene.take(view({ put: [put(9, 2)], gestures: [[9, 'wave']] }), 100);
  assert.equal(scene.objects.get(9).gesture, 'wave');
  scene.take(view(), 150);
  assert.equal(scene.objects.get(9).gesture, null);
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

/** A path along x at 3 m/s from here, one point for each tick after a moment. */
const path = (at, x, ticks = 30) => ({
  at, points: Array.from({ length: ticks }, (_, n) => [x + (n + 1) * 0.05, 0, 3, 0, 0]),
});

test('the own avatar is drawn on the path that the core predicts', () => {
  const scene = started();
  scene.take(view({ me: 9 }), 50);
  assert.equal(scene.at(9, 60).x, 1, 'without a path as everybody');
  scene.predictor.follow(path(0, 5), 100);
  assert.ok(Math.abs(scene.at(9, 100).x - (5 + (100 / TICK) * 0.05)) < 1e-9);
  scene.predictor.follow({ at: 150, points: null }, 150);
  assert.equal(scene.at(9, 160).x, 1);
});

test('a corrected path is taken over without a jump, and reached soon', () => {
  const predictor = new Predictor();
  predictor.follow(path(0, 0), 0);
  let last = predictor.at(90).x;
  predictor.follow(path(90, last - 0.5), 90);
  assert.ok(Math.abs(predictor.at(90).x - last) < 0.06, 'it is shown where it was');
  for (let now = 100; now < 400; now += 10) {
    const { x } = predictor.at(now);
    assert.ok(Math.abs(x - last) < 0.08, `${x} follows ${last}`);
    last = x;
  }
  assert.ok(Math.abs(last - (predictor.points[0][0] - 0.05 + (300 / TICK) * 0.05)) < 0.03);
});

test('an avatar that was put elsewhere is there at once', () => {
  const predictor = new Predictor();
  predictor.follow(path(0, 0), 0);
  predictor.follow(path(50, 30), 50);
  assert.ok(predictor.at(50 + TICK).x > 30);
});

test('before its first point and after its last one a path stands', () => {
  const predictor = new Predictor();
  predictor.follow(path(1_000, 0, 3), 1_000);
  assert.equal(predictor.at(990).x, 0.05);
  assert.equal(predictor.at(9_000).x, predictor.points[2][0]);
});
