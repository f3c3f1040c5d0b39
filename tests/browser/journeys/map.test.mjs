// @ts-check
/** The map of a world of two sims: who holds what, and the way from one to the other. */

import assert from 'node:assert/strict';

import { setting } from '../harness/journey.mjs';
import { t } from '../harness/tab.mjs';

const journey = setting({ servers: 1, grid: '2x1' });

journey('the map shows both sims, and one goes to the other with the same key', async ({ plaza, open }) => {
  const [office, east] = plaza.sims;
  const ada = await open(office.http, { name: 'Ada' });
  const key = await ada.read((page) => page.identity.public);
  const { page } = ada;
  const bob = await open(office.http, { name: 'Bob' });
  const people = await bob.panel('people');
  await people.getByText('Ada', { exact: true }).waitFor();
  await page.getByRole('button', { name: t('panel.map') }).click();
  await page.locator('.sites li').nth(1).waitFor();
  // All on this machine are in one network.
  await page.getByText(t('map.door')).waitFor();
  assert.equal(await page.locator('.map-site.here').count(), 1);
  await ada.picture('map');

  // The other sim is on the map once its server was heard of.
  const there = page.locator('.sites li', { hasNot: page.getByText(t('servers.here')) });
  await there.getByRole('button').click();
  await page.waitForURL(`**/w/${east.sim}`);
  // She left: by the lease of her avatar alone she would stand there for 40 seconds.
  await people.getByText('Ada', { exact: true }).waitFor({ state: 'detached', timeout: 15_000 });
  await ada.here();
  assert.equal(await ada.read((page) => page.client.status.sim), east.sim);
  assert.equal(await ada.read((page) => page.identity.public), key);
  // The badge tells of the new sim: of its height, by its one member.
  await ada.badge('green');
  const told = await ada.read((page) => [page.client.proof.signed, page.client.proof.members, page.client.genesis.introduction.world]);
  assert.deepEqual(told, [1, 1, office.sim]);
});
