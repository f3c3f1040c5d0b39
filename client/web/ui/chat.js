/** What people say: a log, the channels, and a line to type in. */

import { bytesOf, LINE_BYTES_MAX } from '../core/bytes.js';
import { t } from '../strings.js';
import { button, el, icon, onEscape, PagePart, toHex, word } from './dom.js';
import { mayModerate, settle } from './moderate.js';
import { report } from './reports.js';

/** Lines kept in the log. */
const LINES_MAX = 200;

export class Chat extends PagePart {
  static hears = { heard: 'heard', forgotten: 'forget' };
  log = el('div', { class: 'chat-log', role: 'log', 'aria-live': 'polite', 'aria-label': t('chat.log'), tabindex: '0' });
  input = onEscape(el('input', { type: 'text', autocomplete: 'off', enterkeyhint: 'send', 'aria-label': t('chat.say'), placeholder: t('chat.place'), maxlength: LINE_BYTES_MAX }), () => this.fold());
  person = el('option', { hidden: true });
  channel = el('select', { 'aria-label': t('chat.channel') },
    el('option', { value: '0' }, t('chat.near')), el('option', { value: '1' }, t('chat.all')), this.person);
  form = el('form', { class: 'chat-form', on: { submit: (/** @type {Event} */ event) => this.send(event) } },
    button({ icon: 'close', label: t('chat.close'), class: 'icon-button chat-close', click: () => this.fold() }),
    this.channel, this.input, el('button', { type: 'submit', class: 'icon-button', 'aria-label': t('chat.send'), title: t('chat.send') }, icon('send')));
  element = el('section', { class: 'chat', 'aria-label': t('chat') }, this.log, this.form);
  button = button({ icon: 'chat', label: t('act.chat'), class: 'round-button', click: () => this.open() });

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
    const n = bytesOf(text);
    if (n > LINE_BYTES_MAX) return this.page.toasts.say(t('chat.long', { n }), 'bad');
    const { value: channel, selectedOptions: [{ text: name }] } = this.channel;
    this.input.value = '';
    if (!matchMedia('(pointer: coarse)').matches) this.page.canvas.focus({ preventScroll: true });
    const outcome = await this.page.toasts.watch('say', this.page.client.say(text, channel));
    if (outcome?.ok && channel === this.person.value) this.heard({ channel: 4, speaker: 0, name, text, earlier: false });
    // What was not said comes back, to be tried again.
    if (!outcome?.ok && !this.input.value) this.input.value = text;
  }

  /** Writes to one person from now on. @param {{name: string, key: string}} person */
  writeTo({ name, key }) {
    Object.assign(this.person, { value: key, text: t('chat.to', { name }), hidden: false, selected: true });
    this.open();
  }

  /** Offers the channels of clubs. @param {Club[]} clubs */
  offer(clubs) {
    const { value } = this.channel;
    this.channel.replaceChildren(...[...this.channel.children].slice(0, 3), ...clubs.map(({ channel, name }) => el('option', { value: channel }, t('club.to', { name }))));
    this.channel.value = clubs.some(({ channel }) => channel === value) || !value.startsWith('club:') ? value : '0';
  }

  /** Lets go of what belongs to the sim that one left: its clubs, and the lines that its servers could forget. */
  leave() {
    this.offer([]);
    for (const control of this.log.querySelectorAll('.forget')) control.remove();
  }

  /** Writes in a club from now on. @param {string} channel */
  writeIn(channel) {
    this.channel.value = channel;
    this.open();
  }

  /** Tells who came in the message of the day, if there is one. */
  async greet() {
    this.page.clubs.load();
    this.page.client.person().then((/** @type {any} */ own) => this.log.classList.toggle('moderates', mayModerate(own)), () => {});
    const { motd } = (await this.page.client.governance().catch(() => null)) ?? {};
    if (motd) this.add(el('p', { class: 'fresh own' }, t('governance.motd', { text: motd }), word()));
  }

  /** Tells whose friends ask that another key take over hers what that is, and stops it by a button. @param {string} text what the sim said @param {boolean} earlier was it said before one came? */
  async warn(text, earlier) {
    const { page } = this;
    // What the sim said has to do where the node does not say more.
    const open = await page.client.recovery().catch(() => undefined);
    if (open === null && earlier) return;
    const { by = [], key } = open ?? {};
    const words = open ? t(key ? 'recovery.chosen' : 'recovery.asked', { ...open, by: by.join(', '), n: by.length, key: key?.slice(0, 8) }) : text;
    this.add(el('p', { class: 'fresh own' }, words, word(), ' ',
      button({ text: t('recovery.cancel'), class: 'small danger', click: () => settle(page, page.client.cancelRecovery(), t('recovery.done')) })));
  }

  /** @param {{channel: number, speaker: number, name: string, text: string, earlier: boolean, by?: string|null, named?: boolean, proven?: boolean|null, words?: number, club?: string|null, height?: number, body?: string}} line */
  heard({ channel, speaker, name, text, earlier, by, named, proven, words, club, height, body }) {
    const { page } = this;
    if (by && page.blocks.has(by)) return;
    // Only the sim itself speaks to one alone without a thing, and only of that.
    if (channel === 2 && speaker === 0 && !by) return this.warn(text, earlier);
    // An invite to a club is said so.
    if (channel === 2 && by) page.clubs.load();
    const now = performance.now();
    // What is said in a club is no bubble, as if everybody read it.
    if (!earlier && speaker && !club) page.picture.bubbles.set(speaker, { text, by, key: `${height}:${body}`, everywhere: channel === 1, from: now, until: now + Math.min(12_000, 3500 + text.length * 70) });
    const thing = page.client.sight.objects.get(speaker);
    const who = el('b', { title: by && t('chat.key', { key: by.slice(0, 8) }) }, name);
    if (thing) who.style.setProperty('--who', toHex(thing.look.color));
    const to = [named && t('chat.named'), earlier && t('chat.earlier'), [null, t('chat.all'), t('chat.you'), t('chat.far'), t('chat.private'), club][channel]].filter(Boolean).join(', ');
    // What the sim whispers in somebody's name is in no turn.
    const forget = body && by && channel !== 2 && button({ icon: 'close', label: t('chat.forget'), class: `icon-button forget${by === page.identity?.public ? ' own' : ''}`,
      click: () => settle(page, page.client.forget(height, body), t('chat.forgotten')) });
    this.add(el('p', { class: `fresh ${['', 'all', 'own', 'all', 'own', 'own'][channel]}${named ? ' named' : ''}`, 'data-by': by, 'data-words': `${height}:${body}` }, who, to && el('small', null, ` ${to}`), ' ', text, proven === true ? null : word(), forget,
      words && button({ text: t('report.open'), class: 'small', click: () => report(page, name, { private: words }) })));
    for (const [id, bubble] of page.picture.bubbles) if (page.picture.bubbles.size > 64 && bubble.until < now) page.picture.bubbles.delete(id);
  }

  /** Takes away words that were forgotten. @param {{height: number, body: string, by: string|null}} words */
  forget({ height, body, by }) {
    const [key, { bubbles }] = [`${height}:${body}`, this.page.picture];
    for (const line of [...this.log.children]) if (line.dataset.words === key && (!by || line.dataset.by === by)) line.remove();
    for (const [id, bubble] of bubbles) if (bubble.key === key && (!by || bubble.by === by)) bubbles.delete(id);
  }

  /** Takes away what a blocked person said. @param {string} key */
  hush(key) {
    const { bubbles, sight } = this.page.picture;
    for (const line of [...this.log.children]) if (line.dataset.by === key) line.remove();
    for (const id of bubbles.keys()) if (sight.objects.get(id)?.player === key) bubbles.delete(id);
  }

  /** Puts a line at the end of the log. @param {HTMLElement} line */
  add(line) {
    const follows = this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 40;
    this.log.append(line);
    while (this.log.children.length > LINES_MAX) this.log.firstChild.remove();
    if (follows) this.log.scrollTop = this.log.scrollHeight;
    setTimeout(() => line.classList.remove('fresh'), 12_000);
  }
}
