// @ts-check
/** Walking over a border to and fro with a lantern: how smooth it is for who walks, and for who looks on. */

import { approach, compared, developed, filmBoth, light, over, SIDE_BY_SIDE, stand } from '../harness/border.mjs';
import { Plaza } from '../harness/plaza.mjs';
import { Tab } from '../harness/tab.mjs';
import { quantile, thousandth } from './figure.mjs';

/** Half of them to the east. */
const CROSSINGS = 24;

/** What all crossings show together. @param {Tab} walker @param {Tab} onlooker @param {{sim: string}[]} sims */
async function filmed(walker, onlooker, [west, east]) {
  const [jumps, errors] = [/** @type {number[]} */ ([]), /** @type {number[]} */ ([])];
  const sum = { frames: 0, missing: 0, dark: 0, seen: 0, nowhere: 0, twice: 0 };
  for (let n = 0; n < CROSSINGS; n += 1) {
    const [key, to] = n % 2 === 0 ? ['d', east] : ['a', west];
    await over(walker, key, to.sim);
    const own = await developed(walker);
    const others = compared(own.all, /** @type {any[]} */ (await onlooker.read((page) => page.film.splice(0))));
    // Who never arrived in a frame was not seen to arrive.
    jumps.push(own.off ?? Infinity);
    errors.push(...others.found);
    sum.frames += own.frames;
    sum.missing += own.missing;
    sum.dark += own.dark;
    sum.seen += others.frames;
    sum.nowhere += others.nowhere;
    sum.twice += others.twice;
  }
  return { jumps, errors, sum };
}

/** In a world of its own. @param {{browser: import('playwright-core').Browser}} place @returns {Promise<import('./figure.mjs').Figure[]>} */
export async function crossing({ browser }) {
  const world = await Plaza.start(SIDE_BY_SIDE);
  try {
    const [walker, onlooker] = [await Tab.open(browser, world.sims[0].http, { name: 'Walker' }), await Tab.open(browser, world.sims[0].http, { name: 'Onlooker' })];
    await stand(onlooker);
    if (!(await light(walker))) throw new Error('the walker has no lantern');
    await approach(walker);
    await filmBoth(walker, onlooker);
    await walker.read((page) => page.film.splice(0));
    await onlooker.read((page) => page.film.splice(0));
    const { jumps, errors, sum } = await filmed(walker, onlooker, world.sims);
    await walker.close();
    await onlooker.close();
    const none = (/** @type {string} */ figure, /** @type {number} */ value) => ({ figure, value, unit: 'frames', at_most: 0 });
    const metres = (/** @type {string} */ figure, /** @type {number} */ value, /** @type {number} */ at_most) => ({ figure, value: thousandth(value), unit: 'm', at_most, strict: true });
    return [
      { figure: 'crossings of a border', value: jumps.length, unit: 'times' },
      { figure: 'frames of who crosses', value: sum.frames, unit: 'frames' },
      none('of them without the own avatar', sum.missing),
      none('of them without what is in hand', sum.dark),
      metres('jump of the own avatar on arrival, p50', quantile(jumps, 0.5), 0.15),
      metres('jump of the own avatar on arrival, p95', quantile(jumps, 0.95), 0.5),
      { figure: 'frames of who looks on', value: sum.seen, unit: 'frames' },
      none('of them without who crosses', sum.nowhere),
      none('of them with two of who crosses', sum.twice),
      metres('error of who crosses as others see her, p95', quantile(errors, 0.95), 0.5),
    ];
  } finally {
    await world.stop();
  }
}
