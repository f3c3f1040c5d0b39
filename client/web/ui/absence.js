/** What there is to see where the module does not run: why, and which client needs no browser. */

import { t, why } from '../strings.js';
import { el } from './dom.js';

/** @param {string} code why the module is not there, or has ended @param {string} [origin] a server of the sim */
export function absence(code, origin = location.origin) {
  const command = `metatopia client --node ${origin}`;
  return el('section', { class: 'absence', role: 'alert' },
    el('div', { class: 'stack' },
      el('h1', null, t('absence.title')), el('p', { class: 'lead' }, t('absence.why', { why: why({ code }) })),
      el('p', null, t('absence.how')), el('p', null, t('absence.client')), el('code', null, command),
      el('p', null, el('a', { href: '/source' }, t('about.source')))));
}
