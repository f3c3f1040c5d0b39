// @ts-check
/** Somebody builds with many parts, chooses several of them, changes them together, and keeps them as a file. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';

import { setting } from '../harness/journey.mjs';
import { t } from '../harness/tab.mjs';

const journey = setting({ servers: 1, template: 'empty' });

/** Goes some steps to the south of where people arrive. @param {import('../harness/tab.mjs').Tab} tab */
async function aside(tab) {
  const own = /** @type {number} */ (await tab.read((page) => page.client.me));
  const from = await tab.read((page, id) => page.client.sight.known(id).y, own);
  await tab.page.keyboard.down('s');
  await tab.until('she is out of the way', (page, [id, y]) => page.client.sight.known(id)?.y < y - 13, /** @type {const} */ ([own, from]));
  await tab.page.keyboard.up('s');
  await tab.until('she stands', (page, id) => page.client.sight.known(id)?.vy === 0, own);
}

/** What she owns and sees, by numbers. @param {import('../harness/tab.mjs').Tab} tab */
async function own(tab) {
  return /** @type {{id: number, kind: string, color: number, x: number, y: number}[]} */ (await tab.read((page) => {
    const mine = [...page.client.sight.objects.values()].filter((thing) => thing.owner === page.identity.public && !thing.player);
    return mine.map((thing) => ({ id: thing.id, kind: thing.kind, color: thing.look.color, ...page.client.sight.known(thing.id) })).sort((a, b) => a.id - b.id);
  }));
}

/** Waits until she owns so many things. @param {import('../harness/tab.mjs').Tab} tab @param {number} count */
async function owns(tab, count) {
  await tab.until(`she owns ${count} things`, (page, wanted) =>
    [...page.client.sight.objects.values()].filter((thing) => thing.owner === page.identity.public && !thing.player).length === wanted, count);
  return own(tab);
}

/** Where a thing is on the screen. @param {import('../harness/tab.mjs').Tab} tab @param {number} id */
async function pixel(tab, id) {
  return /** @type {{x: number, y: number}} */ (await tab.read((page, which) => {
    const { x, y } = page.client.sight.known(which);
    return page.renderer.camera.toScreen(x, y);
  }, id));
}

journey('several parts are chosen, moved, coloured, copied, taken back, saved and opened again', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada' });
  await aside(ada);
  const panel = await ada.panel('build');
  await panel.getByRole('combobox', { name: t('build.grid'), exact: true }).selectOption({ value: '0.5' });
  const parts = ['tree', 'bench', 'lamp', 'flowers'];
  for (const [n, kind] of parts.entries()) {
    await panel.getByRole('button', { name: t(`kind.${kind}`), exact: true }).click();
    await ada.read((page, x) => {
      const own = page.client.sight.at(page.client.me, performance.now());
      page.tools.point(own.x + x, own.y + 1.6);
    }, n * 2 - 3);
    await ada.page.keyboard.press('Enter');
    await owns(ada, n + 1);
    await ada.page.keyboard.press('Escape');
  }
  const placed = await own(ada);
  for (const { x, y } of placed) assert.ok(Number.isInteger(Math.round(x * 1000) / 500) && Number.isInteger(Math.round(y * 1000) / 500), `${x}, ${y} is on the grid`);

  // With the keyboard alone: the list ticks them.
  for (const { kind } of placed.slice(0, 2)) await panel.getByRole('checkbox', { name: t('build.pick', { name: t(`kind.${kind}`).toLowerCase() }), exact: true }).press('Space');
  await panel.getByText(t('group.count', { n: 2 }), { exact: true }).waitFor();
  // And with the pointer: Shift and a click.
  const lamp = await pixel(ada, placed[2].id);
  await ada.page.keyboard.down('Shift');
  await ada.page.mouse.click(lamp.x, lamp.y);
  await ada.page.keyboard.up('Shift');
  await panel.getByText(t('group.count', { n: 3 }), { exact: true }).waitFor();
  await ada.picture('build');

  await panel.getByLabel(t('build.color'), { exact: true }).fill('#3366cc');
  await panel.getByRole('button', { name: t('group.color'), exact: true }).click();
  await ada.until('three are blue', (page) => [...page.client.sight.objects.values()].filter((thing) => thing.look.color === 0x3366cc).length === 3);
  await ada.page.locator('#view').focus();
  await ada.page.keyboard.press('Control+z');
  await ada.until('none is blue', (page) => [...page.client.sight.objects.values()].every((thing) => thing.look.color !== 0x3366cc));
  await ada.page.keyboard.press('Shift+ArrowUp');
  await ada.until('the tree went north', (page, [id, y]) => Math.abs(page.client.sight.known(id).y - y - 0.5) < 0.01, /** @type {const} */ ([placed[0].id, placed[0].y]));

  // A drag with Alt copies all of them.
  const tree = await pixel(ada, placed[0].id);
  await ada.page.keyboard.down('Alt');
  await ada.page.mouse.move(tree.x, tree.y);
  await ada.page.mouse.down();
  await ada.page.mouse.move(tree.x, tree.y - 60, { steps: 4 });
  await ada.page.mouse.move(tree.x, tree.y - 120, { steps: 4 });
  await ada.picture('build-copy');
  await ada.page.mouse.up();
  await ada.page.keyboard.up('Alt');
  await owns(ada, 7);

  const download = ada.page.waitForEvent('download');
  await panel.getByRole('button', { name: t('group.save'), exact: true }).click();
  const path = /** @type {string} */ (await (await download).path());
  const file = JSON.parse(await readFile(path, 'utf8'));
  assert.deepEqual(file.things.map((/** @type {any} */ thing) => thing.kind).sort(), ['bench', 'lamp', 'tree']);

  const chooser = panel.locator('input[type=file]');
  await chooser.setInputFiles({ name: 'bad.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify({ ...file, things: [{ ...file.things[0], w: 0 }] })) });
  await panel.getByText('thing 1: `w` must be a number of metres from 0.1 to 1000', { exact: true }).waitFor();
  await chooser.setInputFiles(path);
  await ada.read((page) => {
    const own = page.client.sight.at(page.client.me, performance.now());
    page.tools.point(own.x, own.y - 4);
  });
  await ada.picture('build-file');
  await ada.page.keyboard.press('Enter');
  await owns(ada, 10);
  await ada.page.keyboard.press('Escape');

  // The three copies become one thing, which a file keeps with its parts.
  const newest = async (/** @type {number} */ count) => {
    const ids = (await own(ada)).slice(-count).map(({ id }) => id);
    await ada.read((page, chosen) => page.group.add(chosen), ids);
  };
  await newest(3);
  await panel.getByRole('button', { name: t('join.unite'), exact: true }).click();
  const whole = /** @type {number} */ ((await owns(ada, 8)).at(-1)?.id);
  await ada.picture('build-unite');
  await ada.page.locator('#view').focus();
  await ada.page.keyboard.press('Control+z');
  // One step back, and all of its parts are there.
  await ada.until('it came apart', (page, id) => !page.client.sight.objects.has(id), whole);
  await owns(ada, 10);
  await newest(3);
  await panel.getByRole('button', { name: t('join.unite'), exact: true }).click();
  await owns(ada, 8);
  await newest(1);
  const saved = ada.page.waitForEvent('download');
  await panel.getByRole('button', { name: t('group.save'), exact: true }).click();
  const { things } = JSON.parse(await readFile(/** @type {string} */ (await (await saved).path()), 'utf8'));
  assert.deepEqual(things.map((/** @type {any} */ thing) => thing.parts.length), [2]);

  // Everything passes through it, and it says so.
  const stowed = /** @type {number} */ ((await own(ada)).at(-1)?.id);
  const name = await ada.read((page, id) => (page.select(id), page.client.sight.objects.get(id).name), stowed);
  for (const [act, sensor] of /** @type {const} */ ([['own.sensor', true], ['own.solid', false], ['own.sensor', true]])) {
    await ada.page.getByRole('button', { name: t(act), exact: true }).click();
    await ada.until(`a sensor: ${sensor}`, (page, [id, wanted]) => page.client.sight.objects.get(id).sensor === wanted, /** @type {const} */ ([stowed, sensor]));
  }
  await ada.page.getByText(t('moves.sensor'), { exact: true }).waitFor();
  await ada.picture('build-sensor');

  // It goes into luggage, and comes back as it was.
  await ada.page.getByRole('button', { name: t('own.stow'), exact: true }).click();
  await owns(ada, 7);
  await ada.panel('build');
  await panel.getByText(t('build.stowed'), { exact: true }).scrollIntoViewIfNeeded();
  await ada.picture('build-luggage');
  await panel.getByRole('button', { name: `${t('build.fetch')}: ${name}`, exact: true }).click();
  assert.equal((await owns(ada, 8)).at(-1)?.id, stowed);
  assert.equal(await ada.read((page, id) => page.client.sight.objects.get(id).sensor, stowed), true);
  await panel.getByText(t('build.stowed'), { exact: true }).waitFor({ state: 'detached' });
});

journey('on a phone thirty parts fit, and taps choose several things', async ({ plaza, open }) => {
  const bob = await open(plaza.address(0), { name: 'Bob', phone: true });
  await bob.read((page) => page.dock.show('build'));
  const panel = bob.page.getByRole('region', { name: t('panel.build'), exact: true });
  await panel.getByRole('button', { name: t('kind.tent'), exact: true }).scrollIntoViewIfNeeded();
  await bob.picture('build-phone');
  const wide = await bob.page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(wide <= 0, `${wide} px too wide`);
  await panel.getByRole('button', { name: t('group.picking'), exact: true }).scrollIntoViewIfNeeded();
  await bob.picture('build-phone-group');
});
