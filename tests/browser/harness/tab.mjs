// @ts-check
/** One person's tab: does what a person does, and sees what the page shows. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { t } from '../../../client/web/strings.js';
import { ROOT } from './plaza.mjs';
import { PATIENCE, until } from './wait.mjs';

export { t };

/** Where pictures of the page go. */
export const PICTURES = process.env.PICTURES ?? join(ROOT, 'target/browser');

/** The page says that it is made, and hands itself out. */
const LISTEN = () => {
  window.addEventListener('metatopia', (event) => {
    const page = /** @type {CustomEvent} */ (event).detail;
    /** @type {any} */ (globalThis).pageUnderTest = page;
    // What it said in passing, for when a journey fails.
    page.said = [];
    const say = page.toasts.say.bind(page.toasts);
    page.toasts.say = (/** @type {any[]} */ ...words) => page.said.push(words[0]) && say(...words);
  });
};

/**
 * @typedef {object} Person
 * @property {string} [name]
 * @property {number} [width]
 * @property {number} [height]
 * @property {boolean} [phone]
 * @property {'light' | 'dark'} [scheme]
 * @property {'reduce' | 'no-preference'} [motion]
 * @property {number} [scale] device pixels to a CSS pixel
 * @property {string} [film] a folder for a film of all it sees
 * @property {boolean} [outside] stays at the door: does not enter
 * @property {number} [ahead] milliseconds by which the clock of the client core is ahead
 */

/** How many tabs were opened under each name. @type {Map<string, number>} */
const opened = new Map();

/** A name that no other key of this run has, for a sim gives a name once. @param {string} name */
function own(name) {
  const before = opened.get(name) ?? 0;
  opened.set(name, before + 1);
  return before ? `${name} ${before + 1}` : name;
}

/**
 * Puts the clock of the worker that runs the client core ahead.
 * @param {import('playwright-core').BrowserContext} context @param {number} ahead milliseconds
 */
async function hurry(context, ahead) {
  await context.route('**/core/worker.js', async (route) => {
    const response = await route.fetch();
    const clock = `const { now: told } = Date; Date.now = () => told.call(Date) + ${ahead};`;
    await route.fulfill({ response, body: `${clock}\n${await response.text()}` });
  });
}

export class Tab {
  /**
   * Opens the page with an empty profile, and enters the world.
   * @param {import('playwright-core').Browser} browser @param {string} url @param {Person} [person]
   */
  static async open(browser, url, person = {}) {
    const { width = 1280, height = 800, phone = false, scheme = 'light', motion = 'no-preference' } = person;
    const viewport = phone ? { width: 390, height: 844 } : { width, height };
    const context = await browser.newContext({
      viewport, hasTouch: phone, isMobile: phone, deviceScaleFactor: person.scale ?? (phone ? 2 : 1),
      colorScheme: scheme, reducedMotion: motion, acceptDownloads: true,
      ...(person.film ? { recordVideo: { dir: person.film, size: viewport } } : {}),
    });
    context.setDefaultTimeout(PATIENCE);
    if (person.ahead) await hurry(context, person.ahead);
    const tab = new Tab(context, await context.newPage(), own(person.name ?? 'Ada'));
    await tab.page.addInitScript(LISTEN);
    await tab.page.goto(url);
    if (!person.outside) await tab.enter();
    return tab;
  }

  /**
   * @param {import('playwright-core').BrowserContext} context
   * @param {import('playwright-core').Page} page @param {string} name
   */
  constructor(context, page, name) {
    this.context = context;
    this.page = page;
    this.name = name;
    /** Complaints of the page; a journey ends without any. @type {string[]} */
    this.errors = [];
    /** Has it not been in the world yet? Then it complains of nothing at all. */
    this.loading = true;
    page.on('pageerror', (error) => this.errors.push(String(error.stack ?? error)));
    page.on('console', (message) => {
      // A line to a server that was killed is refused: the browser says so, and the page copes. At
      // first there is nothing to cope with.
      const cope = /net::ERR_|WebSocket connection|WebTransport|Failed to load resource/;
      if (message.type() !== 'error' || !message.text()) return;
      if (this.loading || !cope.test(message.text())) this.errors.push(message.text());
    });
  }

  /** Says a name, enters, and waits for an avatar. */
  async enter() {
    const { page } = this;
    await page.getByRole('dialog').getByRole('textbox', { name: t('enter.name') }).first().fill(this.name);
    await page.getByRole('button', { name: t('enter.go'), exact: true }).click();
    await this.here();
  }

  /** Waits for the own avatar. */
  async here() {
    await this.until('the avatar is in the world', (page) => page.client.me !== null && page.client.sight.objects.has(page.client.me));
    this.loading = false;
  }

  /**
   * Asks the page itself.
   * @template T, A
   * @param {(page: any, argument: A) => T} question runs in the tab
   * @param {A} [argument]
   * @returns {Promise<Awaited<T>>}
   */
  async read(question, argument) {
    const inner = await this.page.evaluateHandle(() => /** @type {any} */ (globalThis).pageUnderTest);
    try {
      return /** @type {any} */ (await inner.evaluate(/** @type {any} */ (question), argument));
    } finally {
      await inner.dispose();
    }
  }

  /**
   * Waits until the page says so, and gives what it said.
   * @template A
   * @param {string} what @param {(page: any, argument: A) => any} condition @param {A} [argument]
   * @param {number} [patience]
   * @returns {Promise<any>}
   */
  async until(what, condition, argument, patience) {
    try {
      return await until(`${this.name}: ${what}`, async () => {
        // A page that is being loaded again says nothing yet, and forgets what it was asked.
        const inner = await this.page.evaluateHandle(() => /** @type {any} */ (globalThis).pageUnderTest).catch(() => null);
        if (!(await inner?.evaluate((page) => page !== undefined).catch(() => false))) return false;
        return inner.evaluate(/** @type {any} */ (condition), argument).catch((error) => {
          if (/context was destroyed|navigati/.test(error.message)) return false;
          throw error;
        });
      }, patience);
    } catch (error) {
      const state = await this.read((page) => JSON.stringify([page.said, page.client.status, page.client.me, { ...page.client.proof, headers: undefined }, page.client.replica,
        { ready: page.ready, entering: page.entering, entered: page.entered, looking: page.looking, dialogs: [...document.querySelectorAll('dialog')].map((dialog) => dialog.className) }])).catch(() => 'the page is not made');
      throw new Error(`${/** @type {Error} */ (error).message}\n${state}\n${this.errors.join('\n')}`);
    }
  }

  /** The nearest thing of this name or kind, as the page knows it. @param {string} name */
  async thing(name) {
    const found = await this.until(`${name} is in sight`, (page, wanted) => {
      const own = page.client.me === null ? { x: 0, y: 0 } : page.client.sight.at(page.client.me, performance.now());
      const far = (/** @type {any} */ thing) => Math.hypot(thing.at.x - own.x, thing.at.y - own.y);
      const things = [...page.client.sight.objects.values()].filter((thing) => thing.name === wanted || thing.kind === wanted);
      const placed = things.map((thing) => ({ id: thing.id, owner: thing.owner, color: thing.look.color, at: { ...page.client.sight.at(thing.id, performance.now()) } }));
      return placed.sort((a, b) => far(a) - far(b))[0] ?? null;
    }, name);
    return /** @type {{id: number, owner: string | null, color: number, at: {x: number, y: number, angle: number}}} */ (found);
  }

  /** Where a thing is now, or nothing. @param {number} id */
  async at(id) {
    return this.read((page, which) => (page.client.sight.objects.has(which) ? { ...page.client.sight.at(which, performance.now()) } : null), id);
  }

  /** Opens a panel by its button. @param {string} id as in `panel.ID` of the strings */
  async panel(id) {
    const { page } = this;
    if (await this.read((inner, wanted) => inner.dock.open === wanted, id)) return page.getByRole('region', { name: t(`panel.${id}`) });
    const menu = page.getByRole('button', { name: t('menu'), exact: true });
    if (await menu.isVisible()) await menu.click();
    await page.getByRole('toolbar', { name: t('panels') }).getByRole('button', { name: t(`panel.${id}`), exact: true }).click();
    return page.getByRole('region', { name: t(`panel.${id}`) });
  }

  /** Says something to those who are near. @param {string} text */
  async say(text) {
    await this.page.keyboard.press('t');
    await this.page.keyboard.type(text);
    await this.page.keyboard.press('Enter');
  }

  /** Waits until the log of what was said holds this. @param {string} text */
  async hears(text) {
    await this.page.getByRole('log').getByText(text).first().waitFor();
  }

  /** Walks next to a thing, by the list of what is near. @param {number} id */
  async walkTo(id) {
    await this.read((page, which) => page.input.walkTo(which), id);
    await this.until('the walk ends', (page) => page.input.goal === null);
  }

  /** Waits for this colour of the badge. @param {string} level @param {number} [patience] */
  async badge(level, patience) {
    await this.until(`the badge is ${level}`, (page, wanted) => page.badge.element.dataset.level === wanted, level, patience);
  }

  /** Keeps a picture of what is seen now. @param {string} name without ending */
  async picture(name) {
    mkdirSync(PICTURES, { recursive: true });
    const path = join(PICTURES, `${name}.png`);
    await this.page.screenshot({ path });
    return path;
  }

  /** Complaints that belong to the story. @type {RegExp | undefined} */
  excused;

  /** Closes it; fails if the page complained. */
  async close() {
    // A worker that is fetched yet would be told of the end as of an error of nobody.
    await this.context.unrouteAll({ behavior: 'ignoreErrors' });
    await this.context.close();
    const errors = this.errors.filter((line) => !this.excused?.test(line));
    if (errors.length) throw new Error(`${this.name}'s page complains:\n${errors.join('\n')}`);
  }
}
