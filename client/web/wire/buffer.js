// @ts-check
/**
 * Reading and writing bytes: the integers of postcard, in their one canonical form.
 * Whatever is not canonical is refused while it is read, so that two forms of one message never
 * both pass.
 */

/** Why bytes are no value. `code` is 'oversize', 'malformed' or 'not-canonical'. */
export class WireError extends Error {
  /**
   * @param {'oversize'|'malformed'|'not-canonical'} code
   * @param {string} text
   */
  constructor(code, text) {
    super(text);
    this.name = 'WireError';
    this.code = code;
  }
}

/** @param {string} text */
export const malformed = (text) => new WireError('malformed', text);
/** @param {string} text */
export const notCanonical = (text) => new WireError('not-canonical', text);

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** Takes values from the front of some bytes. */
export class Reader {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  /** Bytes that are not read yet. */
  get rest() {
    return this.bytes.length - this.at;
  }

  /** @returns {number} one byte */
  byte() {
    if (this.at >= this.bytes.length) throw malformed('the bytes end too early');
    return this.bytes[this.at++];
  }

  /**
   * @param {number} count
   * @returns {Uint8Array} a view of so many bytes
   */
  take(count) {
    if (count > this.rest) throw malformed('the bytes end too early');
    const taken = this.bytes.subarray(this.at, this.at + count);
    this.at += count;
    return taken;
  }

  /**
   * An unsigned integer of at most `bits` bits that a Number holds exactly.
   * @param {number} bits
   * @returns {number}
   */
  uint(bits) {
    let value = 0;
    let scale = 1;
    for (let read = 0; ; read += 7) {
      const byte = this.byte();
      this.checkGroup(byte, read, bits);
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
      scale *= 0x80;
    }
    if (value > Number.MAX_SAFE_INTEGER) throw malformed('an integer of 2^53 or more');
    return value;
  }

  /**
   * An unsigned integer of 64 bits, whole.
   * @returns {bigint}
   */
  big() {
    let value = 0n;
    for (let read = 0; ; read += 7) {
      const byte = this.byte();
      this.checkGroup(byte, read, 64);
      value |= BigInt(byte & 0x7f) << BigInt(read);
      if (byte < 0x80) return value;
    }
  }

  /** A signed integer of 32 or fewer bits. @param {number} bits */
  int(bits) {
    const folded = this.uint(bits);
    return folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2;
  }

  /** A signed integer of 64 bits. */
  bigInt() {
    const folded = this.big();
    return (folded >> 1n) ^ -(folded & 1n);
  }

  /** The length of what follows; each part of it takes a byte at least. */
  length() {
    const count = this.uint(64);
    if (count > this.rest) throw malformed('a length beyond the end');
    return count;
  }

  /** @returns {string} */
  text() {
    const bytes = this.take(this.length());
    try {
      return decoder.decode(bytes);
    } catch {
      throw malformed('text that is not UTF-8');
    }
  }

  /** Nothing may follow a value. */
  end() {
    if (this.rest > 0) throw notCanonical('bytes after the value');
  }

  /**
   * Seven bits that came after `read` others, of an integer of `bits` bits.
   * @param {number} byte
   * @param {number} read
   * @param {number} bits
   */
  checkGroup(byte, read, bits) {
    const left = bits - read;
    if (left <= 0 || (left < 7 && (byte & 0x7f) >> left !== 0) || (left <= 7 && byte >= 0x80)) {
      throw malformed('an integer that is too large');
    }
    if (byte === 0 && read > 0) throw notCanonical('an integer longer than it need be');
  }
}

/** Puts values one after the other. */
export class Writer {
  constructor() {
    this.bytes = new Uint8Array(256);
    this.at = 0;
  }

  /** What was written, in bytes of its own. */
  done() {
    return this.bytes.slice(0, this.at);
  }

  /** @param {number} more */
  room(more) {
    if (this.at + more <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(this.bytes.length * 2, this.at + more));
    larger.set(this.bytes.subarray(0, this.at));
    this.bytes = larger;
  }

  /** @param {number} value 0 to 255 */
  byte(value) {
    this.room(1);
    this.bytes[this.at++] = value;
  }

  /** @param {Uint8Array} bytes */
  put(bytes) {
    this.room(bytes.length);
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  /**
   * @param {number} value
   * @param {number} bits
   */
  uint(value, bits) {
    if (!Number.isSafeInteger(value) || value < 0 || value >= 2 ** bits) {
      throw new RangeError(`${value} is no unsigned integer of ${bits} bits`);
    }
    let rest = value;
    while (rest >= 0x80) {
      this.byte((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.byte(rest);
  }

  /** @param {bigint} value */
  big(value) {
    if (BigInt.asUintN(64, value) !== value) throw new RangeError(`${value} has no 64 bits`);
    let rest = value;
    while (rest >= 0x80n) {
      this.byte(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    this.byte(Number(rest));
  }

  /**
   * @param {number} value
   * @param {number} bits
   */
  int(value, bits) {
    const bound = 2 ** (bits - 1);
    if (!Number.isSafeInteger(value) || value < -bound || value >= bound) {
      throw new RangeError(`${value} is no signed integer of ${bits} bits`);
    }
    this.uint(value >= 0 ? value * 2 : -value * 2 - 1, bits);
  }

  /** @param {bigint} value */
  bigInt(value) {
    if (BigInt.asIntN(64, value) !== value) throw new RangeError(`${value} has no 64 bits`);
    this.big(BigInt.asUintN(64, (value << 1n) ^ (value >> 63n)));
  }

  /** @param {string} value */
  text(value) {
    const bytes = encoder.encode(value);
    this.uint(bytes.length, 32);
    this.put(bytes);
  }
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/**
 * @param {Uint8Array} bytes
 * @returns {string} lowercase hexadecimal digits
 */
export function toHex(bytes) {
  let text = '';
  for (const byte of bytes) text += HEX[byte];
  return text;
}

/**
 * @param {string} text lowercase hexadecimal digits, two per byte
 * @returns {Uint8Array}
 */
export function fromHex(text) {
  if (text.length % 2 !== 0 || !/^[0-9a-f]*$/.test(text)) throw malformed('no hexadecimal digits');
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(text.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}
