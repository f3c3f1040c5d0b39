// @ts-check
/** Everybody gets along: with a thumb, with keys alone, in the dark, without motion. */

import assert from 'node:assert/strict';

import { setting } from '../harness/journey.mjs';
import { t } from '../harness/tab.mjs';

const journey = setting();

/** Metres that somebody must walk to have walked. */
const WALKED = 0.5;

/** Presses Tab until the element with the focus has this name. @param {import('playwright-core').Page} page @param {RegExp} name */
async function tabTo(page, name) {
  for (let steps = 0; steps < 60; steps += 1) {
    const focused = await page.evaluate(() => {
      const element = /** @type {any} */ (document.activeElement);
      return element?.getAttribute('aria-label') ?? element?.textContent ?? '';
    });
    if (name.test(focused)) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`Tab never reaches ${name}`);
}

journey('keys alone enter, walk, find what is near, read it and talk', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada', outside: true });
  const { page } = ada;

  // The name has the focus, and Enter enters.
  await page.getByRole('dialog').getByRole('textbox', { name: t('enter.name') }).first().waitFor();
  await page.keyboard.press('Control+a');
  await page.keyboard.type(ada.name);
  await page.keyboard.press('Enter');
  await ada.here();
  await ada.until('the keys go to the world', () => document.activeElement?.id === 'view');

  const own = /** @type {number} */ (await ada.read((inner) => inner.client.me));
  const before = /** @type {any} */ (await ada.at(own));
  await page.keyboard.down('ArrowLeft');
  await ada.until('Ada walks', (inner, [id, x, far]) => inner.client.sight.at(id, performance.now()).x < x - far, [own, before.x, WALKED]);
  await page.keyboard.up('ArrowLeft');

  await page.keyboard.press('n');
  const near = page.getByRole('list', { name: t('panel.near') });
  await near.getByRole('listitem').filter({ hasText: 'greeter' }).waitFor();
  await tabTo(page, new RegExp(`^${t('near.details')}: greeter$`));
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'greeter' }).getByText(t('script.verified')).waitFor();
  await tabTo(page, new RegExp(`^${t('script.read')}$`));
  await page.keyboard.press('Enter');
  await page.getByText('fn on_chat').first().waitFor();
  await page.keyboard.press('Escape');

  await page.keyboard.press('t');
  await page.keyboard.type('hello, keys');
  await page.keyboard.press('Enter');
  await ada.hears('hello, keys');
});

journey('on a phone a thumb walks, pokes at things and talks', async ({ plaza, open }) => {
  const ada = await open(plaza.address(1), { name: 'Ada', phone: true });
  const { page } = ada;
  const own = /** @type {number} */ (await ada.read((inner) => inner.client.me));

  const stick = page.getByRole('application', { name: t('act.stick') });
  const box = /** @type {any} */ (await stick.boundingBox());
  const before = /** @type {any} */ (await ada.at(own));
  const touch = await page.context().newCDPSession(page);
  const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [middle] });
  await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: [{ x: middle.x, y: middle.y - box.height / 2 }] });
  await ada.until('Ada walks north', (inner, [id, y, far]) => inner.client.sight.at(id, performance.now()).y > y + far, [own, before.y, WALKED]);
  await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  await ada.until('Ada stands', (inner) => inner.input.sent.x === 0 && inner.input.sent.y === 0);
  await ada.picture('phone');

  // Somewhere in the middle of the picture there is a thing under a thumb.
  const spot = await ada.until('a thing can be poked at', (inner) => {
    const { renderer } = inner;
    for (const { id, thing, at } of renderer.placed) {
      const { x, y } = renderer.camera.toScreen(at.x, at.y);
      const bare = document.elementFromPoint(x, y) === inner.canvas;
      if (bare && id !== inner.client.me && renderer.pick(x, y, 14) === id) return { x, y, name: thing.name };
    }
    return null;
  });
  await page.touchscreen.tap(spot.x, spot.y);
  await page.getByRole('region', { name: spot.name }).waitFor();
  await page.getByRole('region', { name: spot.name }).getByRole('button', { name: t('close'), exact: true }).tap();

  await page.getByRole('button', { name: t('act.chat'), exact: true }).tap();
  await page.keyboard.type('hello, thumbs');
  await page.getByRole('button', { name: t('chat.send'), exact: true }).tap();
  await ada.hears('hello, thumbs');
  await page.getByRole('button', { name: t('chat.close'), exact: true }).tap();
  await stick.waitFor();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(wide <= 0, `the page is ${wide} pixels wider than the phone`);
});

journey('dark mode and reduced motion are respected', async ({ plaza, open }) => {
  const ada = await open(plaza.address(2), { name: 'Ada', scheme: 'dark', motion: 'reduce' });

  assert.equal(await ada.page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  assert.equal(await ada.read((page) => page.picture.calm), true);
  await ada.thing('greeter');
  await ada.picture('dark');
});

journey('a key that is carried to another browser is the same person there', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada' });
  const key = await ada.read((page) => page.identity.export());

  const other = await open(plaza.address(1), { name: 'Ada', outside: true });
  await other.page.getByText(t('enter.have')).click();
  await other.page.getByRole('textbox', { name: t('settings.key.paste') }).fill(key);
  await other.page.getByRole('button', { name: t('settings.key.use') }).click();

  await other.until('the key is here', (page, own) => page.identity.public === own, await ada.read((page) => page.identity.public));
});
