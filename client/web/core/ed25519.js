// @ts-check
/**
 * ed25519 by the strict rules that servers use: no small-order keys or commitments, no second
 * encoding of a point or number, no cofactor. Two verifiers that disagree would split the world, so
 * both are tested with the same signatures.
 */
import { Point, getPublicKey, hashes, sha512, sign as signWith } from '../vendor/noble/index.js';

/** @type {any} */ (hashes).sha512 = sha512;

/** The order of the group of the base point. */
const ORDER = Point.CURVE().n;

/** @param {Uint8Array} bytes the lowest first */
function number(bytes) {
  let value = 0n;
  for (let i = bytes.length - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[i]);
  return value;
}

/** @param {Uint8Array} bytes @returns {any} the point, or null if these are not its one form */
function point(bytes) {
  try {
    const found = Point.fromBytes(bytes, false);
    return found.isSmallOrder() ? null : found;
  } catch {
    return null;
  }
}

/**
 * Did the holder of `key` sign `message`?
 * @param {Uint8Array} key 32 bytes
 * @param {Uint8Array} message
 * @param {Uint8Array} signature 64 bytes
 */
export function verify(key, message, signature) {
  if (key.length !== 32 || signature.length !== 64) return false;
  const scalar = number(signature.subarray(32));
  const [holder, commitment] = [point(key), point(signature.subarray(0, 32))];
  if (holder === null || commitment === null || scalar >= ORDER) return false;
  const hashed = new Uint8Array(64 + message.length);
  hashed.set(signature.subarray(0, 32));
  hashed.set(key, 32);
  hashed.set(message, 64);
  const challenge = number(sha512(hashed)) % ORDER;
  const expected = Point.BASE.multiply(scalar, false).subtract(holder.multiply(challenge, false));
  return expected.equals(commitment);
}

/** The key of a secret. @param {Uint8Array} secret 32 bytes */
export const publicKey = (secret) => getPublicKey(secret);

/**
 * @param {Uint8Array} message
 * @param {Uint8Array} secret 32 bytes
 * @returns {Uint8Array} 64 bytes
 */
export const sign = (message, secret) => signWith(message, secret);
