/** What a sim says of itself, and the house rules that people agree to before they enter. */

import { keep, recall } from '../core/store.js';
import { t } from '../strings.js';
import { button, el, openDialog } from './dom.js';

/** The digests of the house rules that were agreed to in this browser. */
const AGREED = 'metatopia.agreed';

/** Those agreed to longest ago are asked again. */
const AGREED_MAX = 200;

/** Those agreed to in this tab: a browser may keep nothing. */
const here = /** @type {Set<string>} */ (new Set());
/** The digests of the house rules that the person agreed to. @returns {string[]} */
export const agreed = () => [...new Set([recall(AGREED) ?? [], ...here].flat())];

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

/** The questions that are open, one for each sim. */
const open = /** @type {WeakMap<Engine, Promise<boolean>>} */ (new WeakMap());

/** Asks whether somebody agrees to the house rules that hold, unless there are none or they did before. @param {Engine} client */
export function agrees(client) {
  const question = open.get(client) ?? agreesNow(client).finally(() => open.delete(client));
  open.set(client, question);
  return question;
}

/** @param {Engine} client @returns {Promise<boolean>} */
async function agreesNow(client) {
  const about = client.genesis?.introduction;
  const digest = about?.houseRulesDigest ?? null;
  if (!about || digest === null || agreed().includes(digest)) return true;
  if (!(await ask(client.status.simName ?? '', { ...about }))) return false;
  here.add(digest);
  keep(AGREED, agreed().slice(-AGREED_MAX));
  // Others may hold since they were shown.
  return agreesNow(client);
}

/** @param {string} name @param {Introduction} about @returns {Promise<boolean>} */
function ask(name, about) {
  return new Promise((resolve) => {
    const answer = (/** @type {boolean} */ agreed) => {
      dialog.close();
      resolve(agreed);
    };
    const dialog = openDialog('rules', t('rules.title', { sim: name }), [
      ...described(about).filter(Boolean), el('h2', { tabindex: '-1', autofocus: true }, t('rules.rules')), ...paragraphs(about.houseRules),
      el('p', { class: 'row' },
        button({ text: t('rules.agree'), class: 'button primary', click: () => answer(true) }),
        button({ text: t('rules.look'), click: () => answer(false) })),
    ], (event) => event.preventDefault());
    dialog.addEventListener('cancel', () => answer(false));
  });
}
