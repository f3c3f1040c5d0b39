// @ts-check
/** Walking from one sim into another and back, with something in hand: nobody is in two places, and nobody is missing from a frame. */

import assert from 'node:assert/strict';

import { approach, compared, developed, filmBoth, light, over, SIDE_BY_SIDE, stand } from '../harness/border.mjs';
import { setting } from '../harness/journey.mjs';

const journey = setting(SIDE_BY_SIDE);

/** Metres before the line at which what is behind it must be proved. */
const PROVED_BEFORE = 20;
/** Metres that the avatar may be off where it was drawn when it arrives, in the middle one of the crossings. What it is off
 *  shrinks softly; a machine that does other work as well tells turns late, and then it is more. */
const OFF_MAX = 0.5;
/** Metres that others may see her beside where she sees herself, in 95 of 100 frames of the middle one of the crossings, but for the
 *  time by which views come later. */
const OTHERS_MAX = 0.5;

journey('Ada walks over the border to the east and back, with a lantern, and notices nothing', async ({ plaza, open }) => {
  const [office, east] = plaza.sims;
  const ada = await open(office.http, { name: 'Ada' });
  const bob = await open(office.http, { name: 'Bob' });
  const key = await ada.read((page) => page.identity.public);
  await stand(bob);
  assert.ok(await light(ada), 'she has it in hand');
  await approach(ada);
  const before = await developed(ada);
  await ada.picture('border-before');
  console.log(`proved ${before.gap?.toFixed(1)} m before the line, of ${before.frames} frames ${before.missing} without the avatar`);
  assert.ok(before.gap > PROVED_BEFORE, `proved ${before.gap} m before the line`);
  assert.equal(before.missing, 0);
  await filmBoth(ada, bob);

  const [ways, views] = [/** @type {any[]} */ ([]), /** @type {any[]} */ ([])];
  for (const [way, sim, name] of [['d', east.sim, 'over'], ['a', office.sim, 'back'], ['d', east.sim, 'again']]) {
    await over(ada, way, sim);
    const seen = await developed(ada);
    ways.push(seen);
    await ada.picture(`border-${name}`);
    await bob.picture(`border-${name}-others`);
    const others = compared(seen.all, /** @type {any[]} */ (await bob.read((page) => page.film.splice(0))));
    views.push(others);
    console.log(`  seen by another: in ${others.frames} frames ${others.nowhere} times nowhere and ${others.twice} times twice, ${others.p95.toFixed(3)} m off in 95 of 100, ${others.most.toFixed(3)} at most, ${others.later} ms later`);
    console.log(`${name}: ${seen.frames} frames, ${seen.missing} without the avatar, ${seen.dark} without the lantern, ${seen.off?.toFixed(3)} m off on arrival, ${seen.jump.toFixed(3)} m at most between two frames`);
    assert.equal(await ada.read((page) => page.client.status.sim), sim);
  }
  assert.equal(await ada.read((page) => page.identity.public), key);
  for (const { missing, dark } of ways) assert.deepEqual([missing, dark], [0, 0]);
  const off = ways.map((way) => way.off ?? Infinity).sort((a, b) => a - b);
  assert.ok(off[1] < OFF_MAX, `${off} m off on arrival`);
  for (const { nowhere, twice } of views) assert.deepEqual([nowhere, twice], [0, 0]);
  const beside = views.map(({ p95 }) => p95).sort((a, b) => a - b);
  assert.ok(beside[1] < OTHERS_MAX, `others see her ${beside} m off`);
  assert.ok(ada.page.url().includes(`/w/${east.sim}`), 'the address is that of the sim where she is');
  await bob.until('she is gone from the first sim', async (page) => (await page.client.players()).length === 1);
});
