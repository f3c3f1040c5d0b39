// @ts-check
/** What things ask: a card with words, choices and perhaps a line to fill in. */

import { t } from '../strings.js';
import { button, el, field, word } from './dom.js';

/** Cards that are shown at once; the oldest goes. */
const CARDS_MAX = 2;

/** Bytes of one line, as the servers limit it. */
const BYTES_MAX = 512;

/**
 * @typedef {object} Asked
 * @property {number} object the thing that asks
 * @property {string} name
 * @property {{tag: string, title: string, text: string, choices: string[], field: string | null}} form
 */

export class Asks {
  /** @param {import('../main.js').Page} page */
  constructor(page) {
    this.page = page;
    this.element = el('div', { class: 'asks', 'aria-live': 'polite' });
    /** The cards by the things that ask. @type {Map<number, any>} */
    this.cards = new Map();
    /** Things that ask no more, until the page is opened again. @type {Set<number>} */
    this.muted = new Set();
    page.client.addEventListener('form', (/** @type {any} */ event) => this.show(event.detail));
  }

  /** Shows a card in place of an earlier one of the same thing. @param {Asked} asked */
  show(asked) {
    const { object, name, form } = asked;
    if (this.muted.has(object)) return;
    this.close(object);
    const line = form.field === null ? null : el('input', { type: 'text', autocomplete: 'off', maxlength: BYTES_MAX });
    // What is typed here must not walk.
    for (const type of ['keydown', 'keyup']) line?.addEventListener(type, (/** @type {Event} */ event) => event.stopPropagation());
    const reply = (/** @type {number} */ choice) => this.reply(asked, choice, line?.value.trim() ?? '');
    const choices = form.choices.map((text, place) => button({ text, class: 'button', click: () => reply(place) }));
    if (line && choices.length === 0) choices.push(button({ text: t('ask.send'), class: 'button primary', click: () => reply(0) }));
    const card = el('section', { class: 'ask', 'aria-label': t('ask.from', { name }) },
      el('header', null, el('small', { class: 'quiet' }, t('ask.from', { name }), word()), button({ icon: 'close', label: t('close'), class: 'icon-button', click: () => this.close(object) })),
      form.title && el('h2', null, form.title), form.text && el('p', null, form.text),
      line && field(form.field ?? '', line), choices.length > 0 && el('div', { class: 'row' }, ...choices),
      button({ text: t('ask.mute'), class: 'link', click: () => this.mute(object) }));
    this.cards.set(object, card);
    this.element.append(card);
    for (const old of [...this.cards.keys()].slice(0, -CARDS_MAX)) this.close(old);
  }

  /** @param {number} object */
  close(object) {
    this.cards.get(object)?.remove();
    this.cards.delete(object);
  }

  /** @param {number} object */
  mute(object) {
    this.muted.add(object);
    this.close(object);
  }

  /** @param {Asked} asked @param {number} choice @param {string} text */
  async reply(asked, choice, text) {
    const n = new TextEncoder().encode(text).length;
    if (n > BYTES_MAX) return void this.page.toasts.say(t('chat.long', { n }), 'bad');
    if (asked.form.field !== null && !text) return void this.page.toasts.say(t('ask.empty', { field: asked.form.field }), 'bad');
    this.close(asked.object);
    this.page.canvas.focus({ preventScroll: true });
    const outcome = await this.page.toasts.watch('reply', this.page.client.reply(asked.object, asked.form.tag, choice, text));
    // What was not taken can be tried again, unless the thing asks something else by now.
    if (!outcome?.ok && !this.cards.has(asked.object)) this.show(asked);
  }
}
