// @ts-check
/** What the program can do for a person, and the page as well: keys, lots, the way home, and orders about the sim. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { setting } from '../harness/journey.mjs';
import { t } from '../harness/tab.mjs';

const journey = setting({ servers: 1 });

/** The public key of a tab. @param {import('../harness/tab.mjs').Tab} tab */
const keyOf = (tab) => tab.read((page) => page.identity.public);

/** Opens a part of the panel of settings. @param {import('../harness/tab.mjs').Tab} tab @param {string} title */
async function part(tab, title) {
  const settings = await tab.panel('settings');
  await settings.locator('summary', { hasText: t(title) }).click();
  return settings.locator('details', { hasText: t(title) });
}

/** Orders something about the sim in the dialog, which says first what it would do. */
async function orders(/** @type {import('../harness/tab.mjs').Tab} */ tab, /** @type {string} */ verb, /** @type {Record<string, string>} */ fields, /** @type {RegExp} */ would) {
  const governance = await tab.panel('governance');
  await governance.getByRole('button', { name: t(`govern.${verb}`), exact: true }).click();
  const dialog = tab.page.getByRole('dialog');
  for (const [label, value] of Object.entries(fields)) await dialog.getByLabel(t(label)).first().fill(value);
  await dialog.getByRole('button', { name: t('would.show') }).click();
  await dialog.getByText(would).waitFor();
  await tab.picture(`govern-${verb}`);
  await dialog.getByRole('button', { name: t('moderate.do') }).click();
  await tab.page.getByText(t('moderate.done')).last().waitFor();
}

journey('an admin pastes the key of a file, gives a right for an area, sets a land and changes a value', async ({ plaza, open }) => {
  const bob = await open(plaza.address(0), { name: 'Bob' });
  const ada = await open(plaza.address(0), { name: 'Ada', outside: true });
  // The file of the program, comments and all.
  const file = await readFile(join(plaza.folder, 'world', 'admin.key'), 'utf8');
  const before = await ada.until('the page is made', (page) => page.identity.public);
  await ada.page.locator('summary', { hasText: t('enter.have') }).click();
  await ada.page.getByLabel(t('settings.key.paste')).fill(file);
  await ada.page.getByRole('button', { name: t('settings.key.use') }).click();
  await ada.until('another key is there', (page, was) => page.identity.public !== was, before);
  await ada.enter();

  await orders(ada, 'grant', { 'govern.key': await keyOf(bob), 'govern.area': '4 -20 16 8' }, /It would give build on 16 m x 8 m at 4, -20 to Bob/);
  await orders(ada, 'land_set', { 'govern.name': 'market', 'govern.area': '-30 -30 4 4', 'govern.title': 'open' }, /It would make 4 m x 4 m at -30, -30 the land market/);
  await orders(ada, 'set', { 'govern.text': 'Harbour' }, /It would change name from .* to Harbour, for all of/);
  await orders(ada, 'flag', { 'govern.switch': 'night_market', 'govern.from': '' }, /It would .*night_market/);
  await ada.read((page) => page.dock.close());
  const governance = await ada.panel('governance');
  await governance.getByText(t('did.land-set')).waitFor();
  await governance.getByText('16 m x 8 m at 4, -20').first().waitFor();
  await governance.locator('h3', { hasText: t('govern.roles') }).scrollIntoViewIfNeeded();
  await ada.picture('governance');
});

journey('who gives a key up is the same person by the new one, and a sealed copy opens again', async ({ plaza, open }) => {
  const eve = await open(plaza.address(0), { name: 'Eve' });
  const old = await keyOf(eve);
  const box = await part(eve, 'key.rotate');
  await eve.picture('keys');
  await box.getByRole('button', { name: t('key.rotate.do') }).click();
  await eve.until('a new key is in the world', (page, was) => page.identity.public !== was && page.client.me !== null, old);
  const [key, person] = await eve.read(async (page) => [page.identity.public, await page.client.person()]);
  assert.equal(person.name, 'Eve', 'the name went with all the rest');
  const before = await eve.read((page, was) => page.client.person(was), old);
  assert.equal(before.here, false, 'the old key is nobody');

  const sealed = await part(eve, 'key.seal');
  for (const label of ['key.passphrase', 'key.passphrase.again']) await sealed.getByLabel(t(label), { exact: true }).fill('correct horse');
  const saved = eve.page.waitForEvent('download');
  const began = Date.now();
  await sealed.getByRole('button', { name: t('key.seal.do') }).click();
  const file = await (await saved).path();
  console.log(`sealed in ${Date.now() - began} ms`);
  const text = await readFile(file, 'utf8');
  assert.match(text, /^metatopia-rotation-1 /m);

  const other = await open(plaza.address(0), { name: 'Fay' });
  const paste = await part(other, 'settings.key.import');
  await paste.getByLabel(t('settings.key.paste')).fill(text);
  await paste.getByLabel(t('key.passphrase.sealed')).fill('wrong horse');
  await paste.getByRole('button', { name: t('settings.key.use') }).click();
  await paste.getByText(t('no.wrong-passphrase'), { exact: false }).waitFor();
  await paste.getByLabel(t('key.passphrase.sealed')).fill('correct horse');
  await paste.getByRole('button', { name: t('settings.key.use') }).click();
  await other.until('it is the same person', (page, wanted) => page.identity.public === wanted && page.identity.rotation !== null, key);
});

journey('a person names friends, takes ground, names it, and goes home', async ({ plaza, open }) => {
  const bob = await open(plaza.address(0), { name: 'Gus' });
  const ada = await open(plaza.address(0), { name: 'Ida' });
  const box = await part(ada, 'key.friends');
  await box.getByLabel('Gus').check();
  await box.getByLabel(t('key.friends.need')).fill('1');
  await box.getByRole('button', { name: t('key.friends.do') }).click();
  await ada.page.getByText(t('key.friends.done')).waitFor();
  const lines = await ada.read((page) => page.client.friends());
  assert.match(lines.lines.join(), /by: Gus/);

  const from = await ada.at(await ada.read((page) => page.client.me));
  const claimed = await ada.until('ground is taken where there is room', async (page) => {
    const at = page.client.sight.at(page.client.me, performance.now());
    page.walk(1, 0.3);
    return Math.hypot(at.x, at.y) > 12 && (await page.client.claimLot(at.x, at.y, 4)).ok;
  });
  assert.ok(claimed && from);
  await ada.read((page) => page.walk(0, 0));
  const panel = await ada.panel('build');
  await panel.locator('summary', { hasText: t('lot.orders') }).click();
  await panel.getByLabel(t('lot.name')).fill('garden');
  await panel.getByRole('button', { name: t('moderate.do') }).click();
  await ada.until('the lot has its name', (page) => page.client.lots.some((lot) => lot.own && lot.name === 'garden'));
  await ada.picture('lot');

  await ada.page.getByRole('button', { name: t('act.home') }).click();
  await ada.until('she is where people arrive', (page) => {
    const at = page.client.sight.at(page.client.me, performance.now());
    const { spawn } = page.client.genesis.avatar;
    return Math.hypot(at.x - spawn.x, at.y - spawn.y) < 8;
  });
  await ada.picture('home');
  assert.ok(bob.name);
});
