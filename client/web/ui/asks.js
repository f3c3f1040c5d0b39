/** What things ask: a card with words, choices and perhaps a line to fill in. */

import { bytesOf, LINE_BYTES_MAX } from '../core/bytes.js';
import { t } from '../strings.js';
import { button, el, field, PagePart, word } from './dom.js';

/** Cards that are shown at once; the oldest goes. */
const CARDS_MAX = 2;

const ALLOWS = { Move: 'ask.allow.move', Dress: 'ask.allow.dress' };

/** What an offer says, a line each. @param {string} name @param {Offered} offer */
export const offered = (name, { terms, given, taken }) => [
  terms.give === null ? '' : t('ask.give', { thing: given }), terms.take === null ? '' : t('ask.take', { thing: taken }),
  ...terms.allow.map((what) => t(ALLOWS[what], { name })),
].filter(Boolean);

/** What an offer says, and its two answers. @param {string} name @param {Offered} offer @param {(accepts: boolean) => void} answer */
const offer = (name, offer, answer) => [
  el('ul', { class: 'terms' }, ...offered(name, offer).map((line) => el('li', null, line))),
  el('p', { class: 'row' }, button({ text: t('ask.accept'), class: 'button primary', click: () => answer(true) }), button({ text: t('ask.decline'), class: 'button', click: () => answer(false) })),
];

/** A field for what goes to a thing, or is said. */
export const lineInput = () => el('input', { type: 'text', autocomplete: 'off', maxlength: LINE_BYTES_MAX });

/**
 * What a form asks below its title, and its answers.
 * @param {string} name of the thing that asks @param {Asked['form']} form @param {(accepts: boolean) => void} answer
 * @param {(choice: number, text: string) => void} reply
 */
export function asking(name, form, answer, reply) {
  const line = form.field === null ? null : lineInput();
  const send = (/** @type {string} */ text, /** @type {number} */ choice, css = 'button') =>
    button({ text, class: css, click: () => reply(choice, line?.value.trim() ?? '') });
  const choices = form.choices.map((text, choice) => send(text, choice));
  if (line && choices.length === 0) choices.push(send(t('ask.send'), 0, 'button primary'));
  return [
    form.text && el('p', null, form.text), ...(form.offer ? offer(name, form.offer, answer) : []),
    line && field(form.field ?? '', line), choices.length > 0 && el('div', { class: 'row' }, ...choices),
  ];
}

export class Asks extends PagePart {
  static hears = { form: 'show' };
  element = el('div', { class: 'asks', 'aria-live': 'polite' });
  /** Says that things may do something to the person, and takes it back. @type {HTMLElement | null} */
  allowed = null;
  /** The cards by the things that ask. @type {Map<number, any>} */
  cards = new Map();
  /** Things that ask no more, until the page is opened again. @type {Set<number>} */
  muted = new Set();

  /** Shows a card in place of an earlier one of the same thing. @param {Asked} asked */
  show(asked) {
    const { object, name, form } = asked;
    if (this.muted.has(object)) return;
    this.close(object);
    const card = el('section', { class: 'ask', 'aria-label': t('ask.from', { name }) },
      el('header', null, el('small', { class: 'quiet' }, t('ask.from', { name }), word()), button({ icon: 'close', label: t('close'), class: 'icon-button', click: () => this.close(object) })),
      form.title && el('h2', null, form.title),
      ...asking(name, form, (accepts) => this.answer(asked, accepts), (choice, text) => this.reply(asked, choice, text)),
      button({ text: t('ask.mute'), class: 'link', click: () => this.mute(object) }));
    this.cards.set(object, card);
    this.element.append(card);
    for (const old of [...this.cards.keys()].slice(0, -CARDS_MAX)) this.close(old);
  }

  /** @param {Asked} asked @param {boolean} accepts */
  async answer({ object, form }, accepts) {
    this.close(object);
    this.page.canvas.focus({ preventScroll: true });
    const outcome = await this.page.toasts.watch('answer', this.page.client.answer(object, form.offer?.terms, accepts));
    if (outcome?.ok && accepts && form.offer?.terms.allow.length) this.allow();
  }

  /** Shows that things may do something to the person, until that is taken back. */
  allow() {
    this.allowed?.remove();
    const forbid = async () => (await this.page.toasts.watch('forbid', this.page.client.forbid()))?.ok && this.allowed?.remove();
    this.allowed = el('section', { class: 'ask allowed' }, el('p', null, t('ask.allowed')), button({ text: t('ask.forbid'), class: 'link', click: forbid }));
    this.element.prepend(this.allowed);
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
    const n = bytesOf(text);
    if (n > LINE_BYTES_MAX) return void this.page.toasts.say(t('chat.long', { n }), 'bad');
    if (asked.form.field !== null && !text) return void this.page.toasts.say(t('ask.empty', { field: asked.form.field }), 'bad');
    this.close(asked.object);
    this.page.canvas.focus({ preventScroll: true });
    const outcome = await this.page.toasts.watch('reply', this.page.client.reply(asked.object, asked.form.tag, choice, text));
    // What was not taken can be tried again, unless the thing asks something else by now.
    if (!outcome?.ok && !this.cards.has(asked.object)) this.show(asked);
  }
}
