// @ts-check
/** The browser under test: Debian's chromium, driven by playwright-core. */

import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

export const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** No GPU, no calls home; QUIC stays on, for WebTransport is made of it. */
const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage',
  // Several tabs are looked at at once, as on several machines.
  '--disable-background-timer-throttling', '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
];

/** Why the journeys cannot be made here; nothing where they can. */
export const missing = existsSync(CHROMIUM) ? null : `there is no ${CHROMIUM}`;

/** @param {string[]} [more] flags */
export async function launch(more = []) {
  return chromium.launch({ executablePath: CHROMIUM, headless: true, args: [...FLAGS, ...more], timeout: 60_000 });
}
