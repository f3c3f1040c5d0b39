// @ts-check
/**
 * What a login takes. A key costs nothing, so a sim may ask one that is new to it for some seconds of
 * work, which only the wasm module does fast enough, or for a ticket of an admin.
 */
import { variant } from '../wire/postcard.js';
import { ActError } from './pending.js';

/**
 * @typedef {object} Puzzle
 * @property {string|null} wasm the module's address
 * @property {Uint8Array} sim
 * @property {Uint8Array} key
 * @property {Uint8Array} header
 * @property {bigint} tries
 */

/** @param {Puzzle} puzzle @returns {Promise<bigint>} */
export function solve(puzzle) {
  if (puzzle.wasm === null) return Promise.reject(new ActError('NoModule'));
  const worker = new Worker(new URL('../prove/work-worker.js', import.meta.url), { type: 'module' });
  const solved = new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => {
      if (data.error === undefined) resolve(data.nonce);
      else reject(new ActError('NoModule'));
    };
    worker.onerror = () => reject(new ActError('NoModule'));
  });
  worker.postMessage(puzzle);
  return solved.finally(() => worker.terminate());
}

/**
 * What a login of this key has to show: a ticket if there is one, else work.
 * @param {object} parts
 * @param {(question: any) => Promise<any>} parts.ask
 * @param {string} parts.key the public key, in hexadecimal
 * @param {(terms: {height: number, header: string, tries: bigint}) => Promise<bigint>} parts.solve
 * @param {(() => {ticket: string, signature: string})|null} parts.ticket
 * @returns {Promise<any>} null where nothing is asked for
 */
export async function passOf({ ask, key, solve, ticket }) {
  const [kind, terms] = variant(await ask({ LoginTerms: { key } }));
  if (kind === 'Closed') throw new ActError('NobodyNew');
  if (kind === 'Free') return null;
  if (ticket !== null) return { Ticket: ticket() };
  if (kind === 'Ticket') throw new ActError('NeedsTicket');
  return { Work: { height: terms.height, nonce: await solve(terms) } };
}
