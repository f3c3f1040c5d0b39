/**
 * Who a person is: an ed25519 key made in the tab. It never leaves the browser but as the text that its
 * owner asks for. The module reads and writes that text.
 */
import { fromHex, toHex } from './bytes.js';

/** The names under which the key is kept, and the document by which it took the place of another one. */
const KEPT = 'key/me';
const ROTATION = 'key/rotation';

const randomBytes = (/** @type {number} */ count) => crypto.getRandomValues(new Uint8Array(count));
/** What nobody else knows, in hexadecimal digits. */
export const randomSecret = (bytes = 32) => toHex(randomBytes(bytes));

/** A number that no session of a key used before, in decimal digits. @returns {string} */
export const randomLane = () => String(new DataView(randomBytes(8).buffer).getBigUint64(0));

/** A key, and where it is kept. */
export class Identity {
  /** @type {Uint8Array} */
  #secret;
  /** @type {Scheme} */
  #scheme;

  /** @param {Scheme} scheme @param {Store} store @param {Uint8Array} secret 32 bytes @param {string|null} rotation */
  constructor(scheme, store, secret, rotation = null) {
    this.#secret = new Uint8Array(secret);
    this.#scheme = scheme;
    /** The line of the rotation that led to the key; one that leads elsewhere is left out where it is used. */
    this.rotation = rotation;
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
    return new Identity(scheme, store, await store.first(KEPT, randomBytes(32)), (await store.get(ROTATION)) ?? null);
  }

  /** Keeps another key from now on. @param {Store} store @param {{secret: string, rotation: string|null}} key as the module reads it */
  static async keep(store, { secret, rotation }) {
    // The document first: beside a key to which it does not lead, it counts for nothing.
    await store.put(ROTATION, rotation);
    await store.put(KEPT, fromHex(secret));
  }

  /** The secret in hexadecimal digits, for the core that signs with it. */
  get secret() {
    return toHex(this.#secret);
  }

  /** Has the module do something with the key. @param {string} what @param {any} [more] @returns {any} */
  desk = (what, more = {}) => this.#scheme.keyDesk({ do: what, secret: this.secret, ...more });

  /** A text that holds the secret, to be kept on paper or taken to another device. @returns {string} */
  export = () => this.desk('write', { rotation: this.rotation }).text;
}
