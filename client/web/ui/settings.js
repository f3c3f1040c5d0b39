// @ts-check
/** One's look and key, and how the picture looks; and what all this is. */

import { t, why } from '../strings.js';
import { button, el, facts, fill, put, short } from './dom.js';
import { lookChooser } from './entry.js';
import { qr } from './qr.js';
import { copied, everything } from './source.js';

/** @param {import('../main.js').Page} page @returns {import('./dock.js').Panel} */
export function settingsPanel(page) {
  const body = el('div', { class: 'stack' });
  function show() {
    const { settings } = page;
    const light = el('select', { on: { change: () => page.set('light', light.value) } },
      ...['auto', 'day', 'dusk'].map((value) => el('option', { value }, t(`light.${value}`))));
    light.value = settings.light;
    const turn = (/** @type {'calm' | 'hints' | 'sounds'} */ name, /** @type {string} */ words, checked = settings[name]) => el('label', { class: 'switch' },
      el('input', { type: 'checkbox', checked, on: { change: (/** @type {any} */ { target }) => page.set(name, target.checked) } }), el('span', null, words));
    const look = structuredClone(page.person.look);
    fill(body,
      el('h3', null, t('settings.you')),
      el('p', null, el('b', null, page.person.name), ' ', short(page.identity?.public ?? null)),
      el('details', { class: 'card' }, el('summary', null, t('settings.look')),
        el('div', { class: 'stack' }, lookChooser(look), button({ text: t('own.apply'), class: 'button primary', click: () => page.setLook(structuredClone(look)) }))),
      keyBox(page),
      el('h3', null, t('settings.picture')),
      el('label', { class: 'field' }, el('span', null, t('settings.light')), light),
      turn('calm', t('settings.motion'), page.calm()), turn('hints', t('settings.hints')), turn('sounds', t('settings.sounds')),
      button({ text: t('settings.leave'), class: 'button danger', click: () => page.leave() }));
  }
  return { body, show, hide: () => fill(body) };
}

/** @param {import('../main.js').Page} page */
function keyBox(page) {
  const { identity } = page;
  const shown = el('div', { class: 'stack' });
  const toggle = button({
    text: t('settings.key.show'),
    click: async () => {
      const hide = shown.firstChild !== null;
      put(toggle, t(hide ? 'settings.key.show' : 'settings.key.hide'));
      if (hide) return fill(shown);
      const text = await identity.export();
      fill(shown, qr(text, t('settings.key.qr')), el('code', { class: 'key' }, text), button({ icon: 'copy', text: t('copy'), click: () => copied(page, text) }));
    },
  });
  const paste = el('textarea', { rows: 3, 'aria-label': t('settings.key.paste'), placeholder: t('settings.key.paste') });
  const bad = el('p', { class: 'bad', role: 'alert' });
  const use = button({
    text: t('settings.key.use'),
    click: async () => {
      try {
        await page.useKey(paste.value);
        location.reload();
      } catch (error) {
        put(bad, t('settings.key.bad', { why: why(error) }));
      }
    },
  });
  return el('section', { class: 'stack' }, el('h3', null, t('settings.key')), el('p', { class: 'quiet' }, t('settings.key.how')),
    el('p', null, identity?.kept === false ? t('phase.key', { why: t(`store.${identity.why}`) }) : t('settings.key.kept')),
    toggle, shown, el('details', { class: 'card' }, el('summary', null, t('settings.key.import')), el('div', { class: 'stack' }, paste, bad, use)));
}

/** @param {import('../main.js').Page} page @returns {import('./dock.js').Panel} */
export function aboutPanel(page) {
  const body = el('div', { class: 'stack' });
  function show() {
    const { status } = page.client;
    fill(body, el('p', { class: 'lead' }, t('about.what')), el('p', null, t('about.licence')),
      el('p', { class: 'row' }, el('a', { class: 'button', href: new URL('/source', status.http || page.origin).href, target: '_blank', rel: 'noopener' }, t('about.source')), everything(page)),
      el('p', null, t('about.privacy')),
      page.code.about,
      facts([[t('about.sim'), el('span', null, `${status.simName ?? ''} `, short(status.sim))], [t('about.server'), el('span', null, `${status.http ?? ''} `, short(status.server))]]),
      el('h3', null, t('about.third')),
      el('ul', null, ...[['uqr 0.1.3', 'MIT']].map(([name, licence]) => el('li', null, `${name} (${licence})`))));
  }
  return { body, show };
}
