// @ts-check
/** A place with rooms, and with rules that people agree to. */

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { setting } from '../harness/journey.mjs';
import { t } from '../harness/tab.mjs';

const RULES = 'Wipe your feet.';

const journey = setting({
  servers: 1,
  template: 'house',
  place: (text) => text.replace('spawn = [0, -15]', `house_rules = "${RULES}"\nspawn = [0, -15]`),
});

/** Agrees to the rules, and waits for the avatar. @param {import('../harness/tab.mjs').Tab} tab */
async function agree(tab) {
  const { page } = tab;
  await page.getByRole('textbox', { name: t('enter.name') }).first().fill(tab.name);
  await page.getByText('A house with four rooms').first().waitFor();
  await page.getByRole('button', { name: t('enter.go'), exact: true }).click();
  await page.getByText(RULES).waitFor();
  await page.getByRole('button', { name: t('rules.agree'), exact: true }).click();
  await tab.here();
}

journey('who does not agree to the house rules only looks, and who agreed is not asked again', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada', outside: true });
  const { page } = ada;
  await page.getByRole('textbox', { name: t('enter.name') }).first().fill(ada.name);
  await page.getByRole('button', { name: t('enter.go'), exact: true }).click();
  await page.getByText(RULES).waitFor();
  await ada.picture('house-rules');
  await page.getByRole('button', { name: t('rules.look'), exact: true }).click();
  await page.getByText(t('rules.looking')).waitFor();
  assert.equal(await ada.read((own) => own.client.me), null);

  await page.reload();
  await page.getByRole('button', { name: t('rules.agree'), exact: true }).click();
  await ada.here();
  await page.reload();
  await ada.here();
});

journey('whoever agreed is asked again once an admin has other words agreed to', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada', outside: true });
  await agree(ada);
  const [words, admin] = [join(plaza.folder, 'words.txt'), join(plaza.folder, 'world', 'admin.key')];
  const order = async (/** @type {string} */ text) => {
    await writeFile(words, `${text}\n`);
    await plaza.run('admin', 'house-rules', words, '--key', admin, '--node', plaza.servers[0].http);
  };
  await order('Shut the door.');
  const { page } = ada;
  await page.reload();
  await page.getByText('Shut the door.').waitFor();
  await ada.picture('house-rules-changed');
  await page.getByRole('button', { name: t('rules.agree'), exact: true }).click();
  await ada.here();
  await order(RULES);
});

journey('from outside one sees no room, and inside the room that one is in', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada', outside: true });
  await agree(ada);
  const shows = (/** @type {number[][]} */ points) =>
    ada.read((page, spots) => spots.map(([x, y]) => page.renderer.rooms.shows({ x, y })), points);
  // The front door is shut.
  await ada.until('the house is in sight', (page) => page.renderer.rooms.pieces !== null);
  assert.deepEqual(await shows([[-6, -15], [0, 0], [-6, -5]]), [true, false, false]);
  await ada.picture('rooms-outside');

  const door = await ada.thing('front door');
  await ada.walkTo(door.id);
  // From the side of a doorway the jamb hides the middle of the hall.
  await ada.read((page) => page.input.walkToPlace({ x: 0, y: -10.7 }));
  await ada.until('she stands before the door', (page) => page.input.goal === null);
  await ada.read((page, id) => page.touch(id), door.id);
  await ada.until('the open door shows the hall', (page) => page.renderer.rooms.shows({ x: 0, y: -5 }));
  await ada.page.keyboard.down('w');
  await ada.until('the page says the room', (page) => page.place.textContent.endsWith('hall'));
  await ada.until('the hall is around', (page) => page.client.sight.at(page.client.me, performance.now()).y > -7);
  await ada.page.keyboard.up('w');
  assert.deepEqual(await shows([[2, 8], [-8, -8], [8, 8]]), [true, false, false]);
  await ada.picture('rooms-inside');
});
