// @ts-check
/**
 * Exact copies of the tiles near the avatar, as the servers hash them, brought up to date by views.
 * A copy of the same copies in the wasm module proves them; these are for drawing.
 */
import { HAVE_MAX } from '../wire/messages.js';
import { decode } from '../wire/postcard.js';
import { ENTRY_BYTES_MAX, entry as entrySchema } from '../wire/state.js';

/** Entries of all copies together: the bodies of a full region. */
const ENTRIES_MAX = 16_384;

/**
 * @typedef {object} Entry
 * @property {number} id
 * @property {any} object
 * @property {any} body
 */

/**
 * @typedef {object} Copy
 * @property {{x: number, y: number}} tile
 * @property {number} height
 * @property {boolean} whole whether no part of it is still to come
 * @property {Map<number, Entry>} entries
 */

/** A view that does not fit what is held: views have to be asked for anew. */
export class ViewError extends Error {
  /** @param {string} text */
  constructor(text) {
    super(text);
    this.name = 'ViewError';
  }
}

/** @param {Uint8Array} bytes @returns {Entry} */
export function readEntry(bytes) {
  const [id, object, body] = decode(entrySchema, bytes, ENTRY_BYTES_MAX);
  if (body.id !== id) throw new ViewError(`the entry of object ${id} has another's body`);
  return { id, object, body };
}

/** @type {(at: [number, number]) => {x: number, y: number}} */
const vector = ([x, y]) => ({ x, y });

/** The body after a movement. @param {any} body @param {any} movement */
export function follow(body, { position, facing, velocity, spin, slow_steps: slow }) {
  return {
    ...body,
    position: position === null ? body.position : vector(position),
    facing: facing === null ? body.facing : vector(facing),
    velocity: velocity === null ? body.velocity : vector(velocity),
    spin: spin ?? body.spin,
    slow_steps: slow ?? body.slow_steps,
  };
}

const name = (/** @type {{x: number, y: number}} */ { x, y }) => `${x},${y}`;

/** The copies of one client. */
export class Tiles {
  constructor() {
    /** @type {Map<string, Copy>} */
    this.copies = new Map();
    /** In which copy an object was told of last. @type {Map<number, string>} */
    this.places = new Map();
    /** The number of the last view of this connection. */
    this.last = 0;
    /** Of the last view of this connection. @type {number|null} */
    this.since = null;
    this.height = 0;
  }

  /** What the servers need not send again. @returns {[{x: number, y: number}, number][]} */
  have() {
    const whole = [...this.copies.values()].filter((copy) => copy.whole);
    return whole.map(({ tile, height }) => [tile, height]);
  }

  /** A new connection: the next view has number 1. Whole copies stay. */
  begin() {
    this.last = 0;
    this.since = null;
    for (const [key, copy] of this.copies) {
      if (!copy.whole) this.copies.delete(key);
    }
    for (const [id, key] of this.places) if (!this.copies.has(key)) this.places.delete(id);
  }

  /** Forgets everything but how many views came. */
  clear() {
    this.copies.clear();
    this.places.clear();
    this.since = null;
  }

  /** @param {number} id @returns {Entry|undefined} */
  get(id) {
    return this.copies.get(this.places.get(id) ?? '')?.entries.get(id);
  }

  /**
   * Takes a view in.
   * @param {any} view
   * @returns {{put: Set<number>, moved: Set<number>, gone: Set<number>}} the ids of what is new or
   *   changed, of what only moved, and of what is out of sight
   */
  apply(view) {
    if (view.number !== (this.last + 1) >>> 0) {
      throw new ViewError(`view ${view.number} follows view ${this.last}`);
    }
    this.last = view.number;
    if (this.since !== null && view.height <= this.since) throw new ViewError('views go back');
    /** @type {{put: Set<number>, moved: Set<number>, gone: Set<number>}} */
    const changes = { put: new Set(), moved: new Set(), gone: new Set() };
    // First, because a tile may have come into sight again since.
    for (const tile of view.left) {
      const key = name(tile);
      for (const id of this.copies.get(key)?.entries.keys() ?? []) this.#leave(id, key, changes);
      this.copies.delete(key);
    }
    for (const update of view.tiles) this.#update(update, view.height, changes);
    if (this.copies.size > HAVE_MAX) throw new ViewError('more tiles than anybody sees');
    if (this.places.size > ENTRIES_MAX) throw new ViewError('more objects than a world has');
    this.since = view.height;
    this.height = view.height;
    return changes;
  }

  /**
   * @param {any} update
   * @param {number} height
   * @param {{put: Set<number>, moved: Set<number>, gone: Set<number>}} changes
   */
  #update({ tile, since, entries, moved, gone, more }, height, changes) {
    const key = name(tile);
    let copy = this.copies.get(key);
    if (since === null) {
      for (const id of copy?.entries.keys() ?? []) this.#leave(id, key, changes);
      copy = { tile, height, whole: false, entries: new Map() };
      this.copies.set(key, copy);
    } else if (copy === undefined || copy.height < since) {
      throw new ViewError(`tile ${key} is of height ${copy?.height}, not ${since}`);
    }
    copy.height = height;
    copy.whole = !more;
    for (const id of gone) {
      copy.entries.delete(id);
      this.#leave(id, key, changes);
    }
    for (const bytes of entries) {
      const entry = readEntry(bytes);
      copy.entries.set(entry.id, entry);
      this.places.set(entry.id, key);
      changes.put.add(entry.id);
      changes.gone.delete(entry.id);
    }
    for (const [id, movement] of moved) {
      const entry = copy.entries.get(id);
      if (entry === undefined) throw new ViewError(`object ${id} moved, and is not in the copy`);
      copy.entries.set(id, { ...entry, body: follow(entry.body, movement) });
      this.places.set(id, key);
      changes.moved.add(id);
    }
  }

  /**
   * An object left a copy; it may be in another one already.
   * @param {number} id
   * @param {string} key
   * @param {{gone: Set<number>}} changes
   */
  #leave(id, key, { gone }) {
    if (this.places.get(id) !== key) return;
    this.places.delete(id);
    gone.add(id);
  }
}
