// @ts-check
/** Two people meet: one comes over WebTransport, one over WebSocket, at two servers. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { setting } from '../harness/journey.mjs';
import { ROOT } from '../harness/plaza.mjs';
import { t } from '../harness/tab.mjs';

const journey = setting();

/** Metres that a crate must move to have been pushed. */
const PUSHED = 0.25;

/** Two tabs at two servers. @param {import('../harness/journey.mjs').Place} place */
async function two({ plaza, open }) {
  const ada = await open(plaza.address(0), { name: 'Ada' });
  const bob = await open(plaza.address(1, { carrier: 'websocket' }), { name: 'Bob' });
  return { ada, bob };
}

journey('two people meet over two carriers, talk, and see each other', async (place) => {
  const { ada, bob } = await two(place);

  assert.equal(await ada.read((page) => page.client.status.carrier), 'webtransport');
  assert.equal(await bob.read((page) => page.client.status.carrier), 'websocket');
  await ada.thing(bob.name);
  await bob.thing(ada.name);

  await ada.say('good morning, Bob');
  await bob.hears('good morning, Bob');
  await bob.say('good morning, Ada');
  await ada.hears('good morning, Ada');
});

journey('a hat and a head that one puts on are seen by the other, and come off again', async (place) => {
  const { ada, bob } = await two(place);
  const panel = await ada.panel('settings');
  await panel.getByText(t('settings.look')).click();
  const choose = (/** @type {string} */ name) => panel.getByRole('radio', { name: t(name), exact: true }).check({ force: true });
  const wears = (/** @type {string | null} */ hat, /** @type {string} */ head) => bob.until(`Ada wears ${hat} and ${head}`, (page, want) => {
    const seen = [...page.client.sight.objects.values()].find((thing) => thing.player && thing.name === want.name);
    return seen && (seen.look.hat?.shape ?? null) === want.hat && seen.look.head?.shape === want.head;
  }, { name: ada.name, hat, head });

  await choose('part.head');
  await choose('shape.head.fox');
  await choose('part.hat');
  await choose('shape.hat.crown');
  await panel.getByRole('button', { name: t('own.apply') }).click();
  await wears('crown', 'fox');
  await bob.picture('crown');

  await choose('shape.hat.none');
  await panel.getByRole('button', { name: t('own.apply') }).click();
  await wears(null, 'fox');
});

journey('a crate that one pushes slides before the eyes of the other', async (place) => {
  const { ada, bob } = await two(place);
  const crate = await ada.thing('crate');

  await ada.walkTo(crate.id);
  const before = await bob.at(crate.id);
  assert.ok(before, 'Bob sees the crate');
  await ada.page.keyboard.press('f');

  await bob.until('the crate moves', (page, [id, x, y, far]) => {
    const at = page.client.sight.at(id, performance.now());
    return at && Math.hypot(at.x - x, at.y - y) > far;
  }, [crate.id, before.x, before.y, PUSHED]);
});

journey('the source of the door is the file it was made from, and re-hashes', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada' });
  const door = await ada.thing('door');
  const { page } = ada;

  await ada.read((inner, id) => inner.select(id), door.id);
  const panel = page.getByRole('region', { name: 'door' });
  await panel.getByText(t('script.verified')).waitFor();
  await panel.getByRole('button', { name: t('script.read') }).click();

  const shown = page.getByRole('region', { name: /^door \d/ }).first();
  await shown.getByText('fn on_touch').first().waitFor();
  await shown.getByText(t('script.verified')).waitFor();
  const entry = await ada.read(async (inner, id) => (await inner.client.scripts()).find((/** @type {any} */ s) => s.object === id), door.id);
  const source = await ada.read((inner, id) => inner.client.source(id), entry.package);
  assert.equal(source.id, entry.package);
  assert.equal(source.verified, true);
  const file = source.files.find((/** @type {any} */ one) => one.path.endsWith('door.rhai'));
  assert.equal(file.text, readFileSync(join(ROOT, 'scenarios/packages/door/door.rhai'), 'utf8'));
  assert.equal(source.manifest.licence, 'AGPL-3.0-or-later');
});

journey('everything that runs here comes as one archive whose packages re-hash', async ({ plaza, open }) => {
  const ada = await open(plaza.address(2), { name: 'Ada' });

  const list = await ada.read(async (page) => (await page.client.allSource()).list);

  assert.ok(list.length >= 4, `${list.length} packages`);
  assert.ok(list.every((/** @type {any} */ entry) => entry.verified), JSON.stringify(list));
});

journey('a box that one builds is there for the other, until it is undone', async (place) => {
  const { ada, bob } = await two(place);
  // Where people arrive nothing may be built: a few steps to the north.
  const own = /** @type {number} */ (await ada.read((page) => page.client.me));
  await ada.page.keyboard.down('w');
  // On a busy machine the page draws her further than the servers know her to be.
  await ada.until('Ada is out of the way', (page, id) => page.client.sight.known(id)?.y > -1.5, own);
  await ada.page.keyboard.up('w');
  await ada.until('Ada stands', (page, id) => page.client.sight.known(id)?.vy === 0, own);
  // Bob arrives anywhere near, and may stand where the box would be.
  const his = /** @type {number} */ (await bob.read((page) => page.client.me));
  await bob.page.keyboard.down('s');
  await bob.until('Bob is out of the way', (page, id) => page.client.sight.known(id)?.y < -4, his);
  await bob.page.keyboard.up('s');

  await ada.panel('build');
  await ada.page.getByRole('button', { name: t('kind.box'), exact: true }).click();
  await ada.page.keyboard.press('Enter');

  const mine = await ada.thing(t('kind.box').toLowerCase());
  const box = await bob.thing(t('kind.box').toLowerCase());
  assert.equal(box.id, mine.id);
  assert.equal(box.owner, await ada.read((page) => page.identity.public));
  await ada.page.keyboard.press('Control+z');
  await bob.until('the box is gone', (page, id) => !page.client.sight.objects.has(id), box.id);
});
