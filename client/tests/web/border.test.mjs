// Walking over a border: the nearest open one is looked after, and the page goes where the avatar is.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { BorderWalk } from '../../web/core/border.js';

const EAST = { neighbour: 'ea', open: true, why: null, gap: 20, shift: { x: -256, y: 0 }, nodes: ['http://e'] };
const WALL = { ...EAST, neighbour: 'fa', open: false, gap: 5 };

/** An engine that is asked nothing over a network. @param {any} more */
function engine(more = {}) {
  return {
    me: 7, sim: 'aa', genesis: { introduction: { world: 'ww' } }, sight: { at: () => ({ x: 100, y: 3 }) },
    status: { phase: 'open' }, asked: 0, approached: [], running: false,
    async borders() {
      this.asked += 1;
      return [WALL, EAST];
    },
    async approach(from) {
      this.approached.push(from);
      return this.answer ?? { ok: true, refusal: null };
    },
    start() {
      this.running = true;
    },
    stop() {
      this.running = false;
    },
    ...more,
  };
}

function walk(here, there) {
  const told = { opened: [], arrived: [], refused: [], near: [] };
  const border = new BorderWalk({
    engine: here,
    open: (next, at) => (told.opened.push([next.neighbour, at]), there),
    arrived: (engine) => told.arrived.push(engine),
    refused: (why) => told.refused.push(why),
    near: (border) => told.near.push(border?.neighbour ?? null),
  });
  const step = async (now) => {
    border.update(now);
    await new Promise((done) => setImmediate(done));
  };
  return { border, told, step };
}

test('near a border who comes is announced there, once in a while, and the page follows the avatar', async () => {
  const [here, there] = [engine(), engine({ me: null })];
  const { told, step } = walk(here, there);
  for (const now of [0, 200, 400]) await step(now);
  assert.deepEqual(told.opened, [['ea', { x: -156, y: 3 }]]);
  assert.deepEqual(told.near, ['ea'], 'an open border is told of before a wall that is nearer');
  assert.ok(there.running);
  assert.deepEqual(there.approached, ['aa']);
  assert.equal(here.asked, 1);
  await step(10_400);
  assert.deepEqual(there.approached, ['aa', 'aa']);

  // Under way it is in neither; then it is there.
  here.me = null;
  await step(10_600);
  assert.deepEqual(told.arrived, []);
  there.me = 3;
  await step(10_800);
  await step(11_000);
  assert.deepEqual(told.arrived, [there]);
});

test('a reason to refuse is told once, and the announcement is made again', async () => {
  const there = engine({ me: null, answer: { ok: false, refusal: 'NotNear' } });
  const { told, step } = walk(engine(), there);
  for (const now of [0, 200, 1_300, 2_400]) await step(now);
  assert.equal(there.approached.length, 3);
  assert.deepEqual(told.refused, ['NotNear']);
});

test('whoever turns back leaves the neighbour, and a sim in no world is never asked', async () => {
  const [here, there] = [engine(), engine({ me: null })];
  const { step } = walk(here, there);
  await step(0);
  assert.ok(there.running);
  here.borders = async () => [WALL];
  await step(2_100);
  assert.ok(!there.running);

  const alone = engine({ genesis: { introduction: { world: null } } });
  await walk(alone, there).step(0);
  assert.equal(alone.asked, 0);
});
