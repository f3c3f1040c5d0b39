/** What can be done to several things at once, and their files. */

import { t } from '../strings.js';
import { button, el, field, fileButton, fill, options, put } from './dom.js';

/** Kinds of joints. */
const KINDS = ['hinge', 'rod', 'weld', 'slider', 'rope', 'spring', 'motor'];

/** Bytes that are read of a file of things: more than the client core takes. */
const FILE_READ_MAX = 128 * 1024;

/** Metres by which copies stand beside what they are of, if no grid is wider. */
const BESIDE = 0.5;

/** @param {Page} page @param {() => number} colorOf the colour that is chosen */
export function chosenBox(page, colorOf) {
  const { group, tools } = page;
  const state = el('p', { class: 'quiet', role: 'status' });
  const mistakes = el('ul', { class: 'mistakes', 'aria-label': t('group.mistakes') });
  const picking = button({ text: t('group.picking'), 'aria-pressed': 'false', click: () => pick(!group.picking) });
  const name = el('input', { type: 'text', maxlength: 64, value: t('group.name.first') });
  const kind = el('select', { 'aria-label': t('join.kind') }, ...options(KINDS.map((value) => [value, t(`join.${value}`)])));
  const rate = el('input', { type: 'number', step: 'any', value: '2', 'aria-label': t('join.rate'), title: t('join.rate') });
  const fit = () => (rate.hidden = !['spring', 'motor'].includes(kind.value));
  kind.addEventListener('change', fit);
  fit();
  const joining = button({ text: t('join.do'), click: join });
  const uniting = button({ text: t('join.unite'), title: t('join.unite.how'), click: () => group.unite() });
  const beside = () => Math.max(BESIDE, page.settings.grid);
  const deeds = [
    button({ icon: 'copy', text: t('own.copy'), click: () => group.copy(beside(), beside()) }),
    button({ text: t('group.color'), click: () => group.color(colorOf()) }),
    button({ text: t('own.remove'), class: 'button danger', click: () => group.remove() }),
    button({ text: t('group.none'), click: () => group.clear() }),
    button({ icon: 'download', text: t('group.save'), click: () => group.save(name.value.trim()) }),
  ];

  /** Joins the two things that are chosen; a single one to the ground. */
  function join() {
    const [thing, to = null] = group.ids;
    page.toasts.watch('join', page.client.build.join(thing, to, kind.value, rate.hidden || rate.value === '' ? null : rate.valueAsNumber));
  }

  /** @param {boolean} on */
  function pick(on) {
    group.picking = on;
    update();
    // Thumbs need the ground under the sheet.
    if (on && page.narrow()) page.dock.close();
  }

  /** Reads a file, and has what is in it placed. @param {Blob} chosen */
  async function open(chosen) {
    // Of what is longer than a file may be no more is read than shows that.
    const found = await page.client.readGroup(await chosen.slice(0, FILE_READ_MAX).text());
    fill(mistakes, ...found.mistakes.map((/** @type {string} */ mistake) => el('li', { class: 'bad' }, mistake)));
    if (found.things.length === 0) return;
    name.value = found.name;
    tools.cancel();
    tools.begin(found.things, () => {});
    page.toasts.say(t('group.opened', { name: found.name, n: found.things.length }));
    if (page.narrow()) page.dock.close();
    else page.canvas.focus({ preventScroll: true });
  }

  function update() {
    const { size } = group.ids;
    put(state, size === 0 ? t('group.how') : t(size === 1 ? 'group.one' : 'group.count', { n: size }));
    for (const deed of deeds) deed.disabled = size === 0;
    joining.disabled = size !== 1 && size !== 2;
    uniting.disabled = size < 2;
    put(joining, t(size === 1 ? 'join.ground' : 'join.do'));
    picking.setAttribute('aria-pressed', String(group.picking));
  }
  group.addEventListener('changed', update);
  update();
  return el('section', { class: 'stack' }, el('h3', null, t('group.title')), state,
    el('p', { class: 'row' }, picking, ...deeds.slice(0, 4)), el('p', { class: 'row' }, kind, rate, joining, uniting), field(t('group.name'), name),
    el('p', { class: 'row' }, deeds[4], fileButton(t('group.open'), '.json,application/json', open)), mistakes);
}
