/** Builders' tools for a thing of one's own. */

import { t } from '../strings.js';
import { button, el, field, fill, fromHex, options, part, toHex } from './dom.js';
import { attempt } from './toast.js';

const MATERIALS = ['wood', 'stone', 'steel', 'rubber', 'ice', 'foam'];
const round = (/** @type {number} */ n) => String(Math.round(n * 100) / 100);

/**
 * Brings the fields up to what a thing is now, but for the one that is being filled in.
 * @param {HTMLElement} box @param {any} thing @param {Pose} at
 */
export function refreshOwn(box, thing, at) {
  const now = figures(thing, at);
  for (const input of /** @type {NodeListOf<HTMLInputElement>} */ (box.querySelectorAll('input[data-own]'))) {
    const value = now[input.dataset.own ?? ''];
    if (input !== document.activeElement && input.value !== value) input.value = value;
  }
}

const degrees = (/** @type {number} */ angle) => String(((Math.round((angle * 180) / Math.PI) % 360) + 360) % 360);

/** What can be typed of a thing, as it is now. @param {any} thing @param {Pose} at @returns {Record<string, string>} */
const figures = ({ hx, hy }, { x, y, angle }) =>
  ({ x: round(x), y: round(y), angle: degrees(angle), w: round(hx * 2), h: round(hy * 2) });

/** What does not move leaves over no border. @param {Page} page @param {any} thing @returns {Node[]} */
export function ownTools(page, thing) {
  const { client, toasts } = page;
  const [{ build }, { id }] = [client, thing];
  const at = client.sight.at(id, performance.now()) ?? { x: 0, y: 0, angle: 0 };
  const color = el('input', { type: 'color', value: toHex(thing.look.color), on: { change: () => toasts.watch('color', build.color(id, fromHex(color.value))) } });
  const [x, y, angle, w, h] = Object.entries(figures(thing, at)).map(([key, value]) => el('input', {
    type: 'number', inputmode: 'decimal', step: 'any', min: key === 'w' || key === 'h' ? 0.1 : null, value, 'data-own': key,
  }));
  const name = el('input', { type: 'text', value: thing.name, maxlength: 32 });
  const text = el('input', { type: 'text', value: thing.text, maxlength: 256 });

  const changed = (/** @type {any} */ input, /** @type {string} */ what, /** @type {() => Promise<any>} */ act) =>
    input.addEventListener('change', () => input.checkValidity() && toasts.watch(what, act()));
  for (const input of [x, y]) changed(input, 'move', () => build.move(id, Number(x.value), Number(y.value)));
  for (const input of [w, h]) changed(input, 'resize', () => build.resize(id, Number(w.value), thing.round ? Number(w.value) : Number(h.value)));
  changed(angle, 'rotate', () => build.rotate(id, (Number(angle.value) * Math.PI) / 180));
  changed(name, 'rename', () => build.rename(id, name.value));
  changed(text, 'write', () => build.write(id, text.value));

  return [
    el('h3', null, t('own.title')),
    el('p', { class: 'quiet' }, t('own.hint')),
    el('div', { class: 'grid' },
      field(t('own.x'), x), field(t('own.y'), y), field(t('own.w'), w), !thing.round && field(t('own.h'), h),
      field(t('own.angle'), angle), field(t('own.color'), color), field(t('own.name'), name), field(t('own.text'), text)),
    el('p', { class: 'row' },
      button({ icon: 'copy', text: t('own.copy'), click: () => toasts.watch('copy', build.copy(id, at.x + thing.hx * 2 + 0.3, at.y)) }),
      thing.movable && button({ text: t(thing.travels ? 'own.stay' : 'own.travel'), title: t('own.travel.hint'), click: () => page.group.travel(id, !thing.travels) }),
      client.joints.some(({ a, b }) => a === id || b === id) && button({ text: t('own.unjoin'), click: () => toasts.watch('unjoin', build.unjoin(id)) }),
      button({ text: t('own.stow'), title: t('own.stow.hint'), click: () => toasts.watch('stow', build.stow(id)) }),
      button({ text: t(thing.sensor ? 'own.solid' : 'own.sensor'), title: t('own.sensor.hint'), click: () => toasts.watch('sensor', build.makeSensor(id, !thing.sensor)) }),
      button({ text: t('own.remove'), class: 'button danger', click: () => page.tools.remove() }),
      button({ icon: 'undo', text: t('what.undo'), click: () => page.undo() })),
    choosing(page, { title: t('own.give'), go: t('own.give.do'), note: t('own.give.sure') },
      async () => (await client.players()).filter(({ key }) => key !== page.identity.public).map((p) => [p.key, p.name]),
      (key) => toasts.watch('give', build.give(id, key))),
    choosing(page, { title: t('own.material'), go: t('own.material.do') }, async () => MATERIALS.map((name) => [name, t(`material.${name}`)]), (name) => toasts.watch('material', build.makeOf(id, name))),
    choosing(page, { title: t('own.attach'), go: t('own.attach.do') },
      async () => (await client.packages()).map((each) => [each.id, `${each.name} ${each.version}`]),
      (hash) => toasts.watch('attach', build.attach(id, hash))),
  ];
}

/**
 * What can be chosen is asked for when it is opened.
 * @param {Page} page @param {{title: string, go: string, note?: string}} words
 * @param {() => Promise<[value: string, name: string][]>} ask @param {(value: string) => void} act
 */
export function choosing(page, { title, go, note }, ask, act) {
  const which = el('select', { 'aria-label': title });
  const row = el('p', { class: 'row' }, which, button({ text: go, click: () => which.value && act(which.value) }));
  const load = () => box.open && attempt(page.toasts, async () => fill(which, ...options(await ask())));
  const box = part(title, { toggle: load }, note ? el('p', { class: 'quiet' }, note) : null, row);
  return box;
}
