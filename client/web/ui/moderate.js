// @ts-check
/** Orders about people, for those who may give them, and the list of what was ordered. */

import { refusal, t, why } from '../strings.js';
import { button, el, field, fill, openDialog, short } from './dom.js';

/** What may be done about a person. */
const VERBS = ['mute', 'kick', 'ban', 'unmute', 'unban', 'grant', 'revoke'];
/** How long it may last, in seconds; the last one is for good. */
const TIMES = /** @type {[string, number | null][]} */ ([['minutes', 600], ['hour', 3_600], ['day', 86_400], ['ever', null]]);
const [TIMED, REASONED, OF_RIGHTS] = [['mute', 'ban', 'grant'], ['mute', 'ban'], ['grant', 'revoke']].map((verbs) => new Set(verbs));
/** What a role can give. */
const RIGHTS = ['build', 'script', 'speak', 'moderate', 'land', 'borders', 'servers', 'administer'];

/** Has somebody a right here? @param {{admin: boolean, rights: {right: string}[]}} person @param {string} wanted */
export const may = ({ admin, rights }, wanted) => admin || rights.some(({ right }) => right === wanted);
/** May somebody moderate here? @param {{admin: boolean, rights: {right: string}[]}} person */
export const mayModerate = (person) => may(person, 'moderate');

/**
 * An order in the words of the core.
 * @param {string} verb @param {string} key @param {string} time a word of `TIMES` @param {string} reason @param {string} [right]
 */
export function orderOf(verb, key, time, reason, right) {
  const seconds = TIMES.find(([word]) => word === time)?.[1] ?? null;
  return { verb, key, ...(OF_RIGHTS.has(verb) && { rights: [right] }), ...(TIMED.has(verb) && { seconds }), ...(REASONED.has(verb) && { reason }) };
}

/** @param {string} label @param {[string, string][]} choices */
function choice(label, choices) {
  const select = el('select', null, ...choices.map(([value, text]) => el('option', { value }, text)));
  return { select, element: field(label, select) };
}

/** Asks what to do about somebody, and orders it. @param {import('../main.js').Page} page @param {{name: string, key: string}} player @param {boolean} admin */
export function moderate(page, { name, key }, admin) {
  const verbs = VERBS.filter((word) => admin || !OF_RIGHTS.has(word));
  const right = choice(t('moderate.right'), RIGHTS.map((word) => [word, t(`right.${word}`)]));
  const verb = choice(t('moderate.what'), verbs.map((word) => [word, t(`moderate.${word}`)]));
  const time = choice(t('moderate.time'), TIMES.map(([word]) => [word, t(`moderate.for.${word}`)]));
  const reason = el('input', { type: 'text', maxlength: '120' });
  const because = field(t('moderate.reason'), reason, t('moderate.reason.hint'));
  const parts = /** @type {[HTMLElement, Set<string>][]} */ ([[right.element, OF_RIGHTS], [time.element, TIMED], [because, REASONED]]);
  const fit = () => parts.forEach(([part, verbs]) => (part.hidden = !verbs.has(verb.select.value)));
  verb.select.addEventListener('change', fit);
  fit();
  ask(t('moderate.title', { name }), [short(key), verb.element, ...parts.map(([part]) => part)],
    () => order(page, orderOf(verb.select.value, key, time.select.value, reason.value.trim(), right.select.value)));
}

/** Asks something in a dialog. @param {string} title @param {(Node|string)[]} parts @param {() => unknown} submit */
export function ask(title, parts, submit) {
  const dialog = openDialog('moderate', el('form', { method: 'dialog', class: 'stack', on: { submit } },
    el('h1', { id: 'moderate-title' }, title), ...parts,
    el('p', { class: 'row' }, el('button', { class: 'button primary', type: 'submit' }, t('moderate.do')), button({ text: t('cancel'), click: () => dialog.close() }))));
}

/** Gives an order, and says what came of it. @param {import('../main.js').Page} page @param {any} given */
export const order = (page, given) => settle(page, page.client.govern(given), t('moderate.done'));

/** Says what came of an act. @param {import('../main.js').Page} page @param {Promise<import('../core/engine.js').Result>} act @param {string} done */
export async function settle(page, act, done) {
  try {
    const { ok, refusal: code } = await act;
    page.toasts.say(ok ? done : t('moderate.refused', { why: refusal(code) }), ok ? 'good' : 'bad');
  } catch (error) {
    page.toasts.say(t('failed', { why: why(error) }), 'bad');
  }
}

/** What was done to what, and on which terms. @param {any} each @returns {[string, string]} */
export function told({ verb, detail, object, lasts }) {
  const what = [t(`did.${verb}`), object == null ? '' : t('did.object', { object })].filter(Boolean).join(' ');
  return [what, [lasts, detail].filter(Boolean).join(', ')];
}

/** What sets the message of the day, for who may speak for the sim. @param {import('../main.js').Page} page */
export function motdTool(page) {
  const text = el('input', { type: 'text', maxlength: '400' });
  const set = button({ text: t('motd.set'), click: () => order(page, { verb: 'motd', text: text.value.trim() }) });
  const element = el('section', { class: 'card', hidden: true }, field(t('motd.words'), text, t('motd.hint')), set);
  /** @param {string} now */
  const show = async (now) => {
    text.value = now ?? '';
    element.hidden = !may(await page.client.person(), 'speak');
  };
  return { element, show };
}

/** The list of what was ordered, newest first; older ones come page by page. @param {import('../main.js').Page} page */
export function orderList(page) {
  const list = el('ol', { class: 'order orders' });
  const more = button({ text: t('did.more'), class: 'small', click: () => show(last) });
  let [last, moderates] = [/** @type {number | null} */ (null), false];

  function row(/** @type {any} */ each) {
    const lift = moderates && ['mute', 'ban'].includes(each.verb) && each.person;
    const [what, terms] = told(each);
    return el('li', null, el('b', null, what), ' ', each.person && short(each.person), ' ', terms, el('br'),
      el('small', null, t('did.by', { height: each.height, warrant: each.warrant }), ' '), short(each.by),
      lift && button({ text: t('moderate.lift'), class: 'small', click: () => order(page, { verb: `un${each.verb}`, key: each.person }) }));
  }

  /** Adds a page of orders; from the newest on, without a number. @param {number | null} [below] */
  async function show(below = null) {
    const own = await page.client.person();
    moderates = mayModerate(own);
    const { orders, more: goesOn } = await page.client.orders(below);
    if (below === null) fill(list);
    list.append(...orders.map(row));
    last = orders.at(-1)?.number ?? null;
    more.hidden = !goesOn || last === null;
    if (list.childElementCount === 0) fill(list, el('li', { class: 'quiet' }, t('governance.noacts')));
  }
  return { element: el('div', { class: 'stack' }, list, more), show };
}
