// @ts-check
/** In a sim whose bodies no tab moves, somebody tries a script among what is in sight. */

import assert from 'node:assert/strict';

import { setting } from '../harness/journey.mjs';
import { pasted } from '../harness/source.mjs';
import { t } from '../harness/tab.mjs';

const journey = setting({ servers: 1, template: 'meadow', place: (text) => `tier = "advanced"\n${text}` });

const SOURCE = `fn on_start() { log("it begins"); }
fn on_touch(other) { say("hello " + other.name); self_.color = 0x112233; }
`;

journey('on the advanced tier a script is tried among what is in sight, and that it is so is said', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada' });
  // Where people arrive nothing is built. To the north a shepherd stands in the way of who comes straight at it.
  const own = /** @type {number} */ (await ada.read((page) => page.client.me));
  await ada.page.keyboard.down('s');
  await ada.until('she is out of the way', (page, id) => page.client.sight.known(id)?.y < -8, own);
  await ada.page.keyboard.up('s');
  await ada.until('she stands', (page, id) => page.client.sight.known(id)?.vy === 0, own);
  await ada.panel('build');
  await ada.page.getByRole('button', { name: t('kind.box'), exact: true }).click();
  await ada.page.keyboard.press('Enter');
  const id = /** @type {number} */ (await ada.until('her box is there', (page) =>
    [...page.client.sight.objects.values()].find((thing) => thing.kind === 'block' && thing.owner === page.identity.public)?.id));
  await ada.page.keyboard.press('Escape');
  const name = await ada.read((page, which) => {
    page.select(which);
    return page.client.sight.objects.get(which).name;
  }, id);
  await ada.page.getByRole('region', { name, exact: true }).getByRole('button', { name: t('panel.script'), exact: true }).click();
  const panel = ada.page.getByRole('region', { name: t('panel.script'), exact: true });
  const source = panel.getByRole('textbox', { name: t('editor'), exact: true });
  await pasted(source, SOURCE);
  await panel.getByText(t('script.good'), { exact: true }).waitFor();

  const began = Date.now();
  await panel.getByRole('button', { name: t('try'), exact: true }).click();

  const card = panel.getByRole('region', { name: t('try.title'), exact: true });
  await card.getByText(t('try.sketched'), { exact: true }).waitFor();
  await card.getByText(t('try.logged', { text: 'it begins' }), { exact: true }).waitFor();
  await card.getByText(/^Time stands still/).waitFor();
  process.stdout.write(`# a try in a sketch: ${Date.now() - began} ms\n`);
  await card.getByRole('button', { name: t('try.touch'), exact: true }).click();
  await card.getByText(t('try.said', { name, text: `hello ${ada.name}` }), { exact: true }).waitFor();
  await ada.picture('sketch');
  assert.notEqual(await ada.read((page, which) => page.client.sight.objects.get(which).look.color, id), 0x112233);
  await card.getByRole('button', { name: t('try.end'), exact: true }).click();
  await card.waitFor({ state: 'hidden' });
  assert.equal(await ada.read((page) => page.client.replica.on), false, 'no replica is left on');
});
