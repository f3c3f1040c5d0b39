// @ts-check
/** The palette of things to place. */

import { t } from '../strings.js';
import { button, el, field, fill, fromHex, metres, put, toHex } from './dom.js';

/** What there is to choose from; kinds are also how they are drawn. */
const PALETTE = [
  { id: 'crate', kind: 'crate', w: 0.9, h: 0.9, round: false, movable: true, color: 0xc8964b },
  { id: 'box', kind: 'block', w: 1, h: 1, round: false, movable: false, color: 0x5b8def },
  { id: 'plank', kind: 'beam', w: 3, h: 0.4, round: false, movable: false, color: 0xb98552 },
  { id: 'wall', kind: 'wall', w: 4, h: 0.5, round: false, movable: false, color: 0xa89f91 },
  { id: 'pillar', kind: 'pillar', w: 0.8, h: 0.8, round: true, movable: false, color: 0xd8d2c4 },
  { id: 'table', kind: 'table', w: 1.6, h: 1.6, round: true, movable: false, color: 0x58a884 },
  { id: 'ball', kind: 'ball', w: 0.6, h: 0.6, round: true, movable: true, color: 0xe8e8ff },
  { id: 'sign', kind: 'sign', w: 0.5, h: 0.5, round: true, movable: false, color: 0xf5f0e6 },
];

/** Acts after which one owns something else, or the same somewhere else or by another name. */
const CHANGES = new Set(['place', 'copy', 'remove', 'give', 'undo', 'move', 'rename']);

/** @param {import('../main.js').Page} page @returns {import('./dock.js').Panel} */
export function buildPanel(page) {
  const color = el('input', { type: 'color', value: '#c8964b' });
  let chosen = /** @type {HTMLElement | null} */ (null);
  let touched = false;
  color.addEventListener('input', () => {
    touched = true;
    if (page.tools.spec) page.tools.spec.color = fromHex(color.value);
  });
  const end = () => {
    chosen?.setAttribute('aria-pressed', 'false');
    chosen = null;
  };
  const items = PALETTE.map((entry) => {
    const sample = el('i', { class: `sample${entry.round ? ' round' : ''}` });
    sample.style.background = toHex(entry.color);
    sample.style.width = `${Math.min(34, 12 + entry.w * 9)}px`;
    sample.style.height = entry.round ? sample.style.width : `${Math.min(34, 6 + entry.h * 14)}px`;
    const made = el('button', { type: 'button', class: 'build-item', 'aria-pressed': 'false' }, el('span', { class: 'sample-box' }, sample), t(`kind.${entry.id}`));
    made.addEventListener('click', () => {
      const same = chosen === made;
      page.tools.cancel();
      end();
      if (same) return;
      chosen = made;
      made.setAttribute('aria-pressed', 'true');
      if (!touched) color.value = toHex(entry.color);
      const { id, ...spec } = entry;
      page.tools.begin({ ...spec, name: t(`kind.${id}`).toLowerCase(), text: '', color: fromHex(color.value), licence: 'CcBySa' }, end);
      // Thumbs need the ground under the sheet.
      if (page.narrow()) page.dock.close();
      else page.canvas.focus({ preventScroll: true });
    });
    return made;
  });
  const mine = owned(page);
  const body = el('div', { class: 'stack' }, el('p', { class: 'quiet' }, t('build.intro')), el('div', { class: 'build-grid' }, ...items),
    el('div', { class: 'grid' }, field(t('build.color'), color)),
    el('p', { class: 'row' },
      button({ icon: 'undo', text: t('build.undo'), click: () => page.undo() })), mine.element);
  /** @type {import('./dock.js').Panel} */
  const panel = { ...mine, body, every: 4000, hide: () => !page.narrow() && page.tools.cancel() };
  page.toasts.addEventListener('done', (/** @type {any} */ { detail }) => {
    if (page.dock.open === 'build' && CHANGES.has(detail)) page.dock.load(panel);
  });
  return panel;
}

/** What somebody owns, wherever it is. @param {import('../main.js').Page} page */
function owned(page) {
  const state = el('p', { class: 'quiet', role: 'status' });
  const list = el('ul', { class: 'people' });
  let questions = 0;

  async function load() {
    questions += 1;
    const question = questions;
    const things = await page.client.things();
    // A later question knows better.
    if (question !== questions) return;
    put(state, t(things.length === 1 ? 'build.mine.one' : 'build.mine.count', { n: things.length }));
    if (!list.contains(document.activeElement)) fill(list, ...things.map(row));
  }

  function row(/** @type {any} */ { object, name, x, y }) {
    const seen = page.client.sight.objects.has(object);
    return el('li', null, el('span', { class: 'grow' }, el('b', null, name), ' ', el('small', null, t('thing.where.value', { x: metres(x), y: metres(y) }))),
      seen && button({ text: t('near.details'), class: 'small', 'aria-label': `${t('near.details')}: ${name}`, click: () => page.select(object) }));
  }
  const element = el('section', { class: 'stack' }, el('h3', null, t('build.mine')), state, list);
  return { element, state, load };
}
