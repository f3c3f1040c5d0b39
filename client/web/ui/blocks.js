/** Whose words a person does not want to read, and whom she likes to find: lists that this browser alone keeps, as text. */

import { keep, recall } from '../core/store.js';
import { t, why } from '../strings.js';
import { button, el, fileButton, fill, save, short } from './dom.js';

/** Where the lists are kept. */
const KEPT = { block: 'metatopia.blocks', buddy: 'metatopia.buddies' };

export class Blocks {
  /** @param {Page} page @param {'block' | 'buddy'} word of which list */
  constructor(page, word = 'block') {
    [this.page, this.word] = [page, word];
    /** The list as text, and what it says. @type {string} */
    this.text = recall(KEPT[word]) ?? '';
    this.names = /** @type {Map<string, string>} */ (new Map());
    this.element = el('details', { class: 'card' });
    this.change({});
  }

  /** Is this person on the list? @param {string} key */
  has = (key) => this.names.has(key);

  /** Changes the list, has it signed, keeps and shows it. @param {{file?: string, add?: {key: string, name: string}, remove?: string}} what @returns {boolean} whether that was possible */
  change(what) {
    try {
      const { secret, rotation } = this.page.identity;
      const { text, people } = this.page.loaded.module.peopleList(this.word, { text: this.text, secret, rotation, ...what });
      [this.text, this.names] = [text, new Map(people.map(({ key, name }) => [key, name]))];
      keep(KEPT[this.word], text);
    } catch (error) {
      this.page.toasts.say(t(`${this.word}.failed`, { why: why(error) }), 'bad');
      return false;
    }
    fill(this.element, el('summary', null, t(`${this.word}.list`, { n: this.names.size })), el('p', { class: 'quiet' }, t(`${this.word}.how`)),
      el('ul', { class: 'people' }, ...[...this.names].map(([key, name]) => el('li', null, el('span', { class: 'grow' }, name, ' ', short(key)), this.button({ key, name })))),
      el('p', { class: 'row' }, button({ icon: 'download', text: t('list.save'), click: () => save(new Blob([this.text], { type: 'text/plain' }), KEPT[this.word]) }),
        fileButton(t('list.open'), '', async (file) => this.change({ file: await file.text() }))));
    return true;
  }

  /** What puts a person on the list, or takes her off. @param {{key: string, name: string}} person */
  button({ key, name }) {
    const has = this.has(key);
    const made = button({
      text: t(has ? `${this.word}.end` : this.word), class: 'small',
      click: () => {
        if (has) this.change({ remove: key });
        else this.add({ key, name });
        made.replaceWith(this.button({ key, name }));
      },
    });
    return made;
  }

  /** @param {{key: string, name: string}} person */
  add({ key, name }) {
    if (!this.change({ add: { key, name } })) return;
    if (this.word === 'block') this.page.chat.hush(key);
    this.page.toasts.say(t(`${this.word}.done`, { name }));
  }

  /** Tells which people of the list are in a sim that one comes into. */
  async greet() {
    const players = this.names.size === 0 ? [] : await this.page.client.players().catch(() => []);
    const here = players.filter(({ key }) => this.has(key)).map(({ name }) => name);
    if (here.length > 0) this.page.toasts.say(t(here.length === 1 ? 'buddy.one' : 'buddy.here', { n: here.length, names: here.slice(0, 8).join(', ') }));
  }
}
