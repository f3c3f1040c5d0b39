// @ts-check
/** What the page checks by itself, and what it says when it cannot, or when it does not hold. */

import assert from 'node:assert/strict';

import { setting } from '../harness/journey.mjs';
import { Liar } from '../harness/liar.mjs';
import { t } from '../harness/tab.mjs';

const journey = setting({ module: true });

/** Turns that a replica in a tab must compute as the servers do. */
const EQUAL_TURNS = 200;

/** A sixteenth of a metre, or a bit of an angle, in the state's own numbers. */
const NUDGE = 1 << 16;

/** A server's message with a body moved or turned a little, if it tells of any that moves. @param {any} message */
function nudged(message) {
  for (const update of message.View?.tiles ?? []) {
    for (const [, movement] of update.moved) {
      const told = movement.position ?? movement.facing;
      if (told) {
        told[0] += told[0] > 0 ? -NUDGE : NUDGE;
        return message;
      }
    }
  }
  return null;
}

journey('what an honest server shows is proven', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada' });

  await ada.badge('green');

  const proof = await ada.read((page) => ({ ...page.client.proof }));
  assert.equal(proof.members, 4);
  assert.ok(proof.signed >= 3, `signed by ${proof.signed}`);
  const panel = await ada.panel('proof');
  await panel.getByRole('list', { name: t('proof.headers') }).getByRole('listitem').first().waitFor();
  await ada.picture('proof');
});

journey('at the node that a link names the module is still that of the page', async ({ plaza, open }) => {
  const node = new URL(plaza.servers[1].http).origin;
  const ada = await open(plaza.address(0, { node }), { name: 'Ada' });

  await ada.badge('green');

  const { http, wasm } = await ada.read((page) => ({ http: page.client.status.http, wasm: page.client.wasm }));
  assert.equal(http, node);
  assert.match(wasm ?? '', /^\/assets\//, 'an address without a server is one of the page');
});

journey('a server that moves a thing is caught', async ({ plaza, open }) => {
  const liar = await Liar.before(plaza.servers[1].http, nudged);
  try {
    const ada = await open(`${liar.url}?carrier=websocket`, { name: 'Ada' });
    await ada.badge('green');
    assert.equal(liar.lies, 0);

    // Caught, she leaves it for an honest server, which does not know the address that her page is from.
    ada.excused = /blocked by CORS policy/;
    liar.on = true;

    await ada.badge('red');
    assert.ok(liar.lies > 0);
    await ada.page.getByRole('alert').getByText(t('alarm.title')).waitFor();
    await ada.picture('caught');
  } finally {
    await liar.stop();
  }
});

journey('a server that hides a part of the place is caught', async ({ plaza, open }) => {
  let hidden = '';
  const name = (/** @type {any} */ { tile }) => `${tile.x},${tile.y}`;
  const liar = await Liar.before(plaza.servers[1].http, (message) => {
    if (!message.View) return null;
    const { tiles } = message.View;
    hidden ||= name(tiles.findLast((/** @type {any} */ update) => update.entries.length > 0) ?? { tile: {} });
    message.View.tiles = tiles.filter((/** @type {any} */ update) => name(update) !== hidden);
    return message;
  });
  liar.on = true;
  try {
    const ada = await open(`${liar.url}?carrier=websocket`, { name: 'Ada' });

    // As above.
    ada.excused = /blocked by CORS policy/;
    await ada.badge('red');
    assert.match((await ada.read((page) => page.client.proof)).detail ?? '', new RegExp(`leaf tile/${hidden}`));
  } finally {
    await liar.stop();
  }
});

journey('a replica in the tab computes what the servers compute', async ({ plaza, open }) => {
  const ada = await open(plaza.address(2), { name: 'Ada' });
  const panel = await ada.panel('proof');

  await panel.getByRole('switch', { name: t('replica.switch') }).check();

  await ada.until(`${EQUAL_TURNS} turns are equal`, (page, turns) => {
    const { phase, equal, why } = page.client.replica;
    if (phase === 'mismatch') throw new Error('the replica computes another world');
    if (why) throw new Error(`the replica went off: ${why}`);
    return phase === 'following' && equal >= turns;
  }, EQUAL_TURNS, 180_000);
  const { ownRoot, certifiedRoot } = await ada.read((page) => ({ ...page.client.replica, capsule: null }));
  assert.equal(ownRoot, certifiedRoot);
  await ada.picture('replica');
});

journey('without its module the page says so and does everything else', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0, { wasm: 'off' }), { name: 'Ada' });
  const bob = await open(plaza.address(1), { name: 'Bob' });

  await ada.badge('reduced');
  const panel = await ada.panel('proof');
  await panel.getByText(t('proof.how.nothing')).waitFor();
  assert.equal(await panel.getByText(t('proof.how.checks')).count(), 0);
  const colors = await ada.until('headers arrive', () => {
    const dots = [...document.querySelectorAll('.headers li .dots .on')];
    return dots.length > 0 && dots.map((dot) => getComputedStyle(dot).backgroundColor);
  });
  const good = await ada.read(() => getComputedStyle(document.querySelector('.headers small') ?? document.body).color);
  assert.ok(!colors.includes(good), 'a signature that nobody checked has the colour of one that was');
  await ada.say('no proof, but here');
  await bob.hears('no proof, but here');
  const own = /** @type {number} */ (await ada.read((page) => page.client.me));
  const before = await bob.at(own);
  await ada.page.keyboard.down('d');
  await bob.until('Ada walks', (page, [id, x]) => page.client.sight.at(id, performance.now())?.x > x + 0.5, [own, before.x]);
  await ada.page.keyboard.up('d');
});

journey('a module of other sources is told of wherever its word is', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0, { wasm: 'stale' }), { name: 'Ada' });

  await ada.badge('green');
  const badge = ada.page.getByRole('button', { name: /by a module of other sources/ });
  await badge.waitFor();
  const panel = await ada.panel('proof');
  await panel.getByText(t('proof.how.stale')).waitFor();
  await ada.picture('stale');
});
