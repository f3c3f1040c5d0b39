/** One's look and key, and how the picture looks; and what all this is. */

import { t } from '../strings.js';
import { button, choice, el, facts, part, short, switchOf } from './dom.js';
import { lookChooser } from './entry.js';
import { keyBox } from './keys.js';
import { everything } from './source.js';

/** @param {Page} page @returns {Panel} */
export const settingsPanel = (page) => ({ parts() {
  const { settings } = page;
  const light = choice(t('settings.light'), ['auto', 'day', 'dusk'].map((value) => [value, t(`light.${value}`)]));
  light.select.addEventListener('change', () => page.set('light', light.select.value));
  light.select.value = settings.light;
  /** @param {'calm' | 'hints' | 'sounds'} name @param {string} words */
  const turn = (name, words, checked = settings[name]) => switchOf(el('input', {
    type: 'checkbox', checked, on: { change: (/** @type {any} */ { target }) => page.set(name, target.checked) },
  }), words);
  const look = structuredClone(page.person.look);
  const apply = button({ text: t('own.apply'), class: 'button primary', click: () => page.setLook(structuredClone(look)) });
  return [
    el('h3', null, t('settings.you')),
    el('p', null, el('b', null, page.person.name), ' ', short(page.identity?.public ?? null)),
    part(t('settings.look'), {}, lookChooser(look), apply),
    el('details', { class: 'card', on: { toggle: () => page.profiles.edit() } }, el('summary', null, t('settings.profile')), page.profiles.editor),
    keyBox(page),
    el('h3', null, t('settings.picture')), light.element,
    turn('calm', t('settings.motion'), page.calm()), turn('hints', t('settings.hints')), turn('sounds', t('settings.sounds')),
    button({ text: t('settings.leave'), class: 'button danger', click: () => page.leave() }),
  ];
} });

/** @param {Page} page @returns {Panel} */
export const aboutPanel = (page) => ({ parts() {
  const { client, client: { status } } = page;
  const source = { class: 'button', href: new URL('/source', status.http || page.origin).href, target: '_blank', rel: 'noopener' };
  return [
    el('p', { class: 'lead' }, t('about.what')), el('p', null, t('about.licence')),
    el('p', { class: 'row' }, el('a', source, t('about.source')), everything(page)),
    el('p', null, t('about.privacy')), page.code.about,
    facts([
      [t('about.sim'), el('span', null, `${status.simName ?? ''} `, short(status.sim))],
      [t('about.server'), el('span', null, `${status.http ?? ''} `, short(status.server))],
      [t('about.falls'), client.genesis?.introduction?.falls ?? t('about.falls.not')],
    ]),
    el('h3', null, t('about.third')), el('ul', null, el('li', null, 'uqr 0.1.3 (MIT)')),
  ];
} });
