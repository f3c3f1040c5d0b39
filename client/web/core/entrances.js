// @ts-check
/** Where the servers of a sim let clients in: what each says of itself, signed. */
import { fromHex } from '../wire/buffer.js';
import { entrance as entranceSchema } from '../wire/messages.js';
import { encode } from '../wire/postcard.js';
import { VALIDATORS_MAX } from '../wire/types.js';
import { digestBytes } from './digest.js';
import { verify } from './ed25519.js';

/** Entrances that are looked at, and remembered: one of each server that votes. */
export const ENTRANCES_MAX = VALIDATORS_MAX;

/** Did the server that it names sign it? @param {{entrance: any, signature: string}} signed */
export function entranceVerified({ entrance, signature }) {
  const message = digestBytes('metatopia entrance v1', encode(entranceSchema, entrance));
  return verify(fromHex(entrance.server), message, fromHex(signature));
}

/**
 * The word of each server that counts: signed, of this sim, the latest.
 * @param {{entrance: any, signature: string}[]} list
 * @param {string} sim
 * @param {Set<string>} members who votes there: anybody can make keys, without end
 * @returns {Map<string, any>} entrances by server
 */
export function latest(list, sim, members) {
  const found = new Map();
  const counts = list.filter(({ entrance }) => members.has(entrance.server));
  for (const signed of counts.slice(0, ENTRANCES_MAX)) {
    const { entrance } = signed;
    const known = found.get(entrance.server);
    const newer = known === undefined || known.issued < entrance.issued;
    if (entrance.sim !== sim || !newer || !entranceVerified(signed)) continue;
    found.set(entrance.server, entrance);
  }
  return found;
}
