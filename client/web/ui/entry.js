/** The first visit: a name, a look, a key. Also where a look is changed later. */

import { bytesOf } from '../core/bytes.js';
import { t, why } from '../strings.js';
import { oval } from '../draw/brush.js';
import { DAY } from '../draw/light.js';
import { drawFigure, Gait } from '../draw/figures.js';
import WARDROBE from '../draw/wardrobe.json' with { type: 'json' };
import { button, el, field, fill, fromHex, openDialog, put, toHex } from './dom.js';

const PARTS = /** @type {AvatarPart[]} */ (Object.keys(WARDROBE));
const shapesOf = (/** @type {AvatarPart} */ part) => Object.keys(WARDROBE[part]);
const COLORS = [0xe4573d, 0xf2b632, 0x3fae6a, 0x2fb5b0, 0x2f8fd8, 0x6a7bd8, 0x9a5fd0, 0xe86aa6, 0xf4f1ea, 0x3b4252];
const NAME_BYTES_MAX = 32;
const PREVIEW = 120;

/** Names for whoever has none yet. */
const FIRST = ['Quiet', 'Bright', 'Swift', 'Gentle', 'Merry', 'Curious', 'Brave', 'Sunny'];
const SECOND = ['Otter', 'Finch', 'Maple', 'Comet', 'Pebble', 'Fox', 'River', 'Lark'];

const pick = (/** @type {any[]} */ list) => list[Math.floor(Math.random() * list.length)];

/** Somebody new. */
export function newcomer() {
  const worn = (/** @type {AvatarPart} */ part) => ({ shape: pick(shapesOf(part)), color: pick(COLORS) });
  const look = { ...worn('body'), color: pick(COLORS.slice(0, 8)), head: worn('head'), hands: null, hat: worn('hat') };
  return { name: `${pick(FIRST)} ${pick(SECOND)}`, look };
}

/** Choices of shape and colour for each part, with a figure that wears them. @param {Look} look changed in place */
export function lookChooser(look) {
  const canvas = el('canvas', { class: 'preview', width: PREVIEW * 2, height: PREVIEW * 2, 'aria-hidden': 'true' });
  const gait = new Gait();
  const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const started = performance.now();
  const draw = (/** @type {number} */ now) => {
    const ctx = canvas.getContext('2d');
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, canvas.width, canvas.height);
    ctx.translate(PREVIEW, PREVIEW * 1.66);
    oval(ctx, 'rgba(20,24,50,0.25)', 11, 6, 54, 27, 0.2);
    gait.step(0, 0, now);
    const thing = { hx: 0.35, look, gesture: now - started < 2500 ? 'wave' : null };
    drawFigure(ctx, { thing, gait, s: 120, palette: DAY, now, calm });
    if (canvas.isConnected && !calm) requestAnimationFrame(draw);
  };
  const redraw = () => draw(performance.now());
  const choice = (/** @type {string} */ group, /** @type {string} */ value, /** @type {string} */ label, /** @type {boolean} */ on, /** @type {() => void} */ take, /** @type {Node | null} */ sample) =>
    el('label', { class: `choice ${group}`, title: label },
      el('input', { type: 'radio', name: group, value, checked: on, on: { change: () => { take(); redraw(); } } }),
      sample ?? el('span', null, label), sample && el('span', { class: 'hidden' }, label));
  const shapes = el('fieldset', { class: 'choices' });
  const colors = el('fieldset', { class: 'choices' });
  const offer = (/** @type {AvatarPart} */ part) => {
    const worn = part === 'body' ? look : look[part];
    const change = (/** @type {string} */ shape) => () => {
      if (part === 'body') look.shape = shape;
      else look[part] = shape === 'none' ? null : { color: look.color, ...worn, shape };
      offer(part);
      /** @type {HTMLElement | null} */ (shapes.querySelector(':checked'))?.focus();
    };
    const names = part === 'body' ? shapesOf(part) : ['none', ...shapesOf(part)];
    fill(shapes, el('legend', null, t('enter.look')),
      ...names.map((shape) => choice('shape', shape, t(`shape.${part}.${shape}`), (worn?.shape ?? 'none') === shape, change(shape), null)));
    // Nothing has no colour.
    const dye = (/** @type {number} */ color) => { if (worn) worn.color = color; };
    const free = el('input', { type: 'color', value: toHex(worn?.color ?? 0), 'aria-label': t('enter.color'), on: { input: () => { dye(fromHex(free.value)); redraw(); } } });
    colors.disabled = !worn;
    fill(colors, el('legend', null, t('enter.color')),
      ...COLORS.map((color) => {
        const dot = el('i', { class: 'dot' });
        dot.style.background = toHex(color);
        return choice('color', toHex(color), toHex(color), worn?.color === color, () => { dye(color); free.value = toHex(color); }, dot);
      }), free);
  };
  const parts = el('fieldset', { class: 'choices' }, el('legend', null, t('enter.part')),
    ...PARTS.map((part) => choice('part', part, t(`part.${part}`), part === 'body', () => offer(part), null)));
  offer('body');
  queueMicrotask(() => requestAnimationFrame(draw));
  return el('div', { class: 'chooser' }, canvas, el('div', { class: 'stack grow' }, parts, shapes, colors));
}

/** Where a key from elsewhere is pasted and taken. @param {(text: string, passphrase: string) => Promise<unknown>} take throws if it is none */
export function keyTaker(take) {
  const bad = el('p', { class: 'bad', role: 'alert' });
  const label = t('settings.key.paste');
  const key = el('textarea', { rows: 3, 'aria-label': label, placeholder: label });
  const passphrase = el('input', { type: 'password', maxlength: '1024', autocomplete: 'off' });
  const click = async () => {
    const trouble = await take(key.value, passphrase.value).then(() => null, (error) => error);
    put(bad, trouble === null ? '' : t('settings.key.bad', { why: why(trouble) }));
  };
  return el('div', { class: 'stack' }, key, field(t('key.passphrase.sealed'), passphrase), bad, button({ text: t('settings.key.use'), click }));
}

/**
 * Asks who somebody is; resolves with the name and look.
 * @param {Person} first what to begin with
 * @param {(text: string, passphrase: string) => Promise<void>} useKey takes a key from elsewhere; throws if it is none
 * @param {HTMLElement} about what the sim says of itself
 * @param {string | null} trouble why the last attempt failed
 * @returns {Promise<Person>}
 */
export function askWho(first, useKey, about, trouble = null) {
  const look = structuredClone(first.look);
  const name = el('input', { type: 'text', value: first.name, required: true, maxlength: NAME_BYTES_MAX, autocomplete: 'nickname', autofocus: true });
  const bad = el('p', { class: 'bad', role: 'alert' }, trouble ? t('enter.failed', { why: trouble }) : '');
  const have = el('details', null, el('summary', null, t('enter.have')), keyTaker(useKey));
  const go = el('button', { type: 'submit', class: 'button primary' }, t('enter.go'));
  return new Promise((resolve) => {
    // What the sim says of itself comes in between. The button stays where it is, or a click at that moment is lost.
    const body = el('div', { class: 'stack' }, about, el('p', { class: 'quiet' }, t('enter.intro')),
      field(t('enter.name'), name, t('enter.name.hint')), lookChooser(look), have);
    const dialog = openDialog('enter', t('enter.title'), [body, bad, go], (event) => {
      event.preventDefault();
      const chosen = name.value.trim();
      const fits = chosen && bytesOf(chosen) <= NAME_BYTES_MAX;
      name.setCustomValidity(fits ? '' : t('enter.name.hint'));
      if (!fits) return name.reportValidity();
      dialog.close();
      resolve({ name: chosen, look });
    });
    name.addEventListener('input', () => name.setCustomValidity(''));
    // There is nobody to be without a name.
    dialog.addEventListener('cancel', (/** @type {Event} */ event) => event.preventDefault());
    name.select();
  });
}
