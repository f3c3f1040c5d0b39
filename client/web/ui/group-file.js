/** Groups of things as files: text that people keep, send, and open elsewhere. */

import { t } from '../strings.js';

/** Things of one group. */
export const GROUP_MAX = 64;

/** Bytes of a file; a group of the longest texts takes less. */
export const FILE_BYTES_MAX = 64 * 1024;

/** What the file says that it is. */
const KIND = 'metatopia group';
const VERSION = 1;

/** Metres from the middle of a group, and of a side. */
const FAR_MAX = 500;
const SIDE_MIN = 0.1;
const SIDE_MAX = 1000;

/** Bytes of names and kinds, and of texts, as the servers limit them. */
const NAME_BYTES_MAX = 32;
const TEXT_BYTES_MAX = 256;

/** Mistakes that are listed; the rest is most likely of the same sort. */
const MISTAKES_MAX = 8;

/** Licences, as the protocol calls them. */
const LICENCES = ['Cc0', 'CcBy', 'CcBySa', 'Reserved'];

/**
 * A thing of a group: where it is from the middle in metres, and all that it looks like.
 * @typedef {object} GroupThing
 * @property {string} kind @property {string} name @property {string} text @property {number} color
 * @property {boolean} round @property {boolean} [rod] @property {[number, number][]} [corners] @property {number} w @property {number} h @property {boolean} movable
 * @property {number} x @property {number} y @property {number} angle radians @property {string} licence
 */

const bytes = (/** @type {string} */ text) => new TextEncoder().encode(text).length;
const millis = (/** @type {number} */ n) => Math.round(n * 1000) / 1000;

/** The file of a group. @param {string} name @param {GroupThing[]} things @returns {string} */
export function written(name, things) {
  const plain = things.map(({ color, angle, x, y, w, h, ...rest }) => ({
    ...rest, color: `#${color.toString(16).padStart(6, '0')}`, w: millis(w), h: millis(h), x: millis(x), y: millis(y), degrees: millis((angle * 180) / Math.PI),
  }));
  return `${JSON.stringify({ is: KIND, version: VERSION, name, things: plain }, null, 1)}\n`;
}

/** What a value must be: its words, and whether it is. @typedef {[string, (value: any) => boolean]} Rule */
/** @type {Rule} */ const NAME = ['group.rule.name', (value) => typeof value === 'string' && value.length > 0 && bytes(value) <= NAME_BYTES_MAX];
/** @type {Rule} */ const TRUTH = ['group.rule.truth', (value) => typeof value === 'boolean'];
/** @type {Rule} */ const SIDE = ['group.rule.side', (value) => Number.isFinite(value) && value >= SIDE_MIN && value <= SIDE_MAX];
/** @type {Rule} */ const FAR = ['group.rule.far', (value) => Number.isFinite(value) && Math.abs(value) <= FAR_MAX];
/** @param {any} at */ const isCorner = (at) => Array.isArray(at) && at.length === 2 && at.every((n) => Number.isFinite(n) && Math.abs(n) <= SIDE_MAX);
/** @type {Record<string, Rule>} */
const RULES = {
  kind: NAME, name: NAME, round: TRUTH, movable: TRUTH, w: SIDE, h: SIDE, x: FAR, y: FAR, degrees: FAR,
  text: ['group.rule.text', (value) => typeof value === 'string' && bytes(value) <= TEXT_BYTES_MAX],
  color: ['group.rule.color', (value) => typeof value === 'string' && /^#[0-9a-f]{6}$/i.test(value)],
  rod: [TRUTH[0], (value) => value === undefined || TRUTH[1](value)],
  corners: ['group.rule.corners', (value) => value === undefined || (Array.isArray(value) && value.length > 2 && value.length <= 8 && value.every(isCorner))],
  licence: ['group.rule.licence', (value) => LICENCES.includes(value)],
};

/** What is wrong with a thing of a file. @param {any} thing @param {number} place @returns {string[]} */
function mistakesOf(thing, place) {
  const n = place + 1;
  if (typeof thing !== 'object' || thing === null || Array.isArray(thing)) return [t('group.bad.thing', { n })];
  const wrong = Object.entries(RULES).filter(([field, [, holds]]) => !holds(thing[field]));
  const odd = Object.keys(thing).filter((field) => !Object.hasOwn(RULES, field));
  return [
    ...wrong.map(([field, [rule]]) => t('group.bad.field', { n, field, rule: t(rule, { side: SIDE_MIN, most: SIDE_MAX, far: FAR_MAX, name: NAME_BYTES_MAX, text: TEXT_BYTES_MAX }) })),
    ...odd.map((field) => t('group.bad.odd', { n, field: field.slice(0, 32) })),
  ];
}

/**
 * Reads a file that somebody may have sent: nothing of it is believed that is not a thing.
 * @param {string} text
 * @returns {{name: string, things: GroupThing[], mistakes: string[]}} no things if there are mistakes
 */
export function read(text) {
  const bad = (/** @type {string[]} */ mistakes) => {
    const more = mistakes.length - MISTAKES_MAX;
    return { name: '', things: [], mistakes: more > 0 ? [...mistakes.slice(0, MISTAKES_MAX), t('group.bad.more', { n: more })] : mistakes };
  };
  if (bytes(text) > FILE_BYTES_MAX) return bad([t('group.bad.long', { most: FILE_BYTES_MAX / 1024 })]);
  let file;
  try {
    file = JSON.parse(text);
  } catch (error) {
    return bad([t('group.bad.json', { why: /** @type {Error} */ (error).message })]);
  }
  if (file?.is !== KIND) return bad([t('group.bad.kind')]);
  if (file.version !== VERSION) return bad([t('group.bad.version', { version: String(file.version).slice(0, 32) })]);
  const { name, things } = file;
  if (!Array.isArray(things) || things.length === 0 || things.length > GROUP_MAX) return bad([t('group.bad.count', { most: GROUP_MAX })]);
  const mistakes = [...(typeof name === 'string' && bytes(name) <= TEXT_BYTES_MAX ? [] : [t('group.bad.name')]), ...things.flatMap(mistakesOf)];
  if (mistakes.length) return bad(mistakes);
  const made = things.map(({ color, degrees, ...rest }) => ({ ...rest, color: Number.parseInt(color.slice(1), 16), angle: (degrees * Math.PI) / 180 }));
  return { name, things: made, mistakes: [] };
}
