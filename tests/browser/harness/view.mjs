// @ts-check
/**
 * The one message of a server that a liar changes: what is in sight. Read as far as lies need it, and
 * written as it was read; the rest of it stays bytes.
 */

/** The place of `View` among the messages of a server. */
const VIEW = 9;

/** Parts of a movement behind its position and its facing: two integers, one, and a byte. */
const VELOCITY = 4;
const SPIN = 8;
const SLOW_STEPS = 16;

/** @typedef {[number, number]} Pair */

/**
 * @typedef {object} Movement
 * @property {number} mask which parts it has
 * @property {Pair | null} position
 * @property {Pair | null} facing
 * @property {Uint8Array} rest
 */

/**
 * @typedef {object} TileUpdate
 * @property {{x: number, y: number}} tile
 * @property {Uint8Array} since
 * @property {Uint8Array[]} entries each with its length
 * @property {[Uint8Array, Movement][]} moved
 * @property {Uint8Array} rest
 */

/** @typedef {{head: Uint8Array, tiles: TileUpdate[], rest: Uint8Array}} View */

/** Reads integers and bytes from the front. */
class Cursor {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  byte() {
    if (this.at >= this.bytes.length) throw new Error('a view ends too early');
    return this.bytes[this.at++];
  }

  uint() {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  int() {
    const folded = this.uint();
    return folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2;
  }

  /** @returns {Pair} */
  pair() {
    return [this.int(), this.int()];
  }

  /** The bytes that something reads. @param {() => void} read */
  raw(read) {
    const from = this.at;
    read();
    return this.bytes.subarray(from, this.at);
  }

  /** @template T @param {() => T} read @returns {T[]} */
  list(read) {
    return Array.from({ length: this.uint() }, read);
  }

  /** An integer that may be missing. */
  maybe() {
    if (this.byte() === 1) this.uint();
  }

  /** So many bytes as the integer before them says. */
  block() {
    const length = this.uint();
    this.at += length;
  }

  /** @returns {Movement} */
  movement() {
    const mask = this.byte();
    const position = mask & 1 ? this.pair() : null;
    const facing = mask & 2 ? this.pair() : null;
    const rest = this.raw(() => {
      if (mask & VELOCITY) this.pair();
      if (mask & SPIN) this.int();
      if (mask & SLOW_STEPS) this.byte();
    });
    return { mask, position, facing, rest };
  }

  /** @returns {TileUpdate} */
  tile() {
    const [x, y] = this.pair();
    const since = this.raw(() => this.maybe());
    const entries = this.list(() => this.raw(() => this.block()));
    const moved = this.list(() => /** @type {[Uint8Array, Movement]} */ ([this.raw(() => this.uint()), this.movement()]));
    const rest = this.raw(() => {
      this.list(() => this.uint());
      this.byte();
    });
    return { tile: { x, y }, since, entries, moved, rest };
  }
}

/** @param {number} value */
function uint(value) {
  const bytes = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Uint8Array.from([...bytes, rest]);
}

/** @param {Pair | null} pair */
const pair = (pair) => (pair ?? []).flatMap((value) => [...uint(value >= 0 ? value * 2 : -value * 2 - 1)]);

/** @param {Uint8Array[]} pieces */
const list = (pieces) => Buffer.concat([uint(pieces.length), ...pieces]);

/** @param {Movement} movement */
const movementBytes = ({ mask, position, facing, rest }) => Buffer.from([mask, ...pair(position), ...pair(facing), ...rest]);

/** @param {TileUpdate} update */
function tileBytes({ tile, since, entries, moved, rest }) {
  const movements = moved.map(([id, movement]) => Buffer.concat([id, movementBytes(movement)]));
  return Buffer.concat([Uint8Array.from(pair([tile.x, tile.y])), since, list(entries), list(movements), rest]);
}

/** Returns the frame of a view. @param {View} view */
export function viewBytes({ head, tiles, rest }) {
  return Buffer.concat([head, list(tiles.map(tileBytes)), rest]);
}

/** Reads a frame; nothing if it is no view. @param {Uint8Array} frame @returns {View | null} */
export function readView(frame) {
  if (frame[0] !== VIEW) return null;
  const cursor = new Cursor(frame);
  const head = cursor.raw(() => {
    // Its place among the messages, its number, height and tick, and the own avatar.
    for (let n = 0; n < 4; n += 1) cursor.uint();
    cursor.maybe();
  });
  const tiles = cursor.list(() => cursor.tile());
  const view = { head, tiles, rest: frame.subarray(cursor.at) };
  if (!viewBytes(view).equals(frame)) throw new Error('views are not what this reads: has the protocol changed?');
  return view;
}
