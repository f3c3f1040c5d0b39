// @ts-check
/** A full square: a thousand things and fifty people who walk, all of them in view. */

import { Tab } from '../harness/tab.mjs';
import { quantile, tenth } from './figure.mjs';

const THINGS = 1_000;
const PEOPLE = 50;
const FRAMES = 240;

/** Draws the square in so many frames with the page's own renderer; gives times in milliseconds. */
const DRAW = async (/** @type {any} */ page, /** @type {[number, number, number]} */ [things, people, frames]) => {
  const objects = new Map();
  const places = new Map();
  const kinds = ['crate', 'block', 'pillar', 'ball', 'sign', 'plate'];
  for (let id = 1; id <= things + people; id += 1) {
    const person = id > things;
    const round = person || id % 3 === 0;
    const size = person ? 0.35 : 0.2 + (id % 4) * 0.08;
    objects.set(id, {
      id, kind: person ? 'avatar' : kinds[id % kinds.length], name: person ? `Person ${id}` : 'thing', owner: null,
      player: person ? String(id).padStart(64, '0') : null, look: { color: (id * 2_654_435_761) & 0xffffff, shape: ['round', 'square', 'arrow', 'star'][id % 4] },
      text: '', scripts: [], round, hx: size, hy: size, motion: person ? 'dynamic' : 'static', movable: false, gesture: null, far: false,
    });
    places.set(id, { x: ((id * 7.31) % 56) - 28, y: ((id * 3.77) % 34) - 17, turn: id });
  }
  const sight = {
    objects,
    at: (/** @type {number} */ id, /** @type {number} */ now) => {
      const place = places.get(id);
      if (id <= things) return { x: place.x, y: place.y, angle: place.turn % 6, vx: 0, vy: 0 };
      const turn = now / 1_000 + place.turn;
      return { x: place.x + Math.cos(turn), y: place.y + Math.sin(turn), angle: turn, vx: -Math.sin(turn), vy: Math.cos(turn) };
    },
  };
  const { camera } = page.renderer;
  const held = camera.zoom;
  camera.zoom = camera.goal = 21;
  const picture = { ...page.picture, sight, me: null, look: { x: 0, y: 0 } };
  page.drawing = false;
  const original = page.renderer.draw.bind(page.renderer);
  const drawn = /** @type {number[]} */ ([]);
  const apart = /** @type {number[]} */ ([]);
  let last = 0;
  // The page goes on drawing in its own loop; each of its frames is one of the square instead.
  page.renderer.draw = (/** @type {unknown} */ _picture, /** @type {number} */ now) => {
    const began = performance.now();
    original(picture, now);
    drawn.push(performance.now() - began);
    if (last) apart.push(began - last);
    last = began;
  };
  await new Promise((resolve) => {
    const look = () => (drawn.length >= frames ? resolve(null) : requestAnimationFrame(look));
    look();
  });
  const shown = page.renderer.placed.length;
  delete page.renderer.draw;
  camera.zoom = camera.goal = held;
  return { drawn, apart, shown };
};

/** @param {import('./figure.mjs').Place} place @returns {Promise<import('./figure.mjs').Figure[]>} */
export async function drawing({ plaza, browser }) {
  const tab = await Tab.open(browser, plaza.address(0), { name: 'Painter' });
  const { drawn, apart, shown } = await tab.read(DRAW, /** @type {[number, number, number]} */ ([THINGS, PEOPLE, FRAMES]));
  await tab.close();
  return [
    { figure: 'things and people in the frames', value: shown, unit: 'objects', at_least: THINGS + PEOPLE },
    { figure: 'work of one frame, p50', value: tenth(quantile(drawn, 0.5)), unit: 'ms' },
    { figure: 'work of one frame, p95', value: tenth(quantile(drawn, 0.95)), unit: 'ms' },
    { figure: 'frame to frame in software, p95', value: tenth(quantile(apart, 0.95)), unit: 'ms' },
  ];
}
