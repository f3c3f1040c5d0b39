/** Bytes: one after another, and as text. */

/** @param {...Uint8Array} parts */
export function joined(...parts) {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Bytes of what is said or answered at once, as the servers limit it. */
export const LINE_BYTES_MAX = 512;

/** Bytes of a text on the wire. @param {string} text */
export const bytesOf = (text) => new TextEncoder().encode(text).length;

/** Two hexadecimal digits for each. @param {Uint8Array} bytes @returns {string} small letters */
export const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Reads what `toHex` wrote. @param {string} text @returns {Uint8Array} */
export function fromHex(text) {
  if (text.length % 2 !== 0 || !/^[0-9a-f]*$/.test(text)) throw new Error('no hexadecimal digits');
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** @param {string} text @returns {Uint8Array} */
export const fromBase64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
