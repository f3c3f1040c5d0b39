// @ts-check
/** What the page checks by itself, and what it says when it cannot, or when it does not hold. */

import assert from 'node:assert/strict';

import { setting } from '../harness/journey.mjs';
import { Liar } from '../harness/liar.mjs';
import { t } from '../harness/tab.mjs';

const journey = setting();

/** Turns that a replica in a tab must compute as the servers do. */
const EQUAL_TURNS = 200;

/** The age of a state that is older than anybody believes unasked. */
const DAYS = 60;

/** A sixteenth of a metre, or a bit of an angle, in the state's own numbers. */
const NUDGE = 1 << 16;

/** A view with a body moved or turned a little, if it tells of any that moves. @param {import('../harness/view.mjs').View} view */
function nudged(view) {
  for (const [, { position, facing }] of view.tiles.flatMap(({ moved }) => moved)) {
    const told = position ?? facing;
    if (told) {
      told[0] += told[0] > 0 ? -NUDGE : NUDGE;
      return view;
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

  const { http, modules } = await ada.read((page) => {
    const loaded = performance.getEntriesByType('resource').map(({ name }) => name);
    return { http: page.client.status.http, modules: loaded.filter((name) => name.endsWith('.wasm')) };
  });
  assert.equal(http, node);
  const own = new URL(plaza.servers[0].http).origin;
  assert.deepEqual(modules.map((name) => new URL(name).origin), [own], 'it is loaded once, from the page\u2019s server');
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
  const liar = await Liar.before(plaza.servers[1].http, (view) => {
    hidden ||= name(view.tiles.findLast(({ entries }) => entries.length > 0) ?? { tile: {} });
    view.tiles = view.tiles.filter((update) => name(update) !== hidden);
    return view;
  });
  liar.on = true;
  try {
    const ada = await open(`${liar.url}?carrier=websocket`, { name: 'Ada' });

    // As above, except that she may be caught by it before her avatar is there, where a tab excuses nothing by itself.
    ada.excused = /blocked by CORS policy|net::ERR_FAILED/;
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

journey('without its module the page says why, and names the text client', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0, { wasm: 'off' }), { name: 'Ada', outside: true });

  const panel = ada.page.getByRole('alert');
  await panel.getByRole('heading', { name: t('absence.title') }).waitFor();
  await panel.getByText(t('absence.why', { why: t('no.no-wasm') })).waitFor();
  const { origin } = new URL(plaza.servers[0].http);
  await panel.getByText(`metatopia client --node ${origin}`, { exact: true }).waitFor();
  await ada.picture('absence');
  assert.equal(await ada.page.getByRole('dialog').count(), 0, 'nobody is asked for a name');
});

journey('a browser without WebAssembly is told so', async ({ plaza, browser }) => {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.addInitScript(() => delete /** @type {any} */ (globalThis).WebAssembly);
    await page.goto(plaza.address(0));
    await page.getByRole('alert').getByText(t('absence.why', { why: t('no.no-wasm') })).waitFor();
  } finally {
    await context.close();
  }
});

journey('what only the server says is marked, and what was checked is named', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada' });
  await ada.badge('green');

  await ada.page.getByRole('button', { name: /places and looks are proven/ }).waitFor();
  const people = await ada.panel('people');
  await people.getByText('Ada').first().waitFor();
  const proven = await ada.read(async (page) => (await page.client.players()).every((/** @type {any} */ one) => one.proven === true));
  assert.equal(await people.getByText(t('word.answer')).count(), proven ? 0 : 1);
  const heard = ada.read((page) => new Promise((resolve) => {
    page.client.addEventListener('heard', (/** @type {any} */ { detail }) => detail.text === 'is this proven?' && resolve(detail));
  }));
  await ada.page.keyboard.press('Escape');
  await ada.say('is this proven?');
  const line = /** @type {any} */ (await heard);
  await ada.hears('is this proven?');
  // The greeter whispers, and no whisper is proven.
  const said = ada.page.getByRole('log').locator('> *').filter({ hasText: 'is this proven?' });
  const marks = await said.getByText(t('word.mark')).count();
  assert.equal(marks, line.proven === true ? 0 : 1);
});

journey('a link that is shared carries how far the sim was, and a tab that follows it believes no less', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada' });
  await ada.badge('green');
  const checkpoint = await ada.until('a checkpoint is there', (page) => page.client.checkpoint);
  const share = await ada.panel('share');
  const address = await share.getByRole('textbox', { name: t('panel.share') }).inputValue();
  assert.equal(new URLSearchParams(new URL(address).hash.slice(1)).get('at'), checkpoint);

  const bob = await open(address, { name: 'Bob' });
  await bob.badge('green');
  const kept = await bob.until('it is kept', (page) => page.store.get(`checkpoint/${page.client.status.sim}`));
  assert.ok(kept.length <= 200, kept);
});

journey('a sim whose newest turn is two months old asks once whether that is believed', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada', outside: true, ahead: DAYS * 86_400_000 });
  const question = ada.page.getByRole('dialog', { name: t('age.title', { days: DAYS }) });
  await question.waitFor();
  await ada.badge('amber');
  await question.getByRole('button', { name: t('age.use') }).click();
  await question.getByRole('alert').getByText(t('age.bad')).waitFor();
  await ada.picture('age');
  await question.getByRole('button', { name: t('age.accept') }).click();

  await ada.enter();
  await ada.say('good morning');
  await ada.hears('good morning');
  assert.equal(await ada.page.getByRole('dialog').count(), 0, 'nobody is asked twice');
  await ada.until('the badge names the age', (page, words) => page.badge.element.textContent.includes(words), `${DAYS} days`);
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
