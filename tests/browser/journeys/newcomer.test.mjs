// @ts-check
/** What people stumbled over in their first hour. */

import assert from 'node:assert/strict';

import { setting } from '../harness/journey.mjs';
import { t } from '../harness/tab.mjs';

const journey = setting();

/** A sim that no server here has. */
const NOWHERE = 'ab'.repeat(32);

/** What the sim says of itself came under the pointer, the button moved away from it, and the click was lost. */
journey('the button that lets one in stays where it is, whatever the sim says of itself', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada', outside: true });
  const go = ada.page.getByRole('button', { name: t('enter.go'), exact: true });
  await go.waitFor();
  const before = await go.boundingBox();
  await ada.read((page) => {
    const words = document.createElement('p');
    words.textContent = 'All of this is said of the sim. '.repeat(100);
    words.id = 'long-words';
    page.about.append(words);
  });
  assert.deepEqual(await go.boundingBox(), before);
  await ada.picture('enter-long');
  await ada.read(() => document.getElementById('long-words')?.remove());
  await ada.picture('enter');
  await ada.enter();
});

journey('what is near is nearest first, also after a click in the list', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada' });
  await ada.panel('near');
  const list = ada.page.getByRole('list', { name: t('panel.near') });
  await list.getByRole('listitem').first().waitFor();

  // Somewhere far, so that the order changes on the way.
  await list.getByRole('listitem').last().getByRole('button', { name: t('near.walk') }).click();
  await ada.until('the walk ends', (page) => page.input.goal === null);

  await ada.until('the nearest is first, though the list has the focus', () => {
    const rows = [...document.querySelectorAll('ol.near > li')];
    const far = rows.map((row) => Number(/([\d.]+) m /.exec(row.textContent ?? '')?.[1] ?? 0));
    return rows.some((row) => row.contains(document.activeElement)) && far.every((metres, i) => i === 0 || metres >= far[i - 1]);
  });
  // With the keyboard rows keep still, and that is said.
  await ada.page.getByText(t('near.hint'), { exact: true }).waitFor();
  await ada.page.keyboard.press('Tab');
  await ada.page.getByText(t('near.hint.still'), { exact: true }).waitFor();
});

/** A walk around a corner led away from the thing at first, its row went, and the focus with it. */
journey('the row with the focus stays while its thing is farther off than what is listed', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada' });
  await ada.panel('near');
  const list = ada.page.getByRole('list', { name: t('panel.near') });
  const row = list.getByRole('listitem').last();
  await row.waitFor();
  const id = Number(await row.getAttribute('data-id'));
  await row.getByRole('button', { name: t('near.walk') }).focus();
  await ada.read((page, id) => {
    const [own, at] = [page.client.me, id].map((id) => page.client.sight.at(id, performance.now()));
    const [x, y] = [own.x - at.x, own.y - at.y];
    page.input.walkToPlace({ x: own.x + (8 * x) / Math.hypot(x, y), y: own.y + (8 * y) / Math.hypot(x, y) });
  }, id);
  await ada.until('she is far from it', (page, id) => {
    const [own, at] = [page.client.me, id].map((id) => page.client.sight.at(id, performance.now()));
    return Math.hypot(own.x - at.x, own.y - at.y) > 17;
  }, id);
  assert.ok(await row.evaluate((row) => row.contains(document.activeElement)), 'the row is there, and has the focus');
  assert.equal(Number(await row.getAttribute('data-id')), id);
});

journey('what is yours is asked for again after an act of your own', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada' });
  const panel = await ada.panel('build');
  await panel.getByText(t('build.mine.count', { n: 0 })).waitFor();
  // From now on nothing is asked for because time goes by.
  await ada.read((page) => void (page.dock.update = () => {}));

  await panel.getByRole('button', { name: t('kind.crate'), exact: true }).click();
  await ada.page.keyboard.press('Enter');
  await panel.getByText(t('build.mine.one'), { exact: true }).waitFor();
  await ada.page.keyboard.press('Control+z');
  await panel.getByText(t('build.mine.count', { n: 0 })).waitFor();
});

journey('a click on the ground is a walk there, gestures are drawn, and every button of the bar has its name', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada' });
  const own = /** @type {number} */ (await ada.read((page) => page.client.me));
  const from = /** @type {{x: number, y: number}} */ (await ada.until('the picture is still', (page) => {
    const at = page.client.sight.known(page.client.me);
    const { x, y } = page.renderer.camera.toScreen(at.x, at.y);
    const was = page.spot;
    page.spot = { x, y };
    return was && Math.hypot(was.x - x, was.y - y) < 0.5 && { x: at.x, y: at.y };
  }));
  // Somewhere within three metres nothing stands: the rose in the middle of the plaza is wide.
  const goal = /** @type {{x: number, y: number, px: number, py: number}} */ (await ada.read((page, at) => {
    const ways = Array.from({ length: 16 }, (_, n) => ({ x: at.x + 3 * Math.cos(n * Math.PI / 8), y: at.y + 3 * Math.sin(n * Math.PI / 8) }));
    for (const way of ways) {
      const spot = page.renderer.camera.toScreen(way.x, way.y);
      if (document.elementFromPoint(spot.x, spot.y)?.id === 'view' && page.renderer.pick(spot.x, spot.y, 30) === null) return { ...way, px: spot.x, py: spot.y };
    }
    return null;
  }, from));
  assert.ok(goal, 'there is free ground');
  await ada.page.mouse.click(goal.px, goal.py);
  await ada.until('she is there', (page, [id, to]) => {
    const at = page.client.sight.known(id);
    return page.input.goal === null && Math.hypot(at.x - to.x, at.y - to.y) < 1;
  }, /** @type {const} */ ([own, goal]));

  await ada.page.keyboard.press('g');
  const wave = ada.page.getByRole('button', { name: t('emote.wave'), exact: true });
  assert.equal((await wave.textContent())?.trim(), '', 'a gesture is an outline, and no letter of a font');
  await ada.picture('gestures');
  await wave.click();
  await ada.until('she waves', (page, id) => page.client.sight.objects.get(id)?.gesture === 'wave', own);
  await ada.picture('waving');
  for (const name of ['panel.build', 'panel.proof', 'panel.near']) {
    await ada.page.locator('.dock-bar').getByText(t(name), { exact: true }).waitFor();
  }
});

journey('the ghost of a thing says beforehand that somebody stands there, and no message covers its bar', async ({ plaza, open }) => {
  const ada = await open(plaza.address(1), { name: 'Ada' });
  const panel = await ada.panel('build');
  await panel.getByRole('button', { name: t('kind.crate'), exact: true }).click();
  // Wherever she came in, and whoever stands around: it begins where there is room.
  assert.equal(await ada.read((page) => page.picture.ghosts[0].ok), true);

  const own = await ada.until('the picture is still', (page) => {
    const at = page.client.sight.at(page.client.me, performance.now());
    const spot = page.renderer.camera.toScreen(at.x, at.y);
    const was = page.spot;
    page.spot = spot;
    return was && Math.hypot(was.x - spot.x, was.y - spot.y) < 0.5 && spot;
  });
  await ada.page.mouse.move(own.x, own.y);
  await ada.until('the ghost is red on the own avatar', (page) => page.picture.ghosts[0].ok === false);
  await ada.picture('ghost');
  await ada.page.mouse.click(own.x, own.y);

  const toast = ada.page.getByText(t('act.refused', { what: t('what.place'), why: t('no.Occupied') }));
  await toast.waitFor();
  const [message, bar] = [await toast.boundingBox(), await ada.page.getByRole('group', { name: t('panel.build') }).boundingBox()];
  assert.ok(message && bar && message.y + message.height <= bar.y, `${JSON.stringify(message)} covers ${JSON.stringify(bar)}`);
});

journey('an address of a world that the server does not have says so once, and offers the way to the one it has', async ({ plaza, open }) => {
  const ada = await open(new URL(`/w/${NOWHERE}`, plaza.address(0)).href, { name: 'Ada', outside: true });
  const dialog = ada.page.getByRole('dialog', { name: t('elsewhere.title') });
  await dialog.waitFor();
  await ada.page.getByText(t('elsewhere.short')).waitFor();
  await ada.picture('elsewhere');
  await dialog.getByRole('button', { name: t('elsewhere.stay') }).click();
  await dialog.waitFor({ state: 'detached' });
  await ada.until('it is said once', (page) => page.client.known === undefined || page.client.known.tries > 6);
  assert.equal(await dialog.count(), 0);

  await ada.page.reload();
  await dialog.getByRole('link', { name: /^Go to / }).click();
  await ada.page.waitForURL(plaza.address(0));
  await ada.enter();
});

journey('an address where nothing is has a page for people, and JSON for programs that ask for it', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada' });
  for (const path of ['/nope', '/w/123']) {
    const url = new URL(path, plaza.address(0));
    for (const accept of ['text/html,application/xhtml+xml', '*/*']) {
      const answer = await fetch(url, { headers: { accept } });
      assert.equal(answer.status, 404);
      assert.match(answer.headers.get('content-type') ?? '', /^text\/html/, `${path} for ${accept}`);
    }
    const asked = await fetch(url, { headers: { accept: 'application/json' } });
    assert.equal((await asked.json()).error.code, 'not_found');

    await ada.page.goto(url.href);
    await ada.page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
    await ada.picture('nothing');
  }
  await ada.page.getByRole('link', { name: 'To the world of this server' }).click();
  await ada.here();
});

journey('keys scroll a panel that holds nothing to go to', async ({ plaza, open }) => {
  const ada = await open(plaza.address(2), { name: 'Ada', height: 420 });
  const panel = await ada.panel('governance');
  await panel.getByRole('heading', { name: t('governance.acts') }).waitFor();
  const top = () => ada.page.evaluate(() => document.querySelector('.panel-content')?.scrollTop ?? 0);
  assert.equal(await top(), 0);

  await ada.page.keyboard.press('PageDown');
  await ada.until('the panel scrolled', () => (document.querySelector('.panel-content')?.scrollTop ?? 0) > 50);
  await ada.until('every browser stops there', () => document.querySelector('.panel-content')?.getAttribute('tabindex') === '0');
});

journey('zoomed out, the map shows a whole rectangle of what is in view', async ({ plaza, open }) => {
  const ada = await open(plaza.address(2), { name: 'Ada' });
  await ada.read((page) => {
    const { ctx } = page.minimap;
    ctx.strokeRect = (/** @type {number[]} */ ...[x, y, w, h]) => {
      const at = ctx.getTransform();
      const [a, b] = [at.transformPoint({ x, y }), at.transformPoint({ x: x + w, y: y + h })];
      page.drawn = [a.x, a.y, b.x, b.y];
    };
    page.renderer.camera.goal = 1;
    page.renderer.camera.by(0.0001);
  });

  await ada.until('all four edges are on the map', (page) => {
    const { zooming } = page.renderer.camera;
    const side = page.minimap.canvas.width;
    return !zooming && page.drawn?.every((/** @type {number} */ edge) => edge >= 0 && edge <= side);
  });
});
