// @ts-check
/** Walking from one sim into another: the page goes where the avatar is, and nobody is in two places. */

import assert from 'node:assert/strict';

import { setting } from '../harness/journey.mjs';

const journey = setting({ servers: 1, grid: '2x1' });

/** Milliseconds for the way from the middle of a square to its edge, 128 m at the pace of avatars, and a rest. */
const WAY = 90_000;

journey('Ada walks over the border to the east, and is in the other sim alone', async ({ plaza, open }) => {
  const [office, east] = plaza.sims;
  const ada = await open(office.http, { name: 'Ada' });
  const bob = await open(office.http, { name: 'Bob' });
  const key = await ada.read((page) => page.identity.public);
  await ada.page.keyboard.down('d');
  await ada.until('she comes near the border', (page) => page.client.sight.at(page.client.me, performance.now()).x > 112, undefined, WAY);
  await ada.page.getByText('m to the east: sim-1-0').waitFor();
  await ada.picture('border');
  await ada.page.waitForURL(`**/w/${east.sim}**`, { timeout: WAY });
  await ada.page.keyboard.up('d');
  await ada.here();
  assert.equal(await ada.read((page) => page.client.status.sim), east.sim);
  assert.equal(await ada.read((page) => page.identity.public), key);
  // She stands at the western edge of that square, not where newcomers appear.
  const at = await ada.read((page) => ({ ...page.client.sight.at(page.client.me, performance.now()) }));
  assert.ok(at.x < -60, `she is at ${at.x}`);
  await bob.until('she is gone from the first sim', async (page) => (await page.client.players()).length === 1);
  await ada.picture('crossed');
});
