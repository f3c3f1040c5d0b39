/** One's look and key, and how the picture looks; and what all this is. */

import { t } from '../strings.js';
import { button, el, facts, field, fill, short, switchOf } from './dom.js';
import { lookChooser } from './entry.js';
import { keyBox } from './keys.js';
import { everything } from './source.js';

/** @param {import('../main.js').Page} page @returns {import('../../shapes.js').Panel} */
export function settingsPanel(page) {
  const body = el('div', { class: 'stack' });
  function show() {
    const { settings } = page;
    const light = el('select', { on: { change: () => page.set('light', light.value) } },
      ...['auto', 'day', 'dusk'].map((value) => el('option', { value }, t(`light.${value}`))));
    light.value = settings.light;
    /** @param {'calm' | 'hints' | 'sounds'} name @param {string} words */
    const turn = (name, words, checked = settings[name]) => switchOf(el('input', {
      type: 'checkbox', checked, on: { change: (/** @type {any} */ { target }) => page.set(name, target.checked) },
    }), words);
    const look = structuredClone(page.person.look);
    fill(body,
      el('h3', null, t('settings.you')),
      el('p', null, el('b', null, page.person.name), ' ', short(page.identity?.public ?? null)),
      el('details', { class: 'card' }, el('summary', null, t('settings.look')),
        el('div', { class: 'stack' }, lookChooser(look), button({ text: t('own.apply'), class: 'button primary', click: () => page.setLook(structuredClone(look)) }))),
      el('details', { class: 'card', on: { toggle: () => page.profiles.edit() } }, el('summary', null, t('settings.profile')), page.profiles.editor),
      keyBox(page),
      el('h3', null, t('settings.picture')),
      field(t('settings.light'), light),
      turn('calm', t('settings.motion'), page.calm()), turn('hints', t('settings.hints')), turn('sounds', t('settings.sounds')),
      button({ text: t('settings.leave'), class: 'button danger', click: () => page.leave() }));
  }
  return { body, show, hide: () => fill(body) };
}

/** @param {import('../main.js').Page} page @returns {import('../../shapes.js').Panel} */
export function aboutPanel(page) {
  const body = el('div', { class: 'stack' });
  function show() {
    const { client, client: { status } } = page;
    fill(body, el('p', { class: 'lead' }, t('about.what')), el('p', null, t('about.licence')),
      el('p', { class: 'row' }, el('a', { class: 'button', href: new URL('/source', status.http || page.origin).href, target: '_blank', rel: 'noopener' }, t('about.source')), everything(page)),
      el('p', null, t('about.privacy')),
      page.code.about,
      facts([[t('about.sim'), el('span', null, `${status.simName ?? ''} `, short(status.sim))], [t('about.server'), el('span', null, `${status.http ?? ''} `, short(status.server))], [t('about.falls'), client.genesis?.introduction?.falls ?? t('about.falls.not')]]),
      el('h3', null, t('about.third')),
      el('ul', null, ...[['uqr 0.1.3', 'MIT']].map(([name, licence]) => el('li', null, `${name} (${licence})`))));
  }
  return { body, show };
}
