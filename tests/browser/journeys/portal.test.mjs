// @ts-check
/** Walking through a portal into a sim whose ground lies elsewhere, and back. */

import assert from 'node:assert/strict';
import { join } from 'node:path';

import { setting } from '../harness/journey.mjs';

const journey = setting({
  servers: 1, grid: '3x1', template: 'meadow',
  place: (text) => text.replace('spawn_radius = 4', 'spawn_radius = 1'),
});

/** Milliseconds for a walk of some metres, and the words of two sims. */
const WAY = 30_000;

/** Where the portal is in each sim, in metres from its middle. */
const ENDS = [['9', '0'], ['-14', '6']];

/** Opens the border of one sim to the other, with a portal at a place. @param {import('../harness/plaza.mjs').Plaza} plaza @param {number} from @param {number} to @param {string[]} at */
function opens(plaza, from, to, at) {
  const key = join(plaza.folder, 'world', `sim-${from}-0`, 'admin.key');
  return plaza.run('border', 'open', plaza.sims[to].sim, '--at', plaza.sims[to].http, '--portal', ...at, '--node', plaza.sims[from].http, '--key', key);
}

journey('Ada walks through a portal to the sim at the far end of the world, and back', async ({ plaza, open }) => {
  const [near, , far] = plaza.sims;
  const ada = await open(near.http, { name: 'Ada' });
  await opens(plaza, 0, 2, ENDS[0]);
  await ada.until('a portal is in sight, closed', (page) => page.picture.portals.length === 1 && !page.picture.portals[0].open, undefined, WAY);
  await ada.picture('portal-closed');
  await opens(plaza, 2, 0, ENDS[1]);
  await ada.until('it is open', (page) => page.picture.portals.some((/** @type {any} */ { open }) => open), undefined, WAY);
  await ada.page.getByText('a portal to sim-2-0').waitFor();
  await ada.picture('portal-open');

  for (const [sim, end, name] of /** @type {[string, string[], string][]} */ ([[far.sim, ENDS[0], 'over'], [near.sim, ENDS[1], 'back']])) {
    // She walks to where the portal is on this side, as by a click.
    await ada.read((page, at) => page.input.walkToPlace(at), { x: Number(end[0]), y: Number(end[1]) });
    await ada.until(`she is in ${sim}`, (page, wanted) => page.client.sim === wanted, sim, WAY);
    await ada.until('she is shown there', (page) => page.client.me !== null && page.client.sight.at(page.client.me, performance.now()) !== null, undefined, WAY);
    const other = end === ENDS[0] ? ENDS[1] : ENDS[0];
    const out = await ada.read((page, at) => {
      const here = page.client.sight.at(page.client.me, performance.now());
      return Math.hypot(here.x - at.x, here.y - at.y);
    }, { x: Number(other[0]), y: Number(other[1]) });
    assert.ok(out > 1 && out < 8, `${out} m from the other end`);
    assert.equal(await ada.read((page) => page.input.goal), null, 'she walks to nothing that is on the other side');
    await ada.until('the portal is drawn here too', (page, at) => page.picture.portals.length === 1 && page.picture.portals[0].portal.x === at, Number(other[0]), WAY);
    await ada.page.getByText(`a portal to ${sim === far.sim ? 'land office' : 'sim-2-0'}`).waitFor();
    await ada.picture(`portal-${name}`);
    assert.ok(ada.page.url().includes(`/w/${sim}`) || sim === near.sim, 'the address is that of the sim where she is');
    assert.equal(await ada.read((page) => [...page.picture.sight.objects.keys()].some((id) => id < 0)), false, 'nothing beyond is drawn');
  }
});
