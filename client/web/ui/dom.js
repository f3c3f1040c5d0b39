/** Elements from code: text is always text, never markup. */

import { t } from '../strings.js';
/** Outlines of icons, drawn with strokes on a square of 24. */
import ICONS from './icons.json' with { type: 'json' };

const SVG = 'http://www.w3.org/2000/svg';

/**
 * Makes an element. Properties: `class`, `on` (listeners), `data`, and anything an attribute can be;
 * `true` sets an attribute, `false` and `null` leave it out.
 * @param {string} tag @param {Record<string, any> | null} [props]
 * @param {...(Node | string | null | false | undefined)} children @returns {any}
 */
export function el(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === false || value === undefined) continue;
    if (name === 'on') for (const [event, call] of Object.entries(value)) element.addEventListener(event, /** @type {any} */ (call));
    else if (name === 'class') element.className = value;
    else if (name === 'value' || name === 'checked') Object.assign(element, { [name]: value });
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...present(children));
  return element;
}

/** What is there of things that may be left out. @param {unknown[]} children @returns {any[]} */
const present = (children) =>
  children.filter((child) => child !== null && child !== false && child !== undefined);

/** Replaces what is in an element. @param {Element} element @param {...(Node | string | null | false | undefined)} children */
export function fill(element, ...children) {
  element.replaceChildren(...present(children));
}

/** Sets text only if it differs, so that live regions stay quiet. @param {Element} element @param {string} text */
export function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** An icon; it says nothing to screen readers. @param {string} name */
export const icon = (name) => outline(ICONS[/** @type {keyof typeof ICONS} */ (name)]);

/** An element of a picture. @param {string} tag @param {Record<string, any>} attributes @param {...(Node | string)} children */
export function shape(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** An outline on a square of 24; it says nothing to screen readers. @param {string} drawn */
export const outline = (drawn) =>
  shape('svg', { viewBox: '0 0 24 24', class: 'icon', 'aria-hidden': 'true' }, shape('path', { d: drawn }));

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

/** What can be chosen in a field. @param {Choices} choices */
export const options = (choices) =>
  choices.map(([value, text]) => el('option', { value }, String(text)));

/** A field in which one of several is chosen. @param {string} label @param {Choices} choices */
export function choice(label, choices) {
  const select = el('select', null, ...options(choices));
  return { select, element: field(label, select) };
}

/**
 * A part of a panel that is closed at first.
 * @param {string} title @param {Record<string, any>} on listeners
 * @param {...(Node | string | null | false)} parts
 */
export const part = (title, on, ...parts) =>
  el('details', { class: 'card', on }, el('summary', null, title), el('div', { class: 'stack' }, ...parts));

/** The first digits of a key, as a code with the whole in its title. @param {string | null} hex */
export function short(hex) {
  if (!hex) return el('span', null, t('unknown'));
  return el('code', { class: 'hex', title: hex }, `${hex.slice(0, 6)}\u2026${hex.slice(-4)}`);
}

/** A mark behind what only the server says; this tab has not checked it. */
export const word = () => el('small', { class: 'word', title: t('word.how') }, ` ${t('word.mark')}`);

/** A line over an answer that only the server gives; nothing where all of it is proven. @param {boolean} proven */
export const wordOf = (proven) => (proven ? null : el('p', { class: 'quiet word' }, t('word.answer')));

/** A switch with its words. @param {HTMLElement} input @param {string} words */
export const switchOf = (input, words) => el('label', { class: 'switch' }, input, el('span', null, words));

/** A button that asks for a file. @param {string} text @param {string} accept @param {(file: File) => unknown} take */
export function fileButton(text, accept, take) {
  const input = el('input', { type: 'file', accept, class: 'hidden', tabindex: -1, 'aria-hidden': 'true', on: { change: () => ([...(input.files ?? [])].forEach(take), (input.value = '')) } });
  return el('span', null, button({ text, click: () => input.click() }), input);
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

/** 0xRRGGBB to #rrggbb and back. */
export { css as toHex, fromHex } from '../draw/light.js';

/**
 * Opens a dialog before all else; it is gone when it is closed.
 * @param {string} name of its title, before `-title` @param {string} title @param {(Node | string)[]} parts
 * @param {(event: Event) => unknown} [submit] @returns {any}
 */
export function openDialog(name, title, parts, submit = () => {}) {
  const dialog = el('dialog', { class: `entry ${name}`, 'aria-labelledby': `${name}-title` },
    el('form', { method: 'dialog', class: 'stack', on: { submit } }, el('h1', { id: `${name}-title` }, title), ...parts));
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** A part of the page, which knows all of it, and has methods of its own hear what the client tells. */
export class PagePart extends EventTarget {
  /** Methods by the events that they hear of. @type {Record<string, string>} */
  static hears = {};

  /** @param {Page} page */
  constructor(page) {
    super();
    this.page = page;
    for (const [event, method] of Object.entries(new.target.hears)) page.client.addEventListener(event, (/** @type {any} */ { detail }) => /** @type {any} */ (this)[method](detail));
  }
}

/** Has Escape do something here, and nothing around it. @template {HTMLElement} T @param {T} element @param {() => void} act */
export function onEscape(element, act) {
  element.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    act();
  });
  return element;
}

/** Metres with one digit. @param {number} n */
export const metres = (n) => (Math.round(n * 10) / 10).toLocaleString('en', { maximumFractionDigits: 1 });
