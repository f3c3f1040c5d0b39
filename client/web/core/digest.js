// @ts-check
/** Digests as the protocol makes them: blake3, in a domain of its own for each use. */
import { blake3 } from '../vendor/noble/index.js';
import { toHex } from '../wire/buffer.js';

const encoder = new TextEncoder();

/**
 * The digest of bytes in a domain: the same bytes mean different things in different places.
 * @param {string} context
 * @param {Uint8Array} bytes
 * @returns {Uint8Array} 32 bytes
 */
export const digestBytes = (context, bytes) => blake3(bytes, { context: encoder.encode(context) });

/**
 * @param {string} context
 * @param {Uint8Array} bytes
 * @returns {string} 64 hexadecimal digits
 */
export const digest = (context, bytes) => toHex(digestBytes(context, bytes));

/** The name of a blob: chat, a file. @param {Uint8Array} bytes */
export const blobId = (bytes) => digest('metatopia blob v1', bytes);
