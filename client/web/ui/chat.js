// @ts-check
/** What people say: a log, two channels, and a line to type in. */

import { t } from '../strings.js';
import { button, el, icon, toHex, word } from './dom.js';
import { report } from './reports.js';

/** Lines kept in the log. */
const LINES_MAX = 200;

/** Bytes of one saying, as the servers limit it. */
const BYTES_MAX = 512;

export class Chat {
  /** @param {import('../main.js').Page} page */
  constructor(page) {
    this.page = page;
    this.log = el('div', { class: 'chat-log', role: 'log', 'aria-live': 'polite', 'aria-label': t('chat.log'), tabindex: '0' });
    this.input = el('input', { type: 'text', autocomplete: 'off', enterkeyhint: 'send', 'aria-label': t('chat.say'), placeholder: t('chat.place'), maxlength: BYTES_MAX });
    this.channel = el('select', { 'aria-label': t('chat.channel') },
      el('option', { value: '0' }, t('chat.near')), el('option', { value: '1' }, t('chat.all')), this.person = el('option', { hidden: true }));
    this.form = el('form', { class: 'chat-form', on: { submit: (/** @type {Event} */ event) => this.send(event) } },
      button({ icon: 'close', label: t('chat.close'), class: 'icon-button chat-close', click: () => this.fold() }),
      this.channel, this.input, el('button', { type: 'submit', class: 'icon-button', 'aria-label': t('chat.send'), title: t('chat.send') }, icon('send')));
    this.element = el('section', { class: 'chat', 'aria-label': t('chat') }, this.log, this.form);
    this.input.addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => {
      event.stopPropagation();
      if (event.key === 'Escape') this.fold();
    });
    this.input.addEventListener('keyup', (/** @type {Event} */ event) => event.stopPropagation());
    this.button = button({ icon: 'chat', label: t('act.chat'), class: 'round-button', click: () => this.open() });
    page.client.addEventListener('heard', (/** @type {any} */ event) => this.heard(event.detail));
  }

  open() {
    document.body.classList.add('chatting');
    this.page.layout();
    this.input.focus();
  }

  fold() {
    document.body.classList.remove('chatting');
    this.page.layout();
    this.page.canvas.focus({ preventScroll: true });
  }

  /** @param {Event} event */
  async send(event) {
    event.preventDefault();
    const text = this.input.value.trim();
    if (!text) return this.fold();
    const n = new TextEncoder().encode(text).length;
    if (n > BYTES_MAX) return this.page.toasts.say(t('chat.long', { n }), 'bad');
    const { value: channel, selectedOptions: [{ text: name }] } = this.channel;
    this.input.value = '';
    if (!matchMedia('(pointer: coarse)').matches) this.page.canvas.focus({ preventScroll: true });
    const outcome = await this.page.toasts.watch('say', this.page.client.say(text, channel));
    if (outcome?.ok && channel.length > 1) this.heard({ channel: 4, speaker: 0, name, text, earlier: false });
    // What was not said comes back, to be tried again.
    if (!outcome?.ok && !this.input.value) this.input.value = text;
  }

  /** Writes to one person from now on. @param {{name: string, key: string}} person */
  writeTo({ name, key }) {
    Object.assign(this.person, { value: key, text: t('chat.to', { name }), hidden: false, selected: true });
    this.open();
  }

  /** @param {{channel: number, speaker: number, name: string, text: string, earlier: boolean, proven?: boolean|null, words?: number}} line */
  heard({ channel, speaker, name, text, earlier, proven, words }) {
    const { page } = this;
    const now = performance.now();
    if (!earlier && speaker) page.picture.bubbles.set(speaker, { text, everywhere: channel === 1, from: now, until: now + Math.min(12_000, 3500 + text.length * 70) });
    const thing = page.client.sight.objects.get(speaker);
    const who = el('b', null, name);
    if (thing) who.style.setProperty('--who', toHex(thing.look.color));
    const to = [earlier && t('chat.earlier'), [null, t('chat.all'), t('chat.you'), t('chat.far'), t('chat.private')][channel]].filter(Boolean).join(', ');
    const line = el('p', { class: `fresh ${['', 'all', 'own', 'all', 'own'][channel]}` }, who, to && el('small', null, ` ${to}`), ' ', text, proven === true ? null : word(),
      words && button({ text: t('report.open'), class: 'small', click: () => report(page, name, { private: words }) }));
    const follows = this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 40;
    this.log.append(line);
    while (this.log.children.length > LINES_MAX) this.log.firstChild.remove();
    if (follows) this.log.scrollTop = this.log.scrollHeight;
    setTimeout(() => line.classList.remove('fresh'), 12_000);
    for (const [id, bubble] of page.picture.bubbles) if (page.picture.bubbles.size > 64 && bubble.until < now) page.picture.bubbles.delete(id);
  }
}
