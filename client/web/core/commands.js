/** What is asked of the client core, by the names of `commands.json`. */

import COMMANDS from './commands.json' with { type: 'json' };

/**
 * What an act came to.
 * @typedef {object} Result
 * @property {string} act its id
 * @property {number} height of the turn
 * @property {boolean} ok
 * @property {string|null} refusal the rule that refused it, by its name in the protocol
 * @property {number|null} made the object that it made
 */

/**
 * What comes of commands that are no acts, or of acts that tell more.
 * @typedef {object} Answers
 * @property {Result|null} walk null if nothing had to be said
 * @property {import('./border.js').Border[]} borders near a place
 * @property {{by: string[], need: number, key: string|null, left: string}|null} recovery by whom it is
 *   asked that another key take over one's own; null if by nobody
 * @property {{lines: string[], refusal?: string}} friends who get one's key back, in lines
 * @property {{does: string, refusal: string|null, acts: number}} would what an order would do, or the rule against it
 * @property {{values: [string, string][], lands: {name: string, title: string}[]}} values of the charter that can be changed
 * @property {{report: number, text: string, own: boolean, open: boolean}[]} reports to moderators
 * @property {import('../ui/clubs.js').Club[]} clubs of the person, and those to which she is invited
 * @property {any[]} players who is here
 * @property {any[]} scripts what runs here
 * @property {any} person what was ordered about somebody; about oneself, if nobody is named
 * @property {any} orders below a number, proved; from the last order, without one
 * @property {any} source of a package, hashed again
 * @property {{id: string, name: string, version: string}[]} packages that can be attached, by the node's word
 * @property {{mistakes: {line: number, column: number, message: string}[], names: string[]}} check a source's mistakes, by
 *   its compiler, and what it can name of its imports
 * @property {{example: string, licences: string[], entries: {name: string, form: string, doc: string}[]}} reference
 *   what scripts can call, what one begins with, and which licences there are
 * @property {Result & {package: string}} publish with the id of the script's package
 * @property {{genesis: string, sim: string, object: number, name: string}} sketch a sim of what is in sight, the thing's number there, and the own name
 * @property {{kind: string, frame: Uint8Array}} raw the whole frame of a replica's answer
 */

/** @typedef {(what: string, fields?: any) => Promise<any>} Ask */

/**
 * @template {keyof typeof COMMANDS} Group
 * @typedef {{[Name in keyof (typeof COMMANDS)[Group]]:
 *   (...fields: any[]) => Promise<Name extends keyof Answers ? Answers[Name] : any>}} Commands
 */

/**
 * The commands of a group: each has the core's name and those of its fields in order.
 * @template {keyof typeof COMMANDS} Group @param {Group} group @param {Ask} ask @returns {Commands<Group>}
 */
export function commands(group, ask) {
  const each = (/** @type {[string, string]} */ [name, form]) => {
    const [what, ...fields] = form.split(' ');
    const named = (/** @type {any[]} */ given) => Object.fromEntries(fields.map((field, i) => [field, given[i]]));
    return [name, (/** @type {any[]} */ ...given) => ask(what, named(given))];
  };
  return /** @type {any} */ (Object.fromEntries(Object.entries(COMMANDS[group]).map(each)));
}

/**
 * What builders do. Sizes are whole widths and heights in metres, angles radians.
 * @param {Ask} ask
 */
export const building = (ask) => ({
  ...commands('build', ask),
  /**
   * @param {{kind: string, name: string, text?: string, color: number, round?: boolean, rod?: boolean,
   *   corners?: [number, number][], outline?: string, w: number, h?: number, movable?: boolean, x: number, y: number,
   *   angle?: number, licence?: string}} spec
   */
  place: (spec) => ask('place', {
    spec: { text: '', round: false, h: spec.w, movable: true, angle: 0, licence: 'CcBySa', ...spec },
  }),
});
