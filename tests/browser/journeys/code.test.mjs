// @ts-check
/** Who serves the page chooses its code: so the browser keeps it, and other code is asked about. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after } from 'node:test';

import { serveFolder } from '../harness/folder.mjs';
import { setting } from '../harness/journey.mjs';
import { Renewed } from '../harness/renewed.mjs';
import { t } from '../harness/tab.mjs';

const served = await serveFolder();
after(() => served.stop());

const journey = setting({ origin: served.origin });

/** @param {import('../harness/tab.mjs').Tab} tab */
async function kept(tab) {
  const state = await tab.until('the browser kept the code, or did not', (page) => page.code.state !== 'keeping' && [page.code.state, page.code.why]);
  assert.deepEqual(state, ['kept', '']);
}

/** The digest of the code that runs, and the name that it shows. @param {import('../harness/tab.mjs').Tab} tab */
function running(tab) {
  return tab.read((page) => ({ code: page.code.code, brand: document.querySelector('.brand b')?.textContent }));
}

/** Another name for all this, in the strings of the page. @param {string} text */
const renamed = (text) => text.replace('"brand": "Metatopia"', '"brand": "Metatopia anew"');

journey('other code that a server offers runs only when it is taken', async ({ plaza, open }) => {
  const server = await Renewed.before(plaza.servers[1].http);
  try {
    const ada = await open(`${server.url}?carrier=websocket`, { name: 'Ada' });
    // Once this server ends, she asks others, which do not know the address that her page is from.
    ada.excused = /blocked by CORS policy/;
    await kept(ada);
    const first = await running(ada);
    assert.equal(first.brand, 'Metatopia');
    await server.renew('strings.json', renamed, '99.0.0');
    assert.equal(server.old, first.code);

    // Offered with its digest, before any of it is fetched.
    server.asked = [];
    await ada.page.reload();
    await ada.here();
    const notice = ada.page.getByRole('region', { name: t('code.offer') });
    await notice.getByText(server.code).waitFor();
    await notice.getByText(first.code).waitFor();
    assert.deepEqual(await running(ada), first);
    assert.deepEqual(server.asked.filter((path) => path.startsWith('/assets/')), []);
    await ada.picture('offer');

    // Refused, the old code goes on, and it is not asked again.
    await notice.getByRole('button', { name: t('code.keep') }).click();
    await notice.waitFor({ state: 'hidden' });
    await ada.page.reload();
    await ada.here();
    assert.deepEqual(await running(ada), first);
    assert.equal(await notice.count(), 0);
    await ada.say('old code, same world');
    await ada.hears('old code, same world');

    // What is not what its digest says is not taken.
    const strings = `/assets/${server.code}/strings.json`;
    const right = /** @type {string} */ (server.answers.get(strings));
    server.answers.set(strings, `${right}\n`);
    const about = await ada.panel('about');
    await about.getByRole('button', { name: t('code.take') }).click();
    await about.getByText(/is not what its digest says/).waitFor();
    assert.deepEqual(await running(ada), first);

    // Taken, it runs.
    server.answers.set(strings, right);
    await Promise.all([ada.page.waitForEvent('load'), about.getByRole('button', { name: t('code.take') }).click()]);
    await ada.here();
    assert.deepEqual(await running(ada), { code: server.code, brand: 'Metatopia anew' });
    await kept(ada);
    assert.equal(await notice.count(), 0);
    const after = await ada.panel('about');
    await after.getByText('99.0.0').waitFor();
  } finally {
    await server.stop();
  }
});

journey('About says who served the code, what it is, and how to have it as a folder', async ({ plaza, open }) => {
  const ada = await open(plaza.address(2), { name: 'Ada' });
  await kept(ada);
  const { origin } = new URL(plaza.address(2));

  const about = await ada.panel('about');
  await about.getByText(t('code.who', { origin })).waitFor();
  await about.getByText(t('code.state.kept')).waitFor();
  await about.getByText(`metatopia page export DIR --node ${origin}`).waitFor();
  const { code } = await running(ada);
  await about.getByText(code).waitFor();
  const list = await about.getByRole('link', { name: t('code.list') }).getAttribute('href');
  const text = await (await fetch(new URL(list ?? '', origin))).text();
  assert.equal(createHash('sha256').update(text).digest('hex'), code);
  await ada.picture('about');
});

journey('the page can be installed as an app', async ({ plaza, open }) => {
  const ada = await open(plaza.address(2), { name: 'Ada' });
  await kept(ada);
  const devtools = await ada.context.newCDPSession(ada.page);

  const manifest = await devtools.send('Page.getAppManifest');
  assert.deepEqual(manifest.errors, []);
  assert.equal(JSON.parse(manifest.data ?? '{}').name, 'Metatopia');
  const { installabilityErrors } = await devtools.send('Page.getInstallabilityErrors');
  // Profiles of tests are private ones, which install nothing.
  const others = installabilityErrors.filter(({ errorId }) => errorId !== 'in-incognito');
  assert.deepEqual(others, []);
});

journey('a folder that any web server serves goes to the servers that it names', async ({ plaza, open }) => {
  served.folder = join(plaza.folder, 'page');
  const nodes = [3, 2].flatMap((index) => ['--node', plaza.address(index)]);
  const said = JSON.parse(await plaza.run('page', 'export', served.folder, ...nodes, '--json'));
  const list = await readFile(join(served.folder, 'assets', said.code, 'files.txt'), 'utf8');
  assert.equal(createHash('sha256').update(list).digest('hex'), said.code);
  await assert.rejects(plaza.run('page', 'export', served.folder, ...nodes), /failed with 4: .*is not empty/s);

  const ada = await open(`${served.origin}/page/`, { name: 'Ada' });
  const bob = await open(plaza.address(1), { name: 'Bob' });
  assert.equal(await ada.read((page) => page.client.status.server), plaza.servers[3].key);
  assert.equal((await running(ada)).code, said.code);
  await ada.badge('green');
  await ada.say('hello from a folder');
  await bob.hears('hello from a folder');
  const about = await ada.panel('about');
  await about.getByText(t('code.state.folder')).waitFor();
});

// The last one: a server is lost.
journey('a page whose server is gone opens again, and goes to another server', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada' });
  await kept(ada);
  const { code } = await running(ada);

  plaza.kill(0);
  await ada.page.reload();
  await ada.here();

  const server = await ada.read((page) => page.client.status.server);
  assert.ok(plaza.servers.slice(1).some(({ key }) => key === server), server);
  assert.equal((await running(ada)).code, code);
  const about = await ada.panel('about');
  await about.getByText(t('code.alone', { origin: new URL(plaza.address(0)).origin })).waitFor();
  // Nothing of `/api` comes from what is kept.
  const api = await ada.page.evaluate(() => fetch('/api/session').then(() => 'an answer', () => 'nothing'));
  assert.equal(api, 'nothing');
  await ada.picture('gone');
});
