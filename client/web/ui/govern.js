/** What may be ordered about the sim itself, and about whom orders hold. */

import { bytesOf } from '../core/bytes.js';
import { age, t } from '../strings.js';
import { button, choice, el, field, fill, short, word } from './dom.js';
import { askOrder, may, mayModerate, RIGHTS, TIMES } from './moderate.js';
/** The orders, each with the fields that it takes. */
import ORDERS from './orders.json' with { type: 'json' };

/** What was typed, if it is as the hint says. @template T @param {T} typed @param {boolean} is @param {string} field */
function must(typed, is, field) {
  if (is) return typed;
  throw new Error(t(`govern.${field}.hint`));
}

/** Ground from four numbers; none from no numbers. @param {string} typed */
export function areaOf(typed) {
  if (!typed.trim()) return null;
  const [x, y, width, depth, more] = typed.trim().split(/[\s,x]+/).map(Number);
  return must({ x, y, width, depth }, more === undefined && [x, y, width, depth].every(Number.isInteger), 'area');
}

/** Switches a flag on from a turn on, or takes it away. @param {string} name @param {string} from */
const flagOf = (name, from) => must({ verb: 'set', name: 'flags', value: from === 'off' ? `-${name}` : `+${name}:${from || 0}` }, /^(\d*|off)$/.test(from), 'from');

/** An order in the words of the core. @param {string} verb @param {Record<string, string>} typed what stands in the fields */
export function governOf(verb, typed) {
  const seconds = (/** @type {string} */ time) => TIMES.find(([known]) => known === time)?.[1] ?? null;
  const told = /** @type {Record<string, (text: string) => any>} */ ({
    key: (key) => ({ key: key.trim() }), right: (right) => ({ rights: [right] }), time: (time) => ({ seconds: seconds(time) }),
    since: (hours) => ({ seconds: Math.round(Number(hours) * 3_600) }), area: (area) => ({ area: areaOf(area) }), value: (name) => ({ name }),
    text: (value) => ({ value: value.trim() }), name: (name) => ({ name: name.trim() }), title: (title) => ({ title: title.trim() }),
    rules: (text) => must({ text: text.trim() }, bytesOf(text.trim()) <= 4_096, 'rules'),
  });
  const fields = ORDERS[/** @type {keyof typeof ORDERS} */ (verb)];
  if (verb === 'flag') return flagOf(typed.switch.trim(), typed.from.trim());
  return Object.assign({ verb }, ...fields.map((name) => told[name](typed[name])));
}

/** Asks what to order about the sim, and orders it. @param {Page} page @param {string} verb */
async function govern(page, verb) {
  const fields = /** @type {string[]} */ (ORDERS[/** @type {keyof typeof ORDERS} */ (verb)]);
  const [players, known] = await Promise.all([page.client.players(), fields.includes('value') || ['land_remove', 'house_rules'].includes(verb) ? page.client.values() : null]);
  const typed = (/** @type {string} */ name, more = {}) => {
    const input = name === 'rules' ? el('textarea', { rows: '8' }, page.client.genesis?.introduction.houseRules) : el('input', { type: 'text', ...more });
    return { select: input, element: field(t(`govern.${name}`), input, t(`govern.${name}.hint`)) };
  };
  const people = el('datalist', { id: 'govern-people' }, ...players.map(({ key, name }) => el('option', { value: key, label: name }, name)));
  const make = (/** @type {string} */ name) => {
    if (name === 'right') return choice(t('moderate.right'), RIGHTS.map((right) => [right, t(`right.${right}`)]));
    if (name === 'time') return choice(t('moderate.time'), TIMES.map(([time]) => [time, t(`moderate.for.${time}`)]));
    if (name === 'value') return choice(t('govern.value'), known?.values.map(([value, now]) => [value, t('govern.value.now', { name: value, now })]) ?? []);
    if (name === 'name' && known) return choice(t('govern.name'), known.lands.map((land) => [land.name, `${land.name} (${land.title})`]));
    return typed(name, { key: { list: 'govern-people' }, since: { type: 'number', min: '0.1', step: 'any', value: '2' }, title: { value: 'open' } }[name]);
  };
  const made = fields.map((name) => /** @type {const} */ ([name, make(name)]));
  askOrder(page, t(`govern.${verb}`), [people, ...made.map(([, { element }]) => element)],
    () => governOf(verb, Object.fromEntries(made.map(([name, { select }]) => [name, select.value]))));
}

/** Buttons for what somebody may order about the sim. @param {Page} page */
export function governTool(page) {
  const element = el('p', { class: 'row' });
  const show = async () => {
    const own = await page.client.person();
    const verbs = Object.keys(ORDERS).filter((verb) => may(own, verb === 'undo' ? 'moderate' : 'administer'));
    fill(element, ...verbs.map((verb) => button({ text: t(`govern.${verb}`), class: 'small', click: () => page.toasts.watch('govern', govern(page, verb)) })));
  };
  return { element, show };
}

/** Who has a role, who is banned and who is muted. @param {Page} page */
export function sanctionList(page) {
  const element = el('div', { class: 'stack' });
  const lasts = (/** @type {number | null} */ left) => (left === null ? t('moderate.for.ever') : t('govern.left', { span: age(left / 1000) }));
  async function show() {
    const [people, own] = await Promise.all([page.client.people(), page.client.person()]);
    const moderates = mayModerate(own);
    const list = (/** @type {string} */ title, /** @type {(person: any) => string[]} */ about, /** @type {string | null} */ end) => {
      const rows = people.filter((/** @type {any} */ person) => about(person).length > 0).map((/** @type {any} */ person) => el('li', null,
        el('b', null, person.name), ' ', short(person.key), ' ', about(person).join('; '), ' ',
        end && moderates && button({ text: t('moderate.lift'), class: 'small', click: () => askOrder(page, `${t(`moderate.${end}`)}: ${person.name}`, [], () => ({ verb: end, key: person.key }), show) })));
      return [el('h3', null, t(title)), rows.length ? el('ul', null, ...rows) : el('p', { class: 'quiet' }, t('nothing'))];
    };
    const sanction = (/** @type {any} */ given) => (given ? [[lasts(given.left), given.reason].filter(Boolean).join(', ')] : []);
    const role = (/** @type {any} */ { rights, areas }) => [...rights, ...areas].map(({ right, area, left }) => [t(`right.${right}`), area, lasts(left)].filter(Boolean).join(', '));
    fill(element, ...list('govern.roles', role, null), ...list('govern.bans', ({ ban }) => sanction(ban), 'unban'), ...list('govern.mutes', ({ mute }) => sanction(mute), 'unmute'), word());
  }
  return { element, show };
}
