// @ts-check
/**
 * Who a person is: an ed25519 key made in the tab. It never leaves the browser but as the line of
 * text that its owner asks for.
 */
import { fromHex, toHex } from './bytes.js';
import { CoreError } from './port.js';

const PREFIX = 'metatopia-key-1:';

/** The name under which the key is kept. */
const KEPT = 'key/me';

/** @typedef {import('./store.js').Store} Store */

/** What makes keys. @typedef {Pick<import('../prove/module.js').Module, 'publicKey' | 'digest'>} Scheme */

/** @param {Scheme} scheme @param {Uint8Array} secret */
const checksum = (scheme, secret) =>
  toHex(scheme.digest('metatopia key text v1', secret)).slice(0, 8);

const randomBytes = (/** @type {number} */ count) => crypto.getRandomValues(new Uint8Array(count));
/** What nobody else knows, in hexadecimal digits. */
export const randomSecret = () => toHex(randomBytes(32));

/** A number that no session of a key used before, in decimal digits. @returns {string} */
export const randomLane = () => String(new DataView(randomBytes(8).buffer).getBigUint64(0));

/** @param {Scheme} scheme @param {string} line what `export` gave; no other line is a key */
function secretOf(scheme, line) {
  const found = /^metatopia-key-1:([0-9a-f]{64}):([0-9a-f]{8})$/.exec(line.trim().toLowerCase());
  if (found === null) throw new CoreError('no-key');
  const secret = fromHex(found[1]);
  if (checksum(scheme, secret) !== found[2]) throw new CoreError('mistyped');
  return secret;
}

/** A key, and where it is kept. */
export class Identity {
  /** @type {Uint8Array} */
  #secret;
  /** @type {Scheme} */
  #scheme;

  /** @param {Scheme} scheme @param {Store} store @param {Uint8Array} secret 32 bytes */
  constructor(scheme, store, secret) {
    this.#secret = new Uint8Array(secret);
    this.#scheme = scheme;
    /** The public key, in hexadecimal digits. */
    this.public = toHex(scheme.publicKey(this.#secret));
    /** Does it outlive the tab? */
    this.kept = store.kept;
    /** Why not, as a code. */
    this.why = store.why;
  }

  /**
   * The key that is kept in this browser. If there is none yet, a new one is kept from now on, or the one that another
   * tab made at the same moment.
   * @param {Scheme} scheme @param {Store} store
   */
  static async open(scheme, store) {
    return new Identity(scheme, store, await store.first(KEPT, randomBytes(32)));
  }

  /**
   * The key of a line that `export` gave; it takes the place of the one that was kept.
   * @param {Scheme} scheme @param {Store} store @param {string} line
   */
  static async import(scheme, store, line) {
    const secret = secretOf(scheme, line);
    await store.put(KEPT, secret);
    return new Identity(scheme, store, secret);
  }

  /** The secret in hexadecimal digits, for the core that signs with it. */
  get secret() {
    return toHex(this.#secret);
  }

  /** One line that holds the secret, to be kept on paper or taken to another device. */
  export = () => `${PREFIX}${this.secret}:${checksum(this.#scheme, this.#secret)}`;
}
