// Walking over a border: the nearest open one is looked after, both sims are one picture, and the page goes on in the
// sim where the avatar is.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { BorderWalk } from '../../web/core/border.js';
import { JoinedSight } from '../../web/core/joined.js';
import { Predictor } from '../../web/core/predict.js';
import { t } from '../../web/strings.js';
import { crossing } from '../../web/ui/crossing.js';
import { agreed, agrees } from '../../web/ui/introduction.js';
import { withDialogs } from './elements.mjs';

const LINE = [{ x: 128, y: -128 }, { x: 128, y: 128 }];
const EAST = { neighbour: 'ea', open: true, why: null, gap: 20, edge: 'east', shift: { x: -256, y: 0 }, nodes: ['http://e'], line: LINE, lookout: { x: -128, y: 3 }, refused: null, stays: [] };
const WALL = { ...EAST, neighbour: 'fa', open: false, gap: 5 };
const ADA = { name: 'Ada', look: { color: 1, shape: 'star' } };

const drained = () => new Promise((done) => setImmediate(done));

/** An engine that is asked nothing over a network. @param {any} more */
function engine(more = {}) {
  const place = { x: 100, y: 3, vx: 4, vy: 0, angle: 0 };
  return {
    me: 7, sim: 'aa', genesis: { introduction: { world: 'ww' } }, place,
    sight: { at: () => place, objects: new Map([[7, { id: 7, departed: false }]]), predictor: new Predictor() },
    status: { phase: 'open', http: 'http://a' }, asked: 0, approached: [], walked: [], told: [], running: false,
    near: [WALL, EAST],
    async borders() {
      this.asked += 1;
      return this.near;
    },
    async approach(from, agreed) {
      if (this.rules && !agreed.includes(this.rules)) throw Object.assign(new Error('held'), { code: 'HouseRules' });
      this.approached.push(from);
      return this.answer ?? { ok: true, refusal: null };
    },
    async walk(x, y) {
      this.walked.push([x, y]);
      return null;
    },
    get port() {
      return { tell: (what, fields) => this.told.push([what, fields]) };
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

function walk(here, there, rules = { agreed: () => [], agrees: async () => false }) {
  const told = { opened: [], arrived: [], refused: [], near: [] };
  const border = new BorderWalk({
    engine: here,
    person: () => ADA,
    rules,
    open: (next) => (told.opened.push(next.neighbour), there),
    arrived: (engine, { shift }) => told.arrived.push([engine, shift]),
    refused: (why) => told.refused.push(why),
    near: (border, _, portals) => (told.near.push(border?.neighbour ?? null), (told.portals = portals)),
  });
  const step = async (now) => {
    border.update(now);
    await drained();
  };
  return { border, told, step };
}

test('near a border who comes is looked out for there and announced, once in a while', async () => {
  const [here, there] = [engine(), engine({ me: null, sim: 'ea' })];
  const { told, step } = walk(here, there);
  for (const now of [0, 200, 400]) await step(now);
  assert.deepEqual(told.opened, ['ea']);
  assert.deepEqual(told.near, ['ea'], 'an open border is told of before a wall that is nearer');
  assert.ok(there.running);
  assert.deepEqual(there.approached, ['aa']);
  assert.equal(here.asked, 1);
  assert.deepEqual(here.told, [['may_pass', { to: null }], ['may_pass', { to: 'ea' }]], 'its ground goes on for whoever has a pass');
  await step(4_400);
  assert.deepEqual(there.approached, ['aa', 'aa']);
  assert.deepEqual(there.told, [['expect', { expected: true }], ['look_at', EAST.lookout]]);
});

test('an avatar that departed is followed when it is there, in the same frame, and the way back is ready', async () => {
  const [here, there] = [engine(), engine({ me: null, sim: 'ea' })];
  const { border, told, step } = walk(here, there);
  await step(0);
  await border.walk(1, 0);
  there.place = { ...there.place, x: -126 };
  [there.me, there.sight.objects] = [3, new Map([[3, { id: 3 }]])];
  there.sight.predictor.follow({ at: 0, points: [[-126, 3, 4, 0, 0]] }, 500);
  border.frame(500);
  assert.deepEqual(told.arrived, [], 'its avatar is here still: somebody else uses the key over there');
  here.sight.objects.get(7).departed = true;
  here.place.x = 129.75;
  border.frame(520);
  assert.deepEqual(told.arrived, [[there, EAST.shift]]);
  assert.deepEqual(there.told.at(-1), ['arrive', ADA]);
  assert.deepEqual(here.told.slice(-2), [['let_go', undefined], ['expect', { expected: true }]]);
  // It is drawn where it was drawn before: the difference shrinks by itself.
  assert.equal(there.sight.predictor.at(520).x, 129.75 - 256);
  assert.deepEqual(there.walked.at(-1), [1, 0], 'the heading is said again: before it did not count');
  assert.deepEqual([border.engine, border.ahead.engine, border.ahead.border.neighbour], [there, here, 'aa']);
  assert.deepEqual([border.ahead.border.edge, border.ahead.border.line[0]], ['west', { x: -128, y: -128 }]);
  border.frame(540);
  assert.equal(told.arrived.length, 1);
});

test('from two metres before the line on the heading is said in both sims', async () => {
  const [here, there] = [engine(), engine({ me: null, sim: 'ea' })];
  const { border, step } = walk(here, there);
  await step(0);
  await border.walk(1, 0);
  assert.deepEqual([here.walked, there.walked], [[[1, 0]], []]);
  here.place.x = 126.1;
  border.frame(100);
  border.frame(120);
  assert.deepEqual(there.walked, [[1, 0]]);
  await border.walk(0, 1);
  assert.deepEqual(there.walked, [[1, 0], [0, 1]]);
});

test('a reason to refuse is told once it was given three times, and the announcement is made again', async () => {
  const there = engine({ me: null, answer: { ok: false, refusal: 'NotNear' } });
  const { told, step } = walk(engine(), there);
  for (const now of [0, 200, 400, 600, 800]) await step(now);
  assert.deepEqual([there.approached.length, told.refused], [5, []], 'at first the neighbour has not heard of her: it is made again at once');
  for (const now of [1_000, 1_200, 2_000]) await step(now);
  assert.deepEqual([there.approached.length, told.refused], [7, []]);
  for (const now of [2_200, 3_000, 4_000]) await step(now);
  assert.deepEqual([there.approached.length, told.refused], [9, ['NotNear']]);
});

test('who has not agreed to the house rules is asked once, is not announced, and goes once she agrees', async () => {
  const there = engine({ me: null, sim: 'ea' });
  const ruled = (digest) => Object.assign(there, { rules: digest, genesis: { introduction: { houseRulesDigest: digest } } });
  const [agreed, asked] = [[], []];
  let answer = (/** @type {boolean} */ _) => {};
  const agrees = ({ rules }) => new Promise((done) => {
    asked.push(rules);
    answer = (yes) => (yes && agreed.push(rules), done(yes));
  });
  const { told, step } = walk(engine(), there, { agreed: () => agreed, agrees });
  ruled('kind');
  const began = performance.now();
  for (const later of [0, 2_000, 4_000]) await step(began + later);
  assert.deepEqual([asked, there.approached], [['kind'], []], 'she reads them, and nothing is signed');
  answer(false);
  await drained();
  for (const later of [6_000, 8_000, 10_000]) await step(began + later);
  assert.deepEqual([asked, there.approached, told.refused], [['kind'], [], ['HouseRules']], 'she is not asked again, and told why');
  // Others hold from now on.
  ruled('shut');
  await step(began + 12_000);
  assert.deepEqual(asked, ['kind', 'shut']);
  answer(true);
  await drained();
  await step(began + 12_200);
  assert.deepEqual([asked.length, there.approached], [2, ['aa']], 'at once');
});

test('whoever turns back leaves the neighbour, and a sim in no world is never asked', async () => {
  const [here, there] = [engine(), engine({ me: null })];
  const { border, step } = walk(here, there);
  await step(0);
  assert.ok(there.running);
  here.near = [WALL];
  await step(2_100);
  assert.deepEqual([there.running, border.ahead], [false, null]);

  const alone = engine({ genesis: { introduction: { world: null } } });
  await walk(alone, there).step(0);
  assert.equal(alone.asked, 0);
});

test('at a corner all sims around it are looked after, also behind a wall, and none is left before she is away', async () => {
  const north = { ...EAST, neighbour: 'na', open: false, gap: 3, edge: 'north', shift: { x: 0, y: -256 }, line: [{ x: -128, y: 128 }, { x: 128, y: 128 }], lookout: null };
  const place = { x: 126.5, y: 125, vx: 4, vy: 0, angle: 0 };
  const here = engine({ place, near: [{ ...EAST, gap: 1.5 }, north] });
  here.sight.at = () => place;
  const sims = { ea: engine({ me: null, sim: 'ea' }), na: engine({ me: null, sim: 'na' }), da: engine({ me: null, sim: 'da' }) };
  const { border, told, step } = walk(here, sims.ea);
  border.parts.open = ({ neighbour }) => (told.opened.push(neighbour), sims[neighbour]);
  for (const now of [0, 200]) await step(now);
  assert.deepEqual([told.opened, sims.na.approached, told.near.at(-1)], [['ea', 'na'], ['aa'], 'ea'], 'behind the corner it is heard that she comes');
  await border.walk(1, 0);
  assert.deepEqual([sims.ea.walked, sims.na.walked], [[[0, 0], [1, 0]], []], 'each of them hears where she heads from two metres on');
  assert.deepEqual([border.ahead.engine, here.told.at(-1)], [sims.ea, ['may_pass', { to: 'ea' }]]);
  [place.x, place.y] = [125, 127.5];
  border.frame(300);
  assert.deepEqual([border.ahead.engine, here.told.at(-1)], [sims.na, ['may_pass', { to: 'na' }]], 'the nearest one is in the picture');

  // House rules of the one that is farther are not asked about.
  sims.ea.rules = 'kind';
  const asked = [];
  border.parts.rules.agrees = async (there) => asked.push(there.sim);
  await step(4_400);
  assert.deepEqual(asked, []);
  sims.ea.rules = undefined;

  // In the sim to the north the one behind the corner is to the east.
  Object.assign(sims.na, { me: 4, place: { ...place, y: -127 }, near: [{ ...EAST, neighbour: 'aa', gap: 1 }, { ...EAST, neighbour: 'da', gap: 3 }] });
  sims.na.sight.objects = new Map([[4, { id: 4 }]]);
  here.sight.objects.get(7).departed = true;
  border.frame(4_500);
  await drained();
  assert.deepEqual([border.engine, [...border.all.keys()], told.opened.at(-1)], [sims.na, ['ea', 'aa', 'da'], 'da']);
  assert.deepEqual([sims.ea.running, sims.ea.approached], [true, ['aa']], 'she comes there again, and not from here');
  sims.na.near = [{ ...EAST, neighbour: 'aa', gap: 9 }];
  await step(5_600);
  assert.deepEqual([sims.ea.running, sims.da.running, here.running], [false, false, true]);
});

/** One side of a joined picture. @param {string} sim @param {any[]} things */
function side(sim, things, more = {}) {
  const objects = new Map(things.map((thing) => [thing.id, { departed: false, held: null, birth: null, player: null, scripts: [1], ...thing }]));
  return { sim, genesis: null, status: { simName: `name of ${sim}` }, sight: { height: 1, me: null, objects, at: (id) => (objects.has(id) ? { x: 10 * id, y: 1 } : null) }, ...more };
}

test('two sims are one picture, in own coordinates, and what is over there is out of reach', () => {
  const own = side('aa', [{ id: 1 }, { id: 2, player: 'ada' }]);
  const there = side('ea', [{ id: 1, name: 'wall' }, { id: 2, player: 'bob' }, { id: 3, held: 2 }]);
  const both = new JoinedSight(own, there, { x: -256, y: 0 });
  assert.deepEqual([...both.objects.keys()], [1, 2, -1, -2, -3]);
  const wall = both.objects.get(-1);
  assert.deepEqual([wall.name, wall.beyond, wall.scripts, wall.movable, both.objects.get(-3).held], ['wall', 'name of ea', [], false, -2]);
  assert.deepEqual([both.at(1, 0).x, both.at(-1, 0).x, both.at(-9, 0)], [10, 266, null]);
});

test('a neighbour draws nothing in the middle of the own ground', () => {
  // The line is at x = 300, and what lies there is drawn at 266.
  const line = (x) => ({ edge: 'east', line: [{ x, y: -9 }, { x, y: 9 }] });
  const [own, there] = [side('aa', [{ id: 1 }]), side('ea', [{ id: 1 }])];
  const place = (border) => new JoinedSight(own, there, { x: -256, y: 0 }, border).at(-1, 0);
  assert.equal(place(line(300)), null);
  assert.equal(place(line(270)).x, 266, 'on the way over');
  assert.equal(place(line(128)).x, 266);
});

test('who departed is drawn until the other sim shows it, and nobody is drawn twice', () => {
  const bob = { id: 2, player: 'bob', departed: true };
  const ball = { id: 5, departed: true };
  const own = side('aa', [bob, ball]);
  const there = side('ea', []);
  const both = new JoinedSight(own, there, { x: -256, y: 0 });
  assert.deepEqual([...both.objects.keys()], [2, 5]);
  there.sight.objects.set(9, { id: 9, player: 'bob', departed: false });
  // A thing is known by where it was born.
  there.sight.objects.set(8, { id: 8, player: null, birth: { sim: 'aa', number: 5 }, departed: false });
  there.sight.height = 2;
  assert.deepEqual([...both.objects.keys()], [-9, -8]);
  // On the way back: gone from there, and here already.
  there.sight.objects.get(9).departed = true;
  own.sight.objects.get(2).departed = false;
  own.sight.height = 2;
  assert.deepEqual([...both.objects.keys()], [2, -8]);
});

test('rooms of the neighbour are drawn where they are, after the own ones', () => {
  const room = { name: 'hall', corners: [{ x: 0, y: 0 }] };
  const gap = { from: { x: 1, y: 0 }, to: { x: 2, y: 0 }, joins: [0] };
  const plan = { sectors: [room], openings: [gap] };
  const both = new JoinedSight(side('aa', [], { genesis: { floorPlan: plan } }), side('ea', [], { genesis: { floorPlan: plan } }), { x: -256, y: 0 });
  assert.deepEqual(both.plan.sectors.map(({ corners }) => corners[0].x), [0, 256]);
  assert.deepEqual(both.plan.openings[1], { from: { x: 257, y: 0 }, to: { x: 258, y: 0 }, joins: [1] });
});

test('a portal leads to where its other end is, and nothing behind it is drawn', async () => {
  const portal = { ...EAST, neighbour: 'ba', edge: 'east', line: null, portal: { x: 100, y: 3 }, shift: { x: -130, y: 0 }, lookout: { x: -30, y: 3 }, gap: 30, far: true };
  const there = engine({ me: null, sim: 'ba', sight: { ...engine().sight, objects: new Map([[4, { id: 4 }]]) } });
  const here = engine({ near: [portal] });
  const { border, told, step } = walk(here, there);
  await step(0);
  assert.deepEqual([told.opened, told.portals.length, told.near], [[], 1, [null]], 'it is in sight, and too far');
  here.near = [{ ...portal, gap: 9, far: false }];
  await step(1_000);
  assert.deepEqual([told.opened, [...border.ahead.sight.objects.keys()]], [['ba'], [7]]);
  here.sight.objects.get(7).departed = true;
  there.me = 4;
  border.frame(1_100);
  assert.deepEqual(told.arrived, [[there, { x: -130, y: 0 }]]);
  assert.deepEqual([border.ahead.border.portal, border.ahead.border.shift.x], [{ x: -30, y: 3 }, 130]);
});

// Where a browser kept nothing, the question came again for ever.
test('who agrees is not asked again for the same house rules, also where nothing is kept', async () => {
  const body = withDialogs();
  const introduction = { houseRules: 'Be kind.', houseRulesDigest: 'kind', description: '', tags: [], picture: null };
  const there = { status: { simName: 'garden' }, genesis: { introduction } };
  const asked = agrees(there);
  assert.equal(agrees(there), asked, 'there is one dialog');
  body.all('button').find(({ textContent }) => textContent === t('rules.agree')).click();
  assert.ok(await asked);
  assert.deepEqual([agreed(), await agrees(there)], [['kind'], true]);
});

test('at the line it is said that the house rules are not agreed to', () => {
  const body = withDialogs();
  const page = { client: engine(), picture: {}, toasts: {}, border: { ahead: { said: { why: 'HouseRules' } } } };
  const there = { status: { simName: 'garden' }, proof: { level: 'green' } };
  const walk = crossing(page);
  const said = () => body.all('p').map(({ textContent }) => textContent).join(' ');
  walk.parts.near(EAST, there, []);
  assert.ok(said().includes('garden does not let you over: you have not agreed to its house rules.'), said());
  page.border.ahead.said.why = null;
  walk.parts.near(EAST, there, []);
  assert.ok(said().endsWith('Walk on to go there.'), said());
});

test('a thing that came over just now is not said to stay before it was so for a second', () => {
  const body = withDialogs();
  const sight = { objects: new Map([[5, { name: 'cart' }]]) };
  const walk = crossing({ client: engine({ sight }), picture: {}, toasts: {} });
  const why = 'it came over a border just now';
  const said = (stays) => {
    walk.parts.near({ ...EAST, stays }, null, []);
    return body.all('p').map(({ textContent }) => textContent).join(' ');
  };
  assert.ok(!said([{ id: 5, why }]).includes(why), 'this is so for a moment');
  assert.ok(!said([]).includes(why));
  assert.ok(!said([{ id: 5, why }]).includes(why), 'it was not so the last time');
  assert.ok(said([{ id: 5, why }]).includes('cart') && said([{ id: 5, why }]).includes(why));
});
