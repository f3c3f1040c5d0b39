// @ts-check
/** From a key of one person to the picture of another. */

import { Tab } from '../harness/tab.mjs';
import { quantile } from './figure.mjs';

const TRIALS = 30;

/** Metres by which somebody moves visibly: about one pixel. */
const VISIBLE = 0.02;

/** Watches somebody in each frame; says when the first move was drawn, by the clock of the machine. */
const WATCH = (/** @type {any} */ page, /** @type {[number, number]} */ [id, far]) => {
  const from = { ...page.client.sight.at(id, performance.now()) };
  page.movedAt = null;
  const look = (/** @type {number} */ now) => {
    const at = page.client.sight.at(id, now);
    if (at && Math.hypot(at.x - from.x, at.y - from.y) > far) page.movedAt = performance.timeOrigin + performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
};

const STANDS = (/** @type {any} */ page, /** @type {number} */ id) => {
  const at = page.client.sight.at(id, performance.now());
  const before = page.stoodAt;
  const still = before && at && before.x === at.x && before.y === at.y;
  page.stoodAt = at && { x: at.x, y: at.y };
  page.stills = still ? (page.stills ?? 0) + 1 : 0;
  return page.stills >= 5;
};

/** @param {import('./figure.mjs').Place} place @returns {Promise<import('./figure.mjs').Figure[]>} */
export async function others({ plaza, browser }) {
  const ada = await Tab.open(browser, plaza.address(0), { name: 'Ada' });
  const bob = await Tab.open(browser, plaza.address(1), { name: 'Bob' });
  const id = /** @type {number} */ (await ada.read((page) => page.client.me));
  await bob.thing('Ada');
  const times = [];
  for (let trial = 0; trial < TRIALS; trial += 1) {
    const key = trial % 2 === 0 ? 'KeyW' : 'KeyS';
    await bob.until('Ada stands', STANDS, id);
    await bob.read(WATCH, /** @type {[number, number]} */ ([id, VISIBLE]));
    const pressed = await ada.read((page, code) => {
      const at = performance.timeOrigin + performance.now();
      page.canvas.dispatchEvent(new KeyboardEvent('keydown', { code, bubbles: true }));
      return at;
    }, key);
    const moved = await bob.until('Ada moves', (page) => page.movedAt);
    times.push((await bob.read((page) => page.movedAt)) - pressed);
    await ada.read((page, code) => page.canvas.dispatchEvent(new KeyboardEvent('keyup', { code, bubbles: true })), key);
    void moved;
  }
  await ada.close();
  await bob.close();
  return [
    { figure: 'key to the picture of another, p50', value: Math.round(quantile(times, 0.5)), unit: 'ms', at_most: 150 },
    { figure: 'key to the picture of another, p95', value: Math.round(quantile(times, 0.95)), unit: 'ms' },
  ];
}
