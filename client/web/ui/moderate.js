/** Orders about people, for those who may give them, and the list of what was ordered. */

import { refusal, t } from '../strings.js';
import { button, choice, el, field, fill, openDialog, put, short } from './dom.js';
import { attempt, telling } from './toast.js';

/** What may be done about a person. */
const VERBS = ['mute', 'kick', 'ban', 'unmute', 'unban', 'unprofile', 'grant', 'revoke'];
/** How long it may last, in seconds; the last one is for good. */
export const TIMES = /** @type {[string, number | null][]} */ ([['minutes', 600], ['hour', 3_600], ['day', 86_400], ['ever', null]]);
const [TIMED, REASONED, OF_RIGHTS] = [['mute', 'ban', 'grant'], ['mute', 'ban'], ['grant', 'revoke']].map((verbs) => new Set(verbs));
/** What a role can give. */
export const RIGHTS = ['build', 'script', 'speak', 'moderate', 'land', 'borders', 'servers', 'administer'];

/** Has somebody a right here? @param {{admin: boolean, rights: {right: string}[]}} person @param {string} wanted */
export const may = ({ admin, rights }, wanted) => admin || rights.some(({ right }) => right === wanted);
/** May somebody moderate here? @param {{admin: boolean, rights: {right: string}[]}} person */
export const mayModerate = (person) => may(person, 'moderate');

/** What may be ordered about a thing of others. @param {any} person who orders it @param {{id: number, home: string | null}} thing with the sim to which it can be sent home */
export function thingOrders(person, { id, home }) {
  const orders = mayModerate(person) ? ['freeze', 'thaw', 'return'].map((verb) => ({ verb, object: id })) : [];
  return home && may(person, 'borders') ? [...orders, { verb: 'send_home', object: id, sim: home }] : orders;
}

/**
 * An order in the words of the core.
 * @param {string} verb @param {string} key @param {string} time a word of `TIMES` @param {string} reason @param {string} [right]
 */
export function orderOf(verb, key, time, reason, right) {
  const seconds = TIMES.find(([word]) => word === time)?.[1] ?? null;
  return { verb, key, ...(OF_RIGHTS.has(verb) && { rights: [right] }), ...(TIMED.has(verb) && { seconds }), ...(REASONED.has(verb) && { reason }) };
}

/** Asks what to do about somebody, and orders it. @param {Page} page @param {{name: string, key: string}} player @param {boolean} admin */
export function moderate(page, { name, key }, admin) {
  const right = choice(t('moderate.right'), RIGHTS.map((word) => [word, t(`right.${word}`)]));
  const verb = choice(t('moderate.what'), VERBS.filter((word) => admin || !OF_RIGHTS.has(word)).map((word) => [word, t(`moderate.${word}`)]));
  const time = choice(t('moderate.time'), TIMES.map(([word]) => [word, t(`moderate.for.${word}`)]));
  const reason = el('input', { type: 'text', maxlength: '120' });
  const parts = /** @type {[HTMLElement, Set<string>][]} */ ([[right.element, OF_RIGHTS], [time.element, TIMED], [field(t('moderate.reason'), reason, t('moderate.reason.hint')), REASONED]]);
  const fit = () => parts.forEach(([part, verbs]) => (part.hidden = !verbs.has(verb.select.value)));
  verb.select.addEventListener('change', fit);
  fit();
  askOrder(page, t('moderate.title', { name }), [short(key), verb.element, ...parts.map(([part]) => part)],
    () => orderOf(verb.select.value, key, time.select.value, reason.value.trim(), right.select.value));
}

/**
 * Asks for an order in a dialog: the first time that it is submitted it says what the order would do, and the
 * second time the order is given. What is changed in between is shown anew.
 * @param {Page} page @param {string} title @param {(Node|string)[]} parts @param {() => any} read the order @param {() => unknown} [after] what follows once it was given
 */
export function askOrder(page, title, parts, read, after = () => {}) {
  const told = el('p', { role: 'status' });
  const go = el('button', { class: 'button primary', type: 'submit' }, t('would.show'));
  /** What was shown. @type {{given: any, acts: number} | null} */
  let shown = null;
  let changes = 0;
  const anew = () => {
    changes += 1;
    shown = null;
    put(go, t('would.show'));
    put(told, '');
  };
  async function submit(/** @type {Event | undefined} */ event) {
    event?.preventDefault();
    if (shown) {
      dialog.close();
      return void order(page, shown.given, shown.acts).then(after);
    }
    await telling(told, async () => {
      const [given, before] = [read(), changes];
      const { does, refusal: code, acts } = await page.client.would(given);
      // What was changed meanwhile is asked about anew.
      if (changes !== before) return;
      put(told, code ? t('would.refused', { does, why: refusal(code) }) : t('would.does', { does }));
      if (code) return;
      shown = { given, acts };
      put(go, t('moderate.do'));
    });
  }
  const dialog = ask(title, [...parts, told], submit, go);
  for (const changed of ['input', 'change']) dialog.addEventListener(changed, anew);
  if (parts.length === 0) submit(undefined);
}

/** Asks something in a dialog. @param {string} title @param {(Node|string)[]} parts @param {(event: Event) => unknown} submit */
export function ask(title, parts, submit, go = el('button', { class: 'button primary', type: 'submit' }, t('moderate.do'))) {
  const dialog = openDialog('moderate', title, [...parts, el('p', { class: 'row' }, go, button({ text: t('cancel'), click: () => dialog.close() }))], submit);
  return dialog;
}

/** Gives an order, by as many acts as it takes, and says what came of it. @param {Page} page @param {any} given */
export function order(page, given, acts = 1) {
  const each = async (/** @type {number} */ left) => {
    const result = await page.client.govern(given);
    return result.ok && left > 1 ? each(left - 1) : result;
  };
  return settle(page, each(acts), t('moderate.done'));
}

/** Says what came of an act, and whether it was done. @param {Page} page @param {Promise<Result>} act @param {string} done */
export const settle = (page, act, done) => attempt(page.toasts, async () => {
  const { ok, refusal: code } = await act;
  page.toasts.say(ok ? done : t('moderate.refused', { why: refusal(code) }), ok ? 'good' : 'bad');
  return ok;
});

/** What was done to what, and on which terms. @param {any} each @returns {[string, string]} */
export function told({ verb, detail, object, lasts }) {
  return [[t(`did.${verb}`), object == null ? '' : t('did.object', { object })].filter(Boolean).join(' '), [lasts, detail].filter(Boolean).join(', ')];
}

/** What sets the message of the day, for who may speak for the sim. @param {Page} page */
export function motdTool(page) {
  const text = el('input', { type: 'text', maxlength: '400' });
  const set = button({ text: t('motd.set'), click: () => askOrder(page, t('motd.words'), [], () => ({ verb: 'motd', text: text.value.trim() })) });
  const element = el('section', { class: 'card', hidden: true }, field(t('motd.words'), text, t('motd.hint')), set);
  /** @param {string} now */
  const show = async (now) => {
    text.value = now ?? '';
    element.hidden = !may(await page.client.person(), 'speak');
  };
  return { element, show };
}

/** The list of what was ordered, newest first; older ones come page by page. @param {Page} page */
export function orderList(page) {
  const list = el('ol', { class: 'order orders' });
  const more = button({ text: t('did.more'), class: 'small', click: () => show(last) });
  let [last, moderates] = [/** @type {number | null} */ (null), false];

  function row(/** @type {any} */ each) {
    const lift = moderates && ['mute', 'ban'].includes(each.verb) && each.person;
    const [what, terms] = told(each);
    return el('li', null, el('b', null, what), ' ', each.person && short(each.person), ' ', terms, el('br'),
      el('small', null, t('did.by', { height: each.height, warrant: each.warrant }), ' '), short(each.by),
      lift && button({ text: t('moderate.lift'), class: 'small', click: () => askOrder(page, t(`moderate.un${each.verb}`), [], () => ({ verb: `un${each.verb}`, key: each.person })) }));
  }

  /** Adds a page of orders; from the newest on, without a number. @param {number | null} [below] */
  async function show(below = null) {
    moderates = mayModerate(await page.client.person());
    const { orders, more: goesOn } = await page.client.orders(below);
    if (below === null) fill(list);
    list.append(...orders.map(row));
    last = orders.at(-1)?.number ?? null;
    more.hidden = !goesOn || last === null;
    if (list.childElementCount === 0) fill(list, el('li', { class: 'quiet' }, t('governance.noacts')));
  }
  return { element: el('div', { class: 'stack' }, list, more), show };
}
