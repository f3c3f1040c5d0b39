/** What is asked of the client core, by the names of `commands.json`. */

import COMMANDS from './commands.json' with { type: 'json' };

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

/** What builders do. Sizes are whole widths and heights in metres, angles radians. @param {Ask} ask */
export const building = (ask) => ({
  ...commands('build', ask),
  /** @param {PlaceSpec} spec */
  place: (spec) => ask('place', {
    spec: { text: '', round: false, h: spec.w, movable: true, angle: 0, licence: 'CcBySa', ...spec },
  }),
});
