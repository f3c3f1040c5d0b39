// @ts-check
/** A page that came by http from another machine: browsers give it less than one of this machine. */

import assert from 'node:assert/strict';

import { setting } from '../harness/journey.mjs';
import { t } from '../harness/tab.mjs';

/** A name that is not this machine's, so that no browser takes the page for a secure one. */
const NAME = 'plaza.test';

const journey = setting({ host: NAME });

journey('a page that is not secure keeps its key, checks what it sees, and talks by WebSocket', async ({ plaza, open }) => {
  assert.equal(new URL(plaza.address(0)).hostname, NAME);
  const ada = await open(plaza.address(0), { name: 'Ada' });
  const bob = await open(plaza.address(1), { name: 'Bob' });
  const lacks = await ada.page.evaluate(() => ({
    secure: isSecureContext, subtle: crypto.subtle === undefined, transport: typeof WebTransport, clipboard: navigator.clipboard === undefined,
  }));
  assert.deepEqual(lacks, { secure: false, subtle: true, transport: 'undefined', clipboard: true });
  assert.equal(await ada.read((page) => page.client.status.carrier), 'websocket');

  await ada.say('hello by http');
  await bob.hears('hello by http');
  const key = await ada.read((page) => [page.identity.kept, page.identity.public]);
  assert.equal(key[0], true, 'the key outlives the tab');
  await ada.badge('green');

  const about = await ada.panel('about');
  await about.getByText(t('code.state.insecure')).waitFor();

  await ada.page.reload();
  await ada.here();
  assert.deepEqual(await ada.read((page) => [page.identity.kept, page.identity.public]), key);
});
