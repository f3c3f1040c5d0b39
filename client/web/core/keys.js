// @ts-check
/**
 * Who a person is: an ed25519 key made in the tab. It never leaves the browser but as the line of
 * text that its owner asks for.
 */
import { fromHex, toHex } from '../wire/buffer.js';
import { digest } from './digest.js';
import * as js from './ed25519.js';
import { openStore } from './store.js';

const PREFIX = 'metatopia-key-1:';

/**
 * What makes keys and signatures: ours in JavaScript, or the wasm module's.
 * @typedef {object} Scheme
 * @property {(secret: Uint8Array) => Uint8Array} publicKey
 * @property {(message: Uint8Array, secret: Uint8Array) => Uint8Array} sign
 */

/** A line of text that is no key. `code` is 'no-key' or 'mistyped'. */
export class KeyTextError extends Error {
  /** @param {'no-key'|'mistyped'} code */
  constructor(code) {
    super(code);
    this.name = 'KeyTextError';
    this.code = code;
  }
}

/** @param {Uint8Array} secret */
const checksum = (secret) => digest('metatopia key text v1', secret).slice(0, 8);

/** @param {number} count */
export function randomBytes(count) {
  return crypto.getRandomValues(new Uint8Array(count));
}

/** A number that no session of a key used before. @returns {bigint} */
export function randomLane() {
  return new DataView(randomBytes(8).buffer).getBigUint64(0);
}

/** @param {string} line what `export` gave @returns {Uint8Array} */
function secretOf(line) {
  const found = /^metatopia-key-1:([0-9a-f]{64}):([0-9a-f]{8})$/.exec(line.trim().toLowerCase());
  if (found === null) throw new KeyTextError('no-key');
  const secret = fromHex(found[1]);
  if (checksum(secret) !== found[2]) throw new KeyTextError('mistyped');
  return secret;
}

/** A key, and where it is kept. */
export class Identity {
  /** @type {Uint8Array} */
  #secret;
  /** @type {Scheme} */
  #scheme;

  /**
   * @param {Uint8Array} secret 32 bytes
   * @param {Scheme} [scheme]
   */
  constructor(secret, scheme = js) {
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
   * @param {string} [name]
   * @param {{scheme?: Scheme, store?: import('./store.js').Store}} [options]
   * @returns {Promise<Identity|null>}
   */
  static async load(name = 'me', { scheme = js, store } = {}) {
    const place = store ?? (await openStore());
    const secret = await place.get(`key/${name}`);
    return secret === undefined ? null : Identity.#keptIn(place, secret, scheme);
  }

  /**
   * A new key, kept from now on; or the one that another tab made at the same moment.
   * @param {string} [name]
   * @param {{scheme?: Scheme, store?: import('./store.js').Store}} [options]
   */
  static async create(name = 'me', { scheme = js, store } = {}) {
    const place = store ?? (await openStore());
    const secret = await place.first(`key/${name}`, randomBytes(32));
    return Identity.#keptIn(place, secret, scheme);
  }

  /**
   * The key of a line that `export` gave; it takes the place of the one that was kept.
   * @param {string} line
   * @param {string} [name]
   * @param {{scheme?: Scheme, store?: import('./store.js').Store}} [options]
   */
  static async import(line, name = 'me', { scheme = js, store } = {}) {
    const secret = secretOf(line);
    const place = store ?? (await openStore());
    await place.put(`key/${name}`, secret);
    return Identity.#keptIn(place, secret, scheme);
  }

  /**
   * @param {import('./store.js').Store} place
   * @param {Uint8Array} secret
   * @param {Scheme} scheme
   */
  static #keptIn(place, secret, scheme) {
    const identity = new Identity(new Uint8Array(secret), scheme);
    identity.kept = place.kept;
    identity.why = place.why;
    return identity;
  }

  /** Lets another implementation sign from now on. @param {Scheme} scheme */
  use(scheme) {
    if (toHex(scheme.publicKey(this.#secret)) === this.public) this.#scheme = scheme;
  }

  /** One line that holds the secret, to be kept on paper or taken to another device. */
  export() {
    return `${PREFIX}${toHex(this.#secret)}:${checksum(this.#secret)}`;
  }

  /** @param {Uint8Array} message @returns {Uint8Array} 64 bytes */
  sign(message) {
    return this.#scheme.sign(message, this.#secret);
  }
}
