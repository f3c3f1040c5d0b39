// What of the drawing can be told without a canvas.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

import { Camera, ZOOM_MAX, ZOOM_MIN } from '../../web/draw/camera.js';
import { Gait } from '../../web/draw/figures.js';
import { drawJoints } from '../../web/draw/joints.js';
import { noise, tone, DAY, DUSK } from '../../web/draw/light.js';
import { handles } from '../../web/draw/marks.js';
import { within } from '../../web/draw/minimap.js';
import { corners } from '../../web/draw/solid.js';
import { kindOf } from '../../web/draw/things.js';
import { tokens } from '../../web/ui/highlight.js';
import { gapTo, pushable } from '../../web/ui/near.js';

test('the pieces of a highlighted source are the source', async () => {
  const folder = new URL('../../../scenarios/packages/', import.meta.url);
  for (const path of ['door/door.rhai', 'bell/bell.rhai', 'greeter/greeter.rhai', 'turntable/turntable.rhai', 'door/package.toml']) {
    const text = await readFile(new URL(path, folder), 'utf8');
    const pieces = tokens(text, path);
    assert.equal(pieces.map((piece) => piece.text).join(''), text);
    assert.ok(pieces.length > 8);
  }
  for (const broken of ['"never closed', '`a ${', '/* open', "fn \u{1F600} '", '']) {
    assert.equal(tokens(broken, 'x.rhai').map((piece) => piece.text).join(''), broken);
  }
});

test('words, calls, texts and comments are told apart', () => {
  const kinds = Object.fromEntries(tokens('if go(1.5) { "x" } // why', 'a.rhai').map(({ kind, text }) => [text.trim(), kind]));
  assert.equal(kinds.if, 'word');
  assert.equal(kinds.go, 'name');
  assert.equal(kinds['1.5'], 'number');
  assert.equal(kinds['"x"'], 'text');
  assert.equal(kinds['// why'], 'comment');
});

test('the ground under a pixel is where that pixel is drawn', () => {
  const camera = new Camera();
  camera.resize(800, 600, 2);
  camera.inset = { right: 200, bottom: 0 };
  for (let now = 0; now < 2000; now += 16) camera.follow(3.3, -4.7, now, false);
  const { x, y } = camera.ground(120, 340);
  assert.ok(Math.abs(camera.toScreen(x, y).x - 120) < 1e-6);
  assert.ok(Math.abs(camera.sx(x) - 240) < 1e-6);
  assert.ok(Math.abs(camera.sy(y) - 680) < 1e-6);
  // What is followed is in the middle of what no panel covers, to a pixel.
  assert.ok(Math.abs(camera.sx(3.3) - 600) <= 2, String(camera.sx(3.3)));
});

test('the zoom stays within its bounds', () => {
  const camera = new Camera();
  for (let i = 0; i < 50; i++) camera.by(1.5);
  assert.equal(camera.goal, ZOOM_MAX);
  for (let i = 0; i < 50; i++) camera.by(0.5);
  assert.equal(camera.goal, ZOOM_MIN);
});

test('corners go around clockwise on the screen at any angle', () => {
  for (let angle = -7; angle < 7; angle += 0.37) {
    const points = corners(3, 1, angle);
    let twice = 0;
    points.forEach(([x, y], i) => {
      const [u, v] = points[(i + 1) % 4];
      twice += x * v - u * y;
    });
    assert.ok(Math.abs(twice / 2 - 12) < 1e-9, `${angle}: ${twice}`);
  }
});

test('a box is as far away as its nearest edge', () => {
  const box = { round: false, hx: 2, hy: 0.5 };
  assert.equal(gapTo({ x: 5, y: 0 }, box, { x: 0, y: 0, angle: 0 }), 3);
  assert.ok(Math.abs(gapTo({ x: 0, y: 5 }, box, { x: 0, y: 0, angle: Math.PI / 2 }) - 3) < 1e-9);
  assert.equal(gapTo({ x: 0.1, y: 0.1 }, box, { x: 0, y: 0, angle: 1 }), 0);
  assert.equal(gapTo({ x: 3, y: 4 }, { round: true, hx: 1, hy: 1 }, { x: 0, y: 0, angle: 0 }), 4);
});

test('nobody is asked to push what somebody holds', () => {
  assert.ok(pushable({ movable: true, held: null }));
  assert.ok(!pushable({ movable: true, held: 7 }) && !pushable({ movable: false, held: null }));
});

test('handles turn with their thing', () => {
  const spot = { x: 1, y: 2, angle: Math.PI / 2, hx: 2, hy: 1, round: false };
  const { size } = handles(spot, 40);
  assert.ok(Math.abs(size.x - 2) < 1e-9 && Math.abs(size.y - 4) < 1e-9);
});

test('whoever walks looks where they walk', () => {
  const gait = new Gait();
  for (let now = 1; now < 2000; now += 16) gait.step(-2, 0, now);
  assert.ok(Math.cos(gait.face) < -0.99);
  assert.ok(gait.stride > 0.7);
  for (let now = 2000; now < 4000; now += 16) gait.step(0, 0, now);
  assert.ok(gait.stride < 0.01);
});

test('noise depends on the place only, and fills its range', () => {
  let [low, high] = [1, 0];
  for (let x = -40; x < 40; x++) {
    for (let y = -40; y < 40; y++) {
      const n = noise(x, y, 3);
      assert.equal(n, noise(x, y, 3));
      low = Math.min(low, n);
      high = Math.max(high, n);
    }
  }
  assert.ok(low >= 0 && low < 0.01 && high < 1 && high > 0.99);
});

test('dusk is darker than day', () => {
  const light = (css) => css.match(/\d+/g).map(Number).reduce((a, b) => a + b);
  assert.ok(light(tone(0xc0a080, 1, DUSK)) < light(tone(0xc0a080, 1, DAY)));
});

test('what the map shows of a view stays on the map', () => {
  const map = { x: 10, y: 0, half: 20 };
  const inside = { west: 0, south: -5, east: 12, north: 5 };
  assert.deepEqual(within(inside, map), inside);
  assert.deepEqual(within({ west: -60, south: -30, east: 80, north: 3 }, map), { west: -10, south: -20, east: 30, north: 3 });
});

test('joints are drawn where things are, each kind its own way, and not behind walls', () => {
  const camera = new Camera();
  camera.resize(800, 600, 1);
  const places = new Map([[1, { x: 2, y: 0, angle: Math.PI / 2 }], [2, { x: 5, y: 0, angle: 0 }]]);
  const sight = { objects: new Map([...places.keys()].map((id) => [id, { kind: 'crate', hx: 1, hy: 1, round: false }])), at: (id) => places.get(id) ?? null };
  /** The lines that one joint is drawn by, in metres, without their dark rims. */
  const lines = (joint, shows = () => true) => {
    const strokes = [];
    let path = [];
    const ctx = { beginPath: () => (path = []), lineTo: (x, y) => path.push([x, y]), stroke: () => strokes.push(path) };
    drawJoints(ctx, camera, { sight, joints: [{ a: null, b: 1, along: 0, ax: 0, ay: 0, bx: 1, by: 0, ...joint }] }, 0, shows);
    return strokes.filter((_, n) => n % 2 === 1);
  };
  const length = ([[x, y], [u, v]]) => Math.hypot(u - x, v - y) / camera.scale;
  const [dot] = lines({ kind: 'hinge' });
  // Its thing is turned by a quarter, so the end is north of the middle.
  assert.ok(Math.abs(dot[0][0] - camera.sx(2)) < 1 && dot[0][1] < camera.sy(1), String(dot));
  assert.equal(lines({ kind: 'weld' }).length, 2);
  assert.ok(length(lines({ kind: 'rod', a: 2, ax: 0, bx: 0 })[0]) > 2.9);
  assert.equal(lines({ kind: 'slider' }).map(length)[0].toFixed(3), '2.000');
  assert.deepEqual(lines({ kind: 'hinge', b: 9 }), [], 'out of sight');
  assert.deepEqual(lines({ kind: 'hinge' }, () => false), [], 'behind a wall');
});

test('the tops of a thing of several parts are drawn after all of its sides', () => {
  /** What was filled, in its order. @type {string[]} */
  const fills = [];
  const ctx = new Proxy({ fillStyle: '' }, {
    get: (own, key) => (key === 'fillStyle' ? own.fillStyle : key === 'fill' ? () => fills.push(own.fillStyle) : () => {}),
  });
  const square = (/** @type {number} */ x) => [[x - 1, -1], [x + 1, -1], [x + 1, 1], [x - 1, 1]];
  const thing = { kind: 'tool', hx: 3, hy: 1, corners: [square(-2), square(2)], look: { color: 0x8a5a33 }, id: 3 };
  const sitting = { ctx, s: 10, angle: 0, palette: DAY, now: 0, calm: true };
  kindOf(thing).paint({ ...sitting, thing });
  const top = tone(0x8a5a33, 1.06, DAY);
  assert.deepEqual(fills.map((fill) => fill === top), [false, true, false, true, true, true]);
  fills.length = 0;
  kindOf(thing).paint({ ...sitting, thing: { ...thing, corners: [square(0)] } });
  assert.deepEqual(fills.map((fill) => fill === top), [false, true]);
});
