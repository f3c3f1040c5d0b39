// @ts-check
/** Whose words a person does not want to read: kept by this browser alone, as text. */

import { keep, recall } from '../core/store.js';
import { t, why } from '../strings.js';
import { button, el, fill, short } from './dom.js';
import { copied } from './source.js';

/** Where the list is kept. */
const KEPT = 'metatopia.blocks';

export class Blocks {
  /** @param {import('../main.js').Page} page */
  constructor(page) {
    this.page = page;
    /** The list as text, and what it says. @type {string} */
    this.text = recall(KEPT) ?? '';
    /** @type {Map<string, string>} */
    this.names = new Map();
    this.element = el('details', { class: 'card', hidden: true });
    if (this.text !== '') this.change({});
  }

  /** Is this person blocked? @param {string} key */
  has = (key) => this.names.has(key);

  /** Changes the list, keeps and shows it. @param {{block?: {key: string, name: string}, unblock?: string}} what @returns {boolean} whether that was possible */
  change(what) {
    try {
      const { text, people } = this.page.loaded.module.blockList({ text: this.text, ...what });
      [this.text, this.names] = [text, new Map(people.map(({ key, name }) => [key, name]))];
      keep(KEPT, text);
    } catch (error) {
      this.page.toasts.say(t('block.failed', { why: why(error) }), 'bad');
      return false;
    }
    this.element.hidden = this.names.size === 0;
    fill(this.element, el('summary', null, t('block.list', { n: this.names.size })), el('p', { class: 'quiet' }, t('block.how')),
      el('ul', { class: 'people' }, ...[...this.names].map(([key, name]) => el('li', null, el('span', { class: 'grow' }, name, ' ', short(key)), this.button({ key, name })))),
      button({ icon: 'copy', text: t('copy'), click: () => copied(this.page, this.text) }));
    return true;
  }

  /** What blocks a person, or ends that. @param {{key: string, name: string}} person */
  button({ key, name }) {
    const blocked = this.has(key);
    const made = button({
      text: t(blocked ? 'block.end' : 'block'), class: 'small',
      click: () => {
        if (blocked) this.change({ unblock: key });
        else this.block({ key, name });
        made.replaceWith(this.button({ key, name }));
      },
    });
    return made;
  }

  /** @param {{key: string, name: string}} person */
  block({ key, name }) {
    if (!this.change({ block: { key, name } })) return;
    this.page.chat.hush(key);
    this.page.toasts.say(t('block.done', { name }));
  }
}
