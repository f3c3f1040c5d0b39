// @ts-check
/** People whose key a sim does not know, where it asks for a ticket. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { setting } from '../harness/journey.mjs';
import { PROGRAM } from '../harness/plaza.mjs';
import { t } from '../harness/tab.mjs';

const run = promisify(execFile);
const journey = setting({ servers: 1, rule: 'invite' });

journey('a guest comes in by the link of a ticket, and again without it', async ({ plaza, open }) => {
  const stranger = await open(plaza.address(0), { name: 'Eve', outside: true });
  const door = stranger.page.getByRole('dialog');
  await door.getByRole('textbox', { name: t('enter.name') }).first().fill('Eve');
  await stranger.page.getByRole('button', { name: t('enter.go'), exact: true }).click();
  await door.getByRole('alert').getByText(t('no.NeedsTicket')).waitFor();

  const admin = join(plaza.folder, 'world', 'admin.key');
  const { stdout } = await run(PROGRAM, ['ticket', 'new', '--json', '--node', plaza.address(0), '--key', admin]);
  const guest = await open(JSON.parse(stdout).link, { name: 'Ada' });
  assert.equal(await guest.page.evaluate(() => location.hash), '', 'whoever shares the address keeps the ticket');

  await guest.page.reload();
  await guest.here();
});
