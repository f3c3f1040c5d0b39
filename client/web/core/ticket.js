// @ts-check
/**
 * Tickets: how admins let keys in that a sim does not know. The link of a ticket ends in its secret,
 * which browsers send to no server; it signs the key that it lets in, so that whoever sees the login
 * can do nothing with it.
 */
import { fromHex, toHex } from '../wire/buffer.js';
import { digestBytes } from './digest.js';
import { publicKey, sign } from './ed25519.js';

/** The secret in the end of a link, if there is one. @param {string} hash @returns {Uint8Array|null} */
export function ticketOf(hash) {
  const found = /^#ticket=([0-9a-f]{64})$/.exec(hash);
  return found === null ? null : fromHex(found[1]);
}

/**
 * What lets a key into a sim by a ticket.
 * @param {Uint8Array} secret
 * @param {string} sim
 * @param {string} key
 * @returns {{ticket: string, signature: string}}
 */
export function ticketPass(secret, sim, key) {
  const message = digestBytes('metatopia ticket v1', fromHex(sim + key));
  return { ticket: toHex(publicKey(secret)), signature: toHex(sign(message, secret)) };
}
