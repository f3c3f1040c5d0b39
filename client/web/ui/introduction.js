// @ts-check
/** What a sim says of itself, and the house rules that people agree to before they enter. */

import { keep, recall } from '../core/store.js';
import { t } from '../strings.js';
import { button, el, openDialog } from './dom.js';

/** The digests of the house rules that were agreed to in this browser. */
const AGREED = 'metatopia.agreed';

/** Those agreed to longest ago are asked again. */
const AGREED_MAX = 200;

/**
 * @typedef {object} Introduction
 * @property {string|null} world the one that it lies in
 * @property {string} description
 * @property {string[]} tags
 * @property {string} houseRules empty if there are none
 * @property {string|null} houseRulesDigest
 * @property {string|null} picture an address of its bytes
 */

/** Paragraphs of a text. @param {string} text */
const paragraphs = (text) => text.split(/\n\s*\n/).filter(Boolean).map((part) => el('p', null, part));

/** What a sim says of itself, as elements. @param {Introduction} about */
export function described({ description, tags, picture }) {
  return [
    picture && el('img', { class: 'sim-picture', src: picture, alt: t('intro.picture') }),
    ...paragraphs(description),
    tags.length > 0 && el('p', { class: 'quiet' }, tags.map((tag) => `#${tag}`).join(' ')),
  ];
}

/**
 * Asks whether somebody agrees to the house rules, unless there are none or they did before.
 * @param {string} name the sim's @param {Introduction} about @returns {Promise<boolean>}
 */
export async function agrees(name, about) {
  const digest = about.houseRulesDigest;
  const kept = recall(AGREED);
  /** @type {string[]} */
  const known = Array.isArray(kept) ? kept : [];
  if (digest === null || known.includes(digest)) return true;
  const agreed = await ask(name, about);
  if (agreed) keep(AGREED, [...known, digest].slice(-AGREED_MAX));
  return agreed;
}

/** @param {string} name @param {Introduction} about @returns {Promise<boolean>} */
function ask(name, about) {
  return new Promise((resolve) => {
    const answer = (/** @type {boolean} */ agreed) => {
      dialog.close();
      resolve(agreed);
    };
    const dialog = openDialog('rules', el('form', { method: 'dialog', class: 'stack', on: { submit: (/** @type {Event} */ event) => event.preventDefault() } }, el('h1', { id: 'rules-title' }, t('rules.title', { sim: name })),
      ...described(about), el('h2', null, t('rules.rules')), ...paragraphs(about.houseRules),
      el('p', { class: 'row' },
        button({ text: t('rules.agree'), class: 'button primary', click: () => answer(true) }),
        button({ text: t('rules.look'), click: () => answer(false) }))));
    dialog.addEventListener('cancel', () => answer(false));
  });
}
