// @ts-check
/**
 * Schemas: how values of the wire are read, written and shown. They are put together from smaller
 * ones, as the types of the protocol are.
 *
 * Values are plain: structs are objects with the protocol's own field names, choices are `'Name'`
 * or `{Name: content}`, missing options are `null`, fixed bytes (keys, digests) are hexadecimal
 * text, other bytes are a Uint8Array, integers of 64 bits are a BigInt unless a count.
 */
import { Reader, WireError, Writer, fromHex, malformed, notCanonical, toHex } from './buffer.js';

/**
 * @template T
 * @typedef {object} Schema
 * @property {(reader: Reader) => T} read
 * @property {(writer: Writer, value: T) => void} write
 * @property {(value: T) => unknown} json the form that serde gives the value as JSON, but for
 *   integers of 2^53 and more, which are text
 */

/** @type {(value: any) => any} */
const same = (value) => value;

/** @type {(bits: number) => Schema<number>} */
const unsigned = (bits) => ({
  read: (reader) => reader.uint(bits),
  write: (writer, value) => writer.uint(value, bits),
  json: same,
});

/** @type {(value: bigint) => number|string} */
const bigJson = (value) =>
  value <= BigInt(Number.MAX_SAFE_INTEGER) && value >= -BigInt(Number.MAX_SAFE_INTEGER)
    ? Number(value)
    : value.toString();

/** @type {Schema<number>} */
export const u8 = {
  read: (reader) => reader.byte(),
  write: (writer, value) => {
    if (!(Number.isInteger(value) && value >= 0 && value <= 255)) {
      throw new RangeError(`${value} is no byte`);
    }
    writer.byte(value);
  },
  json: same,
};
export const u16 = unsigned(16);
export const u32 = unsigned(32);
/** A height, tick, id or length: of 64 bits, and refused from 2^53 on. */
export const count = unsigned(64);

/** @type {Schema<bigint>} */
export const u64 = {
  read: (reader) => reader.big(),
  write: (writer, value) => writer.big(value),
  json: bigJson,
};

/** @type {Schema<number>} */
export const i32 = {
  read: (reader) => reader.int(32),
  write: (writer, value) => writer.int(value, 32),
  json: same,
};

/** @type {Schema<bigint>} */
export const i64 = {
  read: (reader) => reader.bigInt(),
  write: (writer, value) => writer.bigInt(value),
  json: bigJson,
};

/** @type {Schema<boolean>} */
export const bool = {
  read: (reader) => {
    const byte = reader.byte();
    if (byte > 1) throw malformed('neither true nor false');
    return byte === 1;
  },
  write: (writer, value) => writer.byte(value ? 1 : 0),
  json: same,
};

/** @type {Schema<string>} */
export const text = {
  read: (reader) => reader.text(),
  write: (writer, value) => writer.text(value),
  json: same,
};

/** @type {Schema<Uint8Array>} */
export const bytes = {
  read: (reader) => reader.take(reader.length()).slice(),
  write: (writer, value) => {
    writer.uint(value.length, 32);
    writer.put(value);
  },
  json: (value) => Array.from(value),
};

/**
 * So many bytes, as hexadecimal text.
 * @type {(length: number) => Schema<string>}
 */
export const fixed = (length) => ({
  read: (reader) => toHex(reader.take(length)),
  write: (writer, value) => {
    if (value.length !== 2 * length) {
      throw new RangeError(`${2 * length} hexadecimal digits are needed`);
    }
    writer.put(fromHex(value));
  },
  json: (value) => Array.from(fromHex(value)),
});

/** @type {<T>(of: Schema<T>) => Schema<T|null>} */
export const option = (of) => ({
  read: (reader) => (bool.read(reader) ? of.read(reader) : null),
  write: (writer, value) => {
    bool.write(writer, value !== null);
    if (value !== null) of.write(writer, value);
  },
  json: (value) => (value === null ? null : of.json(value)),
});

/** @type {<T>(of: Schema<T>, max?: number) => Schema<T[]>} */
export const seq = (of, max = Infinity) => ({
  read: (reader) => {
    const length = reader.length();
    if (length > max) throw malformed(`${length} entries where ${max} are allowed`);
    const values = [];
    for (let i = 0; i < length; i++) values.push(of.read(reader));
    return values;
  },
  write: (writer, values) => {
    writer.uint(values.length, 32);
    for (const value of values) of.write(writer, value);
  },
  json: (values) => values.map((value) => of.json(value)),
});

/**
 * Text and what belongs to it, ascending by the bytes of the text.
 * @type {<T>(of: Schema<T>) => Schema<Map<string, T>>}
 */
export const textMap = (of) => ({
  read: (reader) => {
    const map = new Map();
    let last = null;
    for (let left = reader.length(); left > 0; left--) {
      const key = reader.text();
      if (last !== null && compareText(last, key) >= 0) throw notCanonical('keys out of order');
      map.set(key, of.read(reader));
      last = key;
    }
    return map;
  },
  write: (writer, map) => {
    writer.uint(map.size, 32);
    for (const [key, value] of [...map].sort((a, b) => compareText(a[0], b[0]))) {
      writer.text(key);
      of.write(writer, value);
    }
  },
  json: (map) => Object.fromEntries([...map].map(([key, value]) => [key, of.json(value)])),
});

const encoder = new TextEncoder();

/** By the bytes of UTF-8. @type {(a: string, b: string) => number} */
function compareText(a, b) {
  const [x, y] = [encoder.encode(a), encoder.encode(b)];
  const short = Math.min(x.length, y.length);
  for (let i = 0; i < short; i++) if (x[i] !== y[i]) return x[i] - y[i];
  return x.length - y.length;
}

/** @type {(...parts: Schema<any>[]) => Schema<any[]>} */
export const tuple = (...parts) => ({
  read: (reader) => parts.map((part) => part.read(reader)),
  write: (writer, values) => parts.forEach((part, i) => part.write(writer, values[i])),
  json: (values) => parts.map((part, i) => part.json(values[i])),
});

/** @type {(fields: Record<string, Schema<any>>) => Schema<any>} */
export const struct = (fields) => {
  const entries = Object.entries(fields);
  return {
    read: (reader) => {
      /** @type {Record<string, unknown>} */
      const value = {};
      for (const [name, field] of entries) value[name] = field.read(reader);
      return value;
    },
    write: (writer, value) => {
      for (const [name, field] of entries) {
        if (value[name] === undefined) throw new TypeError(`${name} is missing`);
        field.write(writer, value[name]);
      }
    },
    json: (value) =>
      Object.fromEntries(entries.map(([name, field]) => [name, field.json(value[name])])),
  };
};

/**
 * One of several, in the order of the protocol; a name without content has `null` for its schema.
 * @type {(choices: Record<string, Schema<any>|null>) => Schema<any> & {names: string[]}}
 */
export const choice = (choices) => {
  const names = Object.keys(choices);
  const places = new Map(names.map((name, i) => [name, i]));
  return {
    names,
    read: (reader) => {
      const name = names[reader.uint(32)];
      if (name === undefined) throw malformed('a choice that is not known');
      const content = choices[name];
      return content === null ? name : { [name]: content.read(reader) };
    },
    write: (writer, value) => {
      const [name, held] = variant(value);
      const place = places.get(name);
      if (place === undefined) throw new TypeError(`${name} is no choice here`);
      writer.uint(place, 32);
      choices[name]?.write(writer, held);
    },
    json: (value) => {
      const [name, held] = variant(value);
      const content = choices[name];
      return content === null ? name : { [name]: content.json(held) };
    },
  };
};

/**
 * One of several as an envelope carries it: its number, then its bytes with their length. One of a later
 * program is `{Unknown: {number, bytes}}`, and is written as it was read.
 * @type {(choices: Record<string, Schema<any>|null>) => Schema<any> & {names: string[]}}
 */
export const numbered = (choices) => {
  const known = choice(choices);
  const unknown = struct({ number: u16, bytes });
  return {
    names: [...known.names, 'Unknown'],
    read: (reader) => {
      const number = u16.read(reader);
      const held = bytes.read(reader);
      if (number >= known.names.length) return { Unknown: { number, bytes: held } };
      const writer = new Writer();
      u16.write(writer, number);
      writer.put(held);
      const inner = new Reader(writer.done());
      const value = known.read(inner);
      inner.end();
      return value;
    },
    write: (writer, value) => {
      const [name, content] = variant(value);
      if (name === 'Unknown') return unknown.write(writer, content);
      const number = known.names.indexOf(name);
      const whole = encode(known, value);
      u16.write(writer, number);
      bytes.write(writer, whole.subarray(encode(u16, number).length));
    },
    json: (value) => {
      const [name, content] = variant(value);
      return name === 'Unknown' ? { Unknown: unknown.json(content) } : known.json(value);
    },
  };
};

/**
 * The name and the content of a choice.
 * @param {string|Record<string, any>} value
 * @returns {[string, any]}
 */
export function variant(value) {
  if (typeof value === 'string') return [value, null];
  const name = Object.keys(value)[0];
  return [name, value[name]];
}

/**
 * @template T
 * @param {Schema<T>} schema
 * @param {T} value
 * @returns {Uint8Array}
 */
export function encode(schema, value) {
  const writer = new Writer();
  schema.write(writer, value);
  return writer.done();
}

/**
 * @template T
 * @param {Schema<T>} schema
 * @param {Uint8Array} frame
 * @param {number} limit most bytes of such a value
 * @returns {T}
 */
export function decode(schema, frame, limit) {
  if (frame.length > limit) {
    throw new WireError('oversize', `${frame.length} bytes where ${limit} are allowed`);
  }
  const reader = new Reader(frame);
  const value = schema.read(reader);
  reader.end();
  return value;
}
