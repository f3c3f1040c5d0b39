// @ts-check
/** Bytes as text: two hexadecimal digits for each. */

/** @param {Uint8Array} bytes @returns {string} small letters */
export function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Reads what `toHex` wrote.
 * @param {string} text
 * @returns {Uint8Array}
 */
export function fromHex(text) {
  if (text.length % 2 !== 0 || !/^[0-9a-f]*$/.test(text)) throw new Error('no hexadecimal digits');
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
