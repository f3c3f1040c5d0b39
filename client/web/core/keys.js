// @ts-check
/**
 * Who a person is: an ed25519 key made in the tab. It never leaves the browser but as the line of
 * text that its owner asks for.
 */
import { fromHex, toHex } from './bytes.js';
import { openStore } from './store.js';

const PREFIX = 'metatopia-key-1:';

/**
 * What makes keys: the wasm module.
 * @typedef {object} Scheme
 * @property {(secret: Uint8Array) => Uint8Array} publicKey
 * @property {(context: string, bytes: Uint8Array) => Uint8Array} digest
 */

/** Where a key is kept. @typedef {{name?: string, store?: import('./store.js').Store}} Kept */

/** A line of text that is no key. `code` is 'no-key' or 'mistyped'. */
export class KeyTextError extends Error {
  /** @param {'no-key'|'mistyped'} code */
  constructor(code) {
    super(code);
    this.name = 'KeyTextError';
    this.code = code;
  }
}

/** @param {Scheme} scheme @param {Uint8Array} secret */
const checksum = (scheme, secret) =>
  toHex(scheme.digest('metatopia key text v1', secret)).slice(0, 8);

/** @param {number} count */
export function randomBytes(count) {
  return crypto.getRandomValues(new Uint8Array(count));
}

/** A number that no session of a key used before, in decimal digits. @returns {string} */
export function randomLane() {
  return String(new DataView(randomBytes(8).buffer).getBigUint64(0));
}

/** @param {Scheme} scheme @param {string} line what `export` gave @returns {Uint8Array} */
function secretOf(scheme, line) {
  const found = /^metatopia-key-1:([0-9a-f]{64}):([0-9a-f]{8})$/.exec(line.trim().toLowerCase());
  if (found === null) throw new KeyTextError('no-key');
  const secret = fromHex(found[1]);
  if (checksum(scheme, secret) !== found[2]) throw new KeyTextError('mistyped');
  return secret;
}

/** A key, and where it is kept. */
export class Identity {
  /** @type {Uint8Array} */
  #secret;
  /** @type {Scheme} */
  #scheme;

  /** @param {Scheme} scheme @param {Uint8Array} secret 32 bytes */
  constructor(scheme, secret) {
    this.#secret = secret;
    this.#scheme = scheme;
    /** The public key, in hexadecimal digits. */
    this.public = toHex(scheme.publicKey(secret));
    /** Does it outlive the tab? */
    this.kept = false;
    /** @type {string|null} why not, as a code */
    this.why = 'not-saved';
  }

  /**
   * The key that is kept in this browser; null if there is none yet.
   * @param {Scheme} scheme
   * @param {Kept} [kept]
   * @returns {Promise<Identity|null>}
   */
  static async load(scheme, { name = 'me', store } = {}) {
    const place = store ?? (await openStore());
    const secret = await place.get(`key/${name}`);
    return secret === undefined ? null : Identity.#keptIn(place, scheme, secret);
  }

  /**
   * A new key, kept from now on; or the one that another tab made at the same moment.
   * @param {Scheme} scheme
   * @param {Kept} [kept]
   */
  static async create(scheme, { name = 'me', store } = {}) {
    const place = store ?? (await openStore());
    const secret = await place.first(`key/${name}`, randomBytes(32));
    return Identity.#keptIn(place, scheme, secret);
  }

  /**
   * The key of a line that `export` gave; it takes the place of the one that was kept.
   * @param {Scheme} scheme
   * @param {string} line
   * @param {Kept} [kept]
   */
  static async import(scheme, line, { name = 'me', store } = {}) {
    const secret = secretOf(scheme, line);
    const place = store ?? (await openStore());
    await place.put(`key/${name}`, secret);
    return Identity.#keptIn(place, scheme, secret);
  }

  /**
   * @param {import('./store.js').Store} place
   * @param {Scheme} scheme
   * @param {Uint8Array} secret
   */
  static #keptIn(place, scheme, secret) {
    const identity = new Identity(scheme, new Uint8Array(secret));
    identity.kept = place.kept;
    identity.why = place.why;
    return identity;
  }

  /** The secret in hexadecimal digits, for the core that signs with it. */
  get secret() {
    return toHex(this.#secret);
  }

  /** One line that holds the secret, to be kept on paper or taken to another device. */
  export() {
    return `${PREFIX}${this.secret}:${checksum(this.#scheme, this.#secret)}`;
  }
}
