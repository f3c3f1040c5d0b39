// @ts-check
/** What a first visit downloads, as it crosses the wire. */

import { Tab } from '../harness/tab.mjs';
import { tenth } from './figure.mjs';

/** @param {import('./figure.mjs').Place} place @returns {Promise<import('./figure.mjs').Figure[]>} */
export async function weight({ plaza, browser }) {
  const tab = await Tab.open(browser, 'about:blank', { outside: true });
  /** @type {Promise<{url: string, bytes: number}>[]} */
  const coming = [];
  tab.page.on('requestfinished', (request) => {
    coming.push(request.sizes().then(({ responseBodySize }) => ({ url: request.url(), bytes: responseBodySize })));
  });
  await tab.page.goto(plaza.address(0));
  await tab.enter();
  await tab.badge('green');
  const files = await Promise.all(coming);
  await tab.close();
  const kilobytes = (/** @type {(url: string) => boolean} */ which) =>
    tenth(files.filter(({ url }) => which(new URL(url).pathname)).reduce((sum, { bytes }) => sum + bytes, 0) / 1_000);
  const wasm = (/** @type {string} */ path) => path.endsWith('.wasm');
  return [
    { figure: 'page, compressed, without its module', value: kilobytes((path) => !wasm(path)), unit: 'KB', at_most: 150 },
    { figure: 'module, compressed', value: kilobytes(wasm), unit: 'KB', at_most: 1_500 },
    { figure: 'requests of a first visit', value: files.length, unit: 'requests' },
  ];
}
