// @ts-check
/** A setting with a plaza and a browser, and journeys in it that say what went on when they fail. */

import { after, before, test } from 'node:test';

import { CHROMIUM, launch, missing } from './chromium.mjs';
import { Plaza } from './plaza.mjs';
import { Tab } from './tab.mjs';

/** A journey that takes longer hangs. */
const JOURNEY_MAX = 240_000;

/**
 * @typedef {object} Place
 * @property {Plaza} plaza
 * @property {import('playwright-core').Browser} browser
 * @property {(url: string, person?: import('./tab.mjs').Person) => Promise<Tab>} open
 */

/** Says what is missing where nobody promised that it is there. */
function allowed() {
  if (!missing) return true;
  if (process.env.CI === 'true') throw new Error(`${missing}, and CI needs it`);
  test(`the page in ${CHROMIUM}`, { skip: missing }, () => {});
  return false;
}

/** Does this program bring the WebAssembly module? Without it there is no page. @param {Plaza} plaza */
async function hasModule(plaza) {
  const session = await (await fetch(plaza.here(0, '/api/session'))).json();
  return Boolean(session.wasm);
}

/**
 * A plaza and a browser for the journeys of one file.
 * @param {{servers?: number, host?: string, rule?: string, origin?: string, template?: string, grid?: string, place?: (text: string) => string}} [options]
 * `host`: a name that only the browser knows; for the others see `Plaza.start`
 * @returns {(name: string, journey: (place: Place) => Promise<void>) => void}
 */
export function setting(options) {
  if (!allowed()) return () => {};
  /** @type {Plaza} */ let plaza;
  /** @type {import('playwright-core').Browser} */ let browser;
  let absent = false;
  before(async () => {
    plaza = await Plaza.start(options);
    absent = !(await hasModule(plaza));
    browser = await launch(options?.host ? [`--host-resolver-rules=MAP ${options.host} 127.0.0.1`] : []);
  });
  after(async () => {
    await browser?.close();
    await plaza?.stop();
  });
  return (name, journey) => {
    test(name, { timeout: JOURNEY_MAX }, async (context) => {
      if (absent) {
        const why = 'the program brings no WebAssembly module; .ci/module makes it';
        if (process.env.CI === 'true') throw new Error(`${why}, and CI needs it`);
        return context.skip(why);
      }
      /** @type {Tab[]} */
      const tabs = [];
      const open = async (/** @type {string} */ url, /** @type {any} */ person) => {
        const tab = await Tab.open(browser, url, { ...person, outside: true });
        tabs.push(tab);
        if (!person?.outside) await tab.enter();
        return tab;
      };
      try {
        await journey({ plaza, browser, open });
        for (const tab of tabs.splice(0)) await tab.close();
      } catch (error) {
        for (const tab of tabs) {
          console.error(`-- ${tab.name}`, tab.errors.join('\n'));
          const kept = await tab.picture(`failed-${tab.name}`).catch(() => 'no picture');
          console.error(kept);
          console.error(await tab.page.innerText('body', { timeout: 5_000 }).catch(() => 'no words'));
          await tab.context.close().catch(() => {});
        }
        console.error(await plaza.logs());
        throw error;
      }
    });
  };
}
