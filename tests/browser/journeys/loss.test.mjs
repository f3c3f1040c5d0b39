// @ts-check
/** A server dies while somebody is connected to it. */

import assert from 'node:assert/strict';

import { setting } from '../harness/journey.mjs';

const journey = setting();

/** Sayings around the death of a server, some before and some after. */
const LINES = 12;
const BEFORE = 4;

journey('a tab whose server is killed goes on at another one and loses no act', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada' });
  const bob = await open(plaza.address(2), { name: 'Bob' });
  const home = await ada.read((page) => page.client.status.server);
  assert.equal(home, plaza.servers[0].key);

  // All of it is said without waiting for any outcome; the server dies in the midst.
  await ada.read((page) => {
    page.said = [];
    page.sayings = (/** @type {number} */ from, /** @type {number} */ to) => {
      for (let n = from; n < to; n += 1) page.said.push(page.client.say(`line ${n}.`, 1));
    };
  });
  await ada.read((page, to) => page.sayings(0, to), BEFORE);
  plaza.kill(0);
  await ada.read((page, [from, to]) => page.sayings(from, to), [BEFORE, LINES]);
  const outcomes = await ada.read((page) => Promise.all(page.said));

  assert.ok(outcomes.every((/** @type {any} */ outcome) => outcome.ok), JSON.stringify(outcomes));
  await ada.until('the page is at another server', (page, dead) => page.client.status.phase === 'open' && page.client.status.server !== dead, home);
  for (let n = 0; n < LINES; n += 1) await bob.hears(`line ${n}.`);
  const lines = await bob.page.locator('.chat-log > *').allInnerTexts();
  const heard = lines.map((line) => /line (\d+)\./.exec(line)?.[1]).filter((n) => n !== undefined);
  assert.deepEqual(heard, Array.from({ length: LINES }, (_, n) => String(n)), 'each once, and in order');

  // It walks on, and the other sees it.
  const own = await ada.read((page) => page.client.me);
  const before = await bob.at(own);
  await ada.page.keyboard.down('a');
  await bob.until('Ada walks', (page, [id, x]) => page.client.sight.at(id, performance.now())?.x < x - 0.5, [own, before.x]);
  await ada.page.keyboard.up('a');
});
