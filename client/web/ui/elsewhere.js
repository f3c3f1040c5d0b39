/** What to do where an address names a sim that the server does not have. */

import { askSession } from '../core/carriers.js';
import { t } from '../strings.js';
import { button, el, openDialog, short } from './dom.js';

/** Why the client is not let in, where the server has another sim. */
const OTHER = new Set(['other-world', 'other-sim']);

/** Is it another sim that is in the way, with no server known that was spoken with? @param {any} status */
export function isElsewhere({ phase, why, alone, http }) {
  return phase !== 'open' && OTHER.has(why) && (alone !== false || !http || phase === 'closed');
}

/** Says it once, and offers the way to the sim that is there. */
export class Elsewhere {
  /** @param {Page} page @param {string | null} sim the one that the address names */
  constructor(page, sim) {
    [this.page, this.sim] = [page, sim];
    this.said = false;
    this.dialog = /** @type {HTMLDialogElement | null} */ (null);
  }

  update() {
    const { status } = this.page.client;
    // Another server has it after all.
    if (status.phase === 'open') this.dialog?.close();
    if (this.sim === null || this.said || !isElsewhere(status)) return;
    this.said = true;
    this.#say(new URL(status.http || this.page.origin).origin).catch(() => {});
  }

  /** @param {string} origin of the server that was asked */
  async #say(origin) {
    const there = await askSession(origin, null);
    const name = typeof there.name === 'string' ? there.name : t('unknown');
    // The page of that very server, where this one is another's.
    const way = origin === location.origin ? '/' : `/?node=${encodeURIComponent(origin)}`;
    if (this.page.client.status.phase === 'open') return;
    this.dialog = openDialog('elsewhere', t('elsewhere.title'), [
      el('p', null, t('elsewhere.what', { origin }), ' ', short(this.sim)),
      el('p', null, t('elsewhere.there', { name })),
      el('p', { class: 'row' }, el('a', { class: 'button primary', href: way }, t('elsewhere.go', { name })),
        button({ text: t('elsewhere.stay'), click: () => this.dialog?.close() })),
    ]);
  }
}
