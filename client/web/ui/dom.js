// @ts-check
/** Elements from code: text is always text, never markup. */

import { t } from '../strings.js';

const SVG = 'http://www.w3.org/2000/svg';

/**
 * Makes an element. Properties: `class`, `on` (listeners), `data`, and anything an attribute can be;
 * `true` sets an attribute, `false` and `null` leave it out.
 * @param {string} tag @param {Record<string, any> | null} [props]
 * @param {...(Node | string | null | false | undefined)} children
 * @returns {any}
 */
export function el(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === false || value === undefined) continue;
    if (name === 'on') for (const [event, call] of Object.entries(value)) element.addEventListener(event, /** @type {any} */ (call));
    else if (name === 'class') element.className = value;
    else if (name === 'value') /** @type {any} */ (element).value = value;
    else if (name === 'checked') /** @type {any} */ (element).checked = value;
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children) if (child !== null && child !== false && child !== undefined) element.append(child);
  return element;
}

/** Replaces what is in an element. @param {Element} element @param {...(Node | string | null | false | undefined)} children */
export function fill(element, ...children) {
  element.replaceChildren(.../** @type {(Node | string)[]} */ (children.filter((c) => c !== null && c !== false && c !== undefined)));
}

/** Sets text only if it differs, so that live regions stay quiet. @param {Element} element @param {string} text */
export function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Outlines of icons, drawn with strokes on a square of 24. */
const ICONS = {
  near: 'M12 3v3M12 18v3M3 12h3M18 12h3M12 9a3 3 0 100 6 3 3 0 000-6z',
  people: 'M9 11a3.5 3.5 0 100-7 3.5 3.5 0 000 7zM2.5 20c0-3.6 2.9-6 6.5-6s6.5 2.4 6.5 6M16 4.3a3.5 3.5 0 010 6.4M18 14.6c2.2.8 3.5 2.8 3.5 5.4',
  build: 'M4 8l8-4 8 4v8l-8 4-8-4zM4 8l8 4 8-4M12 12v8',
  order: 'M9 6h11M9 12h11M9 18h11M4 5l1-.7V8M3.6 11h2L3.5 14h2.2M3.7 16.5h1.6c1.2 0 1.2 1.6 0 1.6 1.2 0 1.2 1.8 0 1.8H3.6',
  proof: 'M12 3l8 3v6c0 5-3.4 8-8 9-4.6-1-8-4-8-9V6zM8.5 12l2.5 2.5 4.5-5',
  servers: 'M4 5h16v5H4zM4 14h16v5H4zM7.5 7.5h.01M7.5 16.5h.01',
  governance: 'M12 4l8 4H4zM6 8v9M10 8v9M14 8v9M18 8v9M4 20h16M4 17h16',
  share: 'M12 15V4M8 8l4-4 4 4M5 12v7h14v-7',
  settings: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4',
  about: 'M12 21a9 9 0 100-18 9 9 0 000 18zM12 11v5M12 8h.01',
  thing: 'M11 18a7 7 0 100-14 7 7 0 000 14zM20 20l-4-4',
  source: 'M8 7l-5 5 5 5M16 7l5 5-5 5M13.5 5l-3 14',
  menu: 'M4 7h16M4 12h16M4 17h16',
  close: 'M6 6l12 12M18 6L6 18',
  chat: 'M4 5h16v11H10l-4 4v-4H4z',
  emote: 'M12 21a9 9 0 100-18 9 9 0 000 18zM8.5 14.5c1.8 2.2 5.2 2.2 7 0M9 9.5h.01M15 9.5h.01',
  act: 'M9 11V5.5a1.5 1.5 0 013 0V10m0-1a1.5 1.5 0 013 0v1.5m0-.5a1.5 1.5 0 013 0V15c0 3.5-2.2 6-5.5 6-2.6 0-4-1.2-5.2-3.2L5 14.6c-.9-1.5.9-2.8 2-1.6l2 2V8',
  plus: 'M12 5v14M5 12h14',
  minus: 'M5 12h14',
  send: 'M4 12l16-8-5 16-3.5-6.5z',
  undo: 'M8 5L4 9l4 4M4 9h9a6 6 0 010 12h-2',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  download: 'M12 4v11M8 11l4 4 4-4M5 20h14',
  back: 'M15 5l-7 7 7 7',
};

/** An icon; it says nothing to screen readers. @param {string} name */
export function icon(name) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', ICONS[/** @type {keyof typeof ICONS} */ (name)]);
  svg.append(path);
  return svg;
}

/**
 * A button with an icon, words, or both.
 * @param {{icon?: string, text?: string, label?: string, class?: string, click: (event: Event) => void, [more: string]: any}} spec
 */
export function button({ icon: name, text, label, class: css, click, ...more }) {
  return el('button', { type: 'button', class: css ?? 'button', 'aria-label': label ?? null, title: label ?? null, on: { click }, ...more },
    name ? icon(name) : null, text ? el('span', null, text) : null);
}

/** A list of facts. @param {[string, Node | string | null][]} rows */
export function facts(rows) {
  const list = el('dl', { class: 'facts' });
  for (const [name, value] of rows) if (value !== null && value !== '') list.append(el('dt', null, name), el('dd', null, value));
  return list;
}

/** A labelled input. @param {string} label @param {HTMLElement} input @param {string} [hint] */
export function field(label, input, hint) {
  return el('label', { class: 'field' }, el('span', null, label), input, hint ? el('small', null, hint) : null);
}

/** The first digits of a key, as a code with the whole in its title. @param {string | null} hex */
export function short(hex) {
  if (!hex) return el('span', null, t('unknown'));
  return el('code', { class: 'hex', title: hex }, `${hex.slice(0, 6)}\u2026${hex.slice(-4)}`);
}

/** A mark behind what only the server says; this tab has not checked it. */
export function word() {
  return el('small', { class: 'word', title: t('word.how') }, ` ${t('word.mark')}`);
}

/** A line over an answer that only the server gives; nothing where all of it is proven. @param {boolean} proven */
export function wordOf(proven) {
  return proven ? null : el('p', { class: 'quiet word' }, t('word.answer'));
}

/** Lets the browser keep a file. @param {Blob} blob @param {string} name */
export function save(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = el('a', { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Copies text, and says how it went. @param {string} text @returns {Promise<boolean>} */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = el('textarea', { class: 'hidden', value: text });
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}

/** 0xRRGGBB to #rrggbb and back. @param {number} rgb */
export function toHex(rgb) {
  return `#${(rgb & 0xffffff).toString(16).padStart(6, '0')}`;
}

/** @param {string} text */
export function fromHex(text) {
  return Number.parseInt(text.slice(1), 16);
}

/** Metres with one digit. @param {number} n */
export function metres(n) {
  return (Math.round(n * 10) / 10).toLocaleString('en', { maximumFractionDigits: 1 });
}
