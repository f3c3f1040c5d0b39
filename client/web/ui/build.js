/** The palette of things to place, and what is done to several at once. */

import { DAY } from '../draw/light.js';
import { t } from '../strings.js';
import { button, el, field, fill, fromHex, metres, options, put, toHex } from './dom.js';
import { chosenBox } from './chosen.js';
import { groundHere } from './lots.js';
import { ask } from './moderate.js';
import { PALETTE, sampleOf } from './palette.js';

/** Grids to choose from, in metres. */
const GRIDS = [0, 0.1, 0.5, 1];

/** Acts after which one owns something else, or the same somewhere else or by another name. */
const CHANGES = new Set(['place', 'copy', 'remove', 'give', 'undo', 'unite', 'move', 'rename', 'stow', 'fetch', 'discard']);

/** @param {Page} page @returns {Panel} */
export function buildPanel(page) {
  const color = el('input', { type: 'color', value: '#c8964b' });
  const corners = el('input', { value: '0,0 2,0 1,1' });
  const spread = (/** @type {number} */ axis) => {
    const all = corners.value.split(/\s+/).map((at) => Number(at.split(',')[axis]) || 0);
    return Math.max(...all) - Math.min(...all);
  };
  let chosen = /** @type {HTMLElement | null} */ (null);
  let touched = false;
  color.addEventListener('input', () => {
    touched = true;
    for (const part of page.tools.plan?.parts ?? []) part.color = fromHex(color.value);
  });
  const end = () => {
    chosen = (chosen?.setAttribute('aria-pressed', 'false'), null);
  };
  /** @type {HTMLElement[]} */
  const items = PALETTE.map((entry) => {
    const click = () => {
      const same = chosen === made;
      page.tools.cancel();
      end();
      if (same) return;
      chosen = made;
      made.setAttribute('aria-pressed', 'true');
      if (!touched) color.value = toHex(entry.color);
      const { id, ...spec } = entry;
      if (id === 'polygon') Object.assign(spec, { outline: corners.value, w: spread(0), h: spread(1) });
      page.tools.begin({ ...spec, name: t(`kind.${id}`).toLowerCase(), text: '', color: fromHex(color.value), licence: 'CcBySa' }, end);
      // Thumbs need the ground under the sheet.
      page.narrow() ? page.dock.close() : page.canvas.focus({ preventScroll: true });
    };
    const made = el('button', { type: 'button', class: 'build-item', 'aria-pressed': 'false', on: { click } }, el('span', { class: 'sample-box' }, sampleOf(entry, DAY)), t(`kind.${entry.id}`));
    return made;
  });
  const grid = el('select', { on: { change: () => page.set('grid', Number(grid.value)) } }, ...options(GRIDS.map((size) => [size, size ? t('build.grid.size', { size }) : t('build.grid.off')])));
  grid.value = String(page.settings.grid);
  const [mine, ground] = [owned(page), groundHere(page)];
  const body = el('div', { class: 'stack' }, el('p', { class: 'quiet' }, t('build.intro')), ground.element, el('div', { class: 'build-grid' }, ...items),
    el('div', { class: 'grid' }, field(t('build.color'), color), field(t('build.grid'), grid), field(t('build.corners'), corners)),
    el('p', { class: 'row' }, button({ icon: 'undo', text: t('build.undo'), click: () => page.undo() })), chosenBox(page, () => fromHex(color.value)), mine.element);
  /** @type {Panel} */
  const panel = { ...mine, body, update: ground.update, every: 4000, hide: () => !page.narrow() && page.tools.cancel() };
  page.toasts.addEventListener('done', (/** @type {any} */ { detail }) => {
    if (page.dock.open === 'build' && CHANGES.has(detail)) page.dock.load(panel);
  });
  return panel;
}

/** What somebody owns, wherever it is. @param {Page} page */
function owned(page) {
  const state = el('p', { class: 'quiet', role: 'status' });
  const list = el('ul', { class: 'people' });
  /** What chooses a thing, for who has no pointer. @type {Map<number, HTMLInputElement>} */
  const boxes = new Map();
  let questions = 0;
  page.group.addEventListener('changed', () => boxes.forEach((box, id) => (box.checked = page.group.ids.has(id))));

  async function load() {
    questions += 1;
    const question = questions;
    const things = await page.client.things();
    // A later question knows better.
    if (question !== questions) return;
    put(state, t(things.length === 1 ? 'build.mine.one' : 'build.mine.count', { n: things.length }));
    if (list.contains(document.activeElement)) return;
    boxes.clear();
    fill(list, ...things.map(row));
  }

  function row(/** @type {any} */ { object, name, x, y, stowed }) {
    const seen = page.client.sight.objects.has(object);
    const box = el('input', { type: 'checkbox', 'aria-label': t('build.pick', { name }), checked: page.group.ids.has(object), on: { change: () => page.group.toggle(object) } });
    boxes.set(object, box);
    return el('li', null, seen && box, el('span', { class: 'grow' }, el('b', null, name), ' ', el('small', null, stowed ? t('build.stowed') : t('thing.where.value', { x: metres(x), y: metres(y) }))),
      stowed && button({ text: t('build.fetch'), class: 'small', 'aria-label': `${t('build.fetch')}: ${name}`, click: () => (page.canvas.focus({ preventScroll: true }), page.toasts.watch('fetch', page.client.build.fetch(object, stowed.hx, stowed.hy, stowed.movable))) }),
      stowed && button({ text: t('build.discard'), class: 'small danger', 'aria-label': `${t('build.discard')}: ${name}`, click: () => ask(t('build.discard.sure', { name }), [], () => page.toasts.watch('discard', page.client.build.discard(object))) }),
      seen && button({ text: t('near.details'), class: 'small', 'aria-label': `${t('near.details')}: ${name}`, click: () => page.select(object) }));
  }
  const element = el('section', { class: 'stack' }, el('h3', null, t('build.mine')), state, list);
  return { element, state, load };
}
