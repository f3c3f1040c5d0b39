/** Short messages that say what happened and what next, read out politely. */

import { refusal, t, why } from '../strings.js';
import { el, put } from './dom.js';

/**
 * Does something, and says why it failed, if so.
 * @template T @param {Pick<Toasts, 'say'>} toasts @param {() => Promise<T>} act @returns {Promise<T | false>}
 */
export const attempt = (toasts, act) => act().catch((error) => {
  toasts.say(t('failed', { why: why(error) }), 'bad');
  return false;
});

/** Does something, and says in an element why it failed, if so. @param {Element} state @param {() => Promise<unknown>} act */
export const telling = (state, act) => act().catch((error) => put(state, t('failed', { why: why(error) })));

/** Event: 'done', an act of its name that was let pass. */
export class Toasts extends EventTarget {
  box = el('div', { class: 'toasts', role: 'status', 'aria-live': 'polite' });

  /** @param {string} text @param {'plain' | 'good' | 'bad'} [kind] */
  say(text, kind = 'plain') {
    for (const old of [...this.box.children]) if (old.textContent === text) old.remove();
    const toast = el('div', { class: `toast ${kind}` }, text);
    this.box.append(toast);
    while (this.box.children.length > 3) this.box.firstChild?.remove();
    setTimeout(() => toast.remove(), kind === 'bad' ? 7000 : 3500);
  }

  /**
   * Waits for an act, and tells when it was refused or lost.
   * @param {string} what key of its name @param {Promise<any>} act @returns {Promise<any>} its outcome, or null
   */
  async watch(what, act) {
    const name = t(`what.${what}`);
    try {
      const outcome = await act;
      if (outcome?.ok) this.dispatchEvent(new CustomEvent('done', { detail: what }));
      if (outcome && outcome.ok === false) this.say(t('act.refused', { what: name, why: refusal(outcome.refusal) }), 'bad');
      return outcome ?? null;
    } catch (error) {
      this.say(t('act.lost', { what: name, why: why(error) }), 'bad');
      return null;
    }
  }
}
