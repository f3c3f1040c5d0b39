// @ts-check
/** People who keep order: rights by a role, somebody muted, and the list of what was ordered. */

import assert from 'node:assert/strict';
import { join } from 'node:path';

import { setting } from '../harness/journey.mjs';
import { t } from '../harness/tab.mjs';

const journey = setting({ servers: 1 });

journey('whom an admin gave the right mutes a pest, who reads why, and all of it is on the list', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada' });
  const bob = await open(plaza.address(0), { name: 'Bob' });
  const people = await ada.panel('people');
  await people.getByText(bob.name, { exact: true }).waitFor();
  assert.equal(await people.getByRole('button', { name: t('moderate.open') }).count(), 0);

  const key = await ada.read((page) => page.identity.public);
  await plaza.run('admin', 'grant', key, 'moderate', '--for', '1h', '--key', join(plaza.folder, 'world', 'admin.key'), '--node', plaza.servers[0].http);
  const row = people.locator('li', { hasText: 'Bob' });
  await row.getByRole('button', { name: t('moderate.open') }).click();
  const dialog = ada.page.getByRole('dialog');
  await dialog.getByLabel(t('moderate.reason')).fill('he sings');
  // It is said what the order would do, and nothing is sent before.
  await dialog.getByRole('button', { name: t('would.show') }).click();
  await dialog.getByText(/It would mute Bob/).waitFor();
  await ada.picture('moderate');
  await dialog.getByRole('button', { name: t('moderate.do') }).click();
  await ada.page.getByText(t('moderate.done')).waitFor();

  await bob.say('la la la');
  await bob.page.getByText(t('no.Muted')).first().waitFor();

  const governance = await ada.panel('governance');
  await governance.getByText('for 10 minutes, he sings').waitFor();
  await governance.getByText(t('did.grant')).first().waitFor();
  await ada.picture('ordered');

  // Whoever may mute ends it as well.
  await governance.getByRole('button', { name: t('moderate.lift') }).first().click();
  await dialog.getByText(/It would end the mute of Bob|It would .*Bob/).waitFor();
  await dialog.getByRole('button', { name: t('moderate.do') }).click();
  await bob.until('a word is heard again', async (page) => (await page.client.say('la')).ok);
});
