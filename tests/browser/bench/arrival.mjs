// @ts-check
/** From the address to a first picture, and to walking. */

import { Tab } from '../harness/tab.mjs';
import { quantile } from './figure.mjs';

const VISITS = 7;

/** Metres that are walking. */
const STEP = 0.05;

/** Somebody who has been here before, with an empty cache: says nothing, and walks as soon as there is an avatar. */
const VISITOR = (/** @type {number} */ step) => {
  localStorage.setItem('metatopia.person', JSON.stringify({ name: 'Visitor', look: { color: 0x3fae6a, shape: 'round' } }));
  const seen = /** @type {Record<string, number | null>} */ ({ world: null, walking: null });
  /** @type {any} */ (globalThis).seenByVisitor = seen;
  let from = /** @type {{x: number, y: number} | null} */ (null);
  const look = () => {
    const { client } = /** @type {any} */ (globalThis).pageUnderTest ?? {};
    if (client && client.sight.objects.size > 0) seen.world ??= performance.now();
    if (client && client.me !== null) {
      const at = client.sight.at(client.me, performance.now());
      if (at && !from) {
        from = { x: at.x, y: at.y };
        document.body.dispatchEvent(new KeyboardEvent('keydown', { code: 'KeyD', bubbles: true }));
      }
      if (at && from && Math.hypot(at.x - from.x, at.y - from.y) > step) {
        seen.walking ??= performance.now();
        return;
      }
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
};

/** @param {import('./figure.mjs').Place} place @returns {Promise<import('./figure.mjs').Figure[]>} */
export async function arrival({ plaza, browser }) {
  const [first, world, walking] = /** @type {number[][]} */ ([[], [], []]);
  for (let visit = 0; visit < VISITS; visit += 1) {
    const tab = await Tab.open(browser, 'about:blank', { outside: true, name: 'Visitor' });
    await tab.page.addInitScript(VISITOR, STEP);
    await tab.page.goto(plaza.address(visit % plaza.servers.length));
    await tab.until('the visitor walks', () => /** @type {any} */ (globalThis).seenByVisitor.walking !== null);
    const seen = await tab.page.evaluate(() => ({
      ...(/** @type {any} */ (globalThis).seenByVisitor),
      paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null,
    }));
    first.push(seen.paint);
    world.push(seen.world);
    walking.push(seen.walking);
    await tab.close();
  }
  const median = (/** @type {number[]} */ sample) => Math.round(quantile(sample, 0.5));
  return [
    { figure: 'open to first frame, p50', value: median(first), unit: 'ms', at_most: 1_000 },
    { figure: 'open to the world in sight, p50', value: median(world), unit: 'ms' },
    { figure: 'open to walking, p50', value: median(walking), unit: 'ms', at_most: 3_000 },
    { figure: 'open to walking, slowest', value: Math.round(Math.max(...walking)), unit: 'ms' },
  ];
}
