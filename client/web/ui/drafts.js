/** Scripts that somebody works on: kept in this browser until they are published. */

import { forget, keep, recall } from '../core/store.js';

/** Drafts that are kept; with one more the oldest is gone. */
const DRAFTS_MAX = 16;

/** The names of the drafts, the newest one first. */
const LIST = 'metatopia.drafts';

/** The file of a script that was begun here. */
const ENTRY = 'script.rhai';

/** @param {string} sim @param {string} slot */
const place = (sim, slot) => `metatopia.draft/${sim}/${slot}`;

/** What was typed before, if anything. @param {string} sim @param {string} slot @returns {ScriptDraft | null} */
export const kept = (sim, slot) => recall(place(sim, slot));

/** @param {string} sim @param {string} slot @param {ScriptDraft} draft */
export function put(sim, slot, draft) {
  const own = place(sim, slot);
  const list = [own, .../** @type {string[]} */ (recall(LIST) ?? []).filter((each) => each !== own)];
  list.slice(DRAFTS_MAX).forEach(forget);
  keep(LIST, list.slice(0, DRAFTS_MAX));
  keep(own, draft);
}

/** @param {string} sim @param {string} slot */
export const drop = (sim, slot) => forget(place(sim, slot));

/** A name that packages may have, made from one that people gave. @param {string} text */
export function packageName(text) {
  return text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^[^a-z]+|-+$/g, '').slice(0, 64) || 'script';
}

/** The version behind another one. @param {string} version */
export function nextVersion(version) {
  const [major = 1, minor = 0, patch = -1] = String(version).split('.').map(Number);
  return `${major}.${minor}.${patch + 1}`;
}

/** What a script is that nobody has put anywhere. */
const LOOSE = { parent: null, object: null, script: null, published: null };

/** A script that begins with an example. @param {{example: string, licences: string[]}} reference @param {string} name of the thing @returns {ScriptDraft} */
export const begun = ({ example, licences }, name) => ({
  ...LOOSE, name: packageName(name), version: '1.0.0', api: null, entry: ENTRY, files: { [ENTRY]: example },
  licence: licences[0], authors: [],
});

/** A script that goes on from a package. @param {any} source as a server handed it out @returns {ScriptDraft} */
export const forked = ({ id, manifest, files }) => ({
  ...LOOSE, name: manifest.name, version: nextVersion(manifest.version), api: manifest.api, entry: manifest.entry,
  files: Object.fromEntries(files.map((/** @type {any} */ file) => [file.path, file.text])),
  licence: manifest.licence, imports: manifest.imports, authors: manifest.authors, parent: id,
});
