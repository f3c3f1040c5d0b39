// @ts-check
/** What is in sight, for drawing and telling: things, and where they are at any moment. */
import { variant } from '../wire/postcard.js';
import { Tiles, follow, readEntry } from './tiles.js';
import { Timeline, Track } from './timeline.js';

const Q20 = 2 ** 20;
/** Far things that are not told of again within so many turns are gone. */
const FAR_TURNS_MAX = 200;

/** The sim of a thing's birth, and its number there. @typedef {{sim: string, number: number}} Origin */

/**
 * @typedef {object} Thing
 * @property {number} id
 * @property {string} kind
 * @property {string} name
 * @property {string|null} owner key, in hexadecimal digits; null is the sim's own
 * @property {string|null} player whose avatar it is
 * @property {{color: number, shape: string}} look 0xRRGGBB; 'round', 'square', 'arrow' or 'star'
 * @property {string} text
 * @property {{script: number, package: string|null}[]} scripts
 * @property {string} licence 'Cc0', 'CcBy', 'CcBySa' or 'Reserved'
 * @property {string|null} author key of who made it, or made what it is a copy of
 * @property {Origin|null} birth where it was born; null for here, under its number
 * @property {Origin|null} parent what it is a copy of
 * @property {boolean} travels may it leave for another sim?
 * @property {boolean} round a disc; a rectangle otherwise
 * @property {number} hx half its width in metres, or its radius
 * @property {number} hy
 * @property {'static'|'kinematic'|'dynamic'} motion
 * @property {boolean} movable
 * @property {boolean} sensor lets others through
 * @property {string|null} gesture 'wave', 'nod', 'dance', 'bow', 'laugh'
 * @property {boolean} far seen from afar: it is not among the proven tiles
 */

/** @typedef {{x: number, y: number, angle: number, vx: number, vy: number}} Place */

/**
 * @param {import('./tiles.js').Entry} entry
 * @param {(script: number) => string|null} packageOf
 * @returns {Thing}
 */
function thingOf({ id, object, body }, packageOf) {
  const [kind, size] = variant(body.geometry);
  const round = kind === 'Circle';
  const motion = body.motion.toLowerCase();
  return {
    id,
    kind: object.kind,
    name: object.name,
    owner: object.owner,
    player: object.player,
    look: { color: object.look.color, shape: object.look.shape.toLowerCase() },
    text: object.text,
    scripts: object.scripts.map((/** @type {number} */ script) => ({
      script,
      package: packageOf(script),
    })),
    licence: object.licence,
    author: object.author,
    birth: object.birth,
    parent: object.parent,
    travels: object.travels,
    round,
    hx: (round ? size : size.x) / Q20,
    hy: (round ? size : size.y) / Q20,
    motion,
    movable: motion === 'dynamic' && object.player === null,
    sensor: body.sensor,
    gesture: null,
    far: false,
  };
}

/** @param {any} body @param {number} tick @returns {import('./timeline.js').Sample} */
function sampleOf({ position, facing, velocity }, tick) {
  return {
    tick,
    x: position.x / Q20,
    y: position.y / Q20,
    angle: Math.atan2(facing.y, facing.x),
    vx: velocity.x / Q20,
    vy: velocity.y / Q20,
  };
}

export class Sight {
  /** @param {{ticksPerTurn?: number}} [options] */
  constructor({ ticksPerTurn = 3 } = {}) {
    this.tiles = new Tiles();
    this.timeline = new Timeline(ticksPerTurn);
    /** @type {Map<number, Thing>} */
    this.objects = new Map();
    /** @type {Map<number, Track>} */
    this.tracks = new Map();
    /** Which package a script runs. @type {Map<number, string>} */
    this.packages = new Map();
    /** The own avatar. @type {number|null} */
    this.me = null;
    /** Moves the own avatar ahead of the servers. @type {import('./predict.js').Predictor|null} */
    this.predictor = null;
    this.height = 0;
    this.tick = 0;
    /** Things seen from afar, and when they were told of last. @type {Map<number, number>} */
    this.distant = new Map();
    /** @type {Set<number>} */
    this.gesturing = new Set();
    /** Things very near that are in no copy for the moment. */
    this.between = /** @type {Map<number, import('./tiles.js').Entry>} */ (new Map());
  }

  /**
   * Takes a view in; the copies are forgotten if it does not fit them.
   * @param {any} view
   * @param {number} now
   * @returns {boolean} whether the set of things in sight changed
   */
  take(view, now) {
    const between = this.#between(view.near);
    const changes = this.tiles.apply(view);
    const before = this.tick;
    this.timeline.heard(view.tick, now);
    [this.height, this.tick, this.me] = [view.height, view.tick, view.me];
    for (const id of changes.put) this.#put(id);
    for (const id of [...changes.put, ...changes.moved]) {
      const entry = this.tiles.get(id);
      if (entry) this.#move(id, entry.body, before);
    }
    for (const [id, movement] of view.near) {
      const entry = this.tiles.get(id) ?? between.get(id);
      if (entry) this.#move(id, follow(entry.body, movement), before);
    }
    const lost = [...changes.gone, ...this.between.keys()];
    for (const id of lost) if (!this.tiles.get(id) && !between.has(id)) this.#drop(id);
    this.between = between;
    const far = this.#far(view.far, before);
    this.#gestures(view.gestures);
    return changes.put.size > 0 || changes.gone.size > 0 || far;
  }

  /**
   * What was known of things very near; one that crosses into another tile may be in no copy.
   * @param {[number, any][]} near
   */
  #between(near) {
    /** @type {Map<number, import('./tiles.js').Entry>} */
    const found = new Map();
    for (const [id] of near) {
      const entry = this.tiles.get(id) ?? this.between.get(id);
      if (entry) found.set(id, entry);
    }
    return found;
  }

  /** Which packages scripts run; things show them from now on. @param {any[]} scripts */
  learn(scripts) {
    for (const { script, package: name } of scripts) this.packages.set(script, name);
    for (const thing of this.objects.values()) {
      for (const script of thing.scripts) script.package ??= this.#packageOf(script.script);
    }
  }

  /** Are there scripts of unknown packages in sight? */
  get unlearned() {
    const unknown = (/** @type {Thing} */ thing) => thing.scripts.some((s) => s.package === null);
    return [...this.objects.values()].some(unknown);
  }

  /** A new connection: the next view has number 1. Whole copies stay. */
  begin() {
    this.tiles.begin();
    for (const id of this.objects.keys()) {
      if (!this.tiles.get(id) && !this.distant.has(id)) this.#drop(id);
    }
  }

  /** Nothing is in sight any more. */
  clear() {
    this.tiles.clear();
    this.objects.clear();
    this.tracks.clear();
    this.between.clear();
    this.distant.clear();
    this.gesturing.clear();
  }

  /**
   * Where a thing is drawn.
   * @param {number} id
   * @param {number} now
   * @returns {Place|null}
   */
  at(id, now) {
    if (id === this.me && this.predictor?.ready) return this.predictor.at(now);
    const track = this.tracks.get(id);
    return track ? track.at(this.timeline.at(now)) : null;
  }

  /**
   * The thing in sight that has this origin in the sim `here`.
   * @param {Origin} origin
   * @param {string} here
   * @returns {Thing|undefined}
   */
  born({ sim, number }, here) {
    const is = (/** @type {Thing} */ { id, birth }) => (birth
      ? birth.sim === sim && birth.number === number
      : here === sim && id === number);
    return [...this.objects.values()].find(is);
  }

  /** Where the servers last said that a thing is. @param {number} id @returns {Place|null} */
  known(id) {
    return this.tracks.get(id)?.samples.at(-1) ?? null;
  }

  /** Where the world is drawn by now, in ticks. @param {number} now */
  moment(now) {
    return this.timeline.at(now);
  }

  /** @param {number} script */
  #packageOf(script) {
    return this.packages.get(script) ?? null;
  }

  /** @param {number} id */
  #put(id) {
    const entry = this.tiles.get(id);
    if (!entry) return;
    const thing = thingOf(entry, (script) => this.#packageOf(script));
    thing.gesture = this.objects.get(id)?.gesture ?? null;
    this.objects.set(id, thing);
    this.distant.delete(id);
  }

  /** @param {number} id @param {any} body @param {number} before */
  #move(id, body, before) {
    const sample = sampleOf(body, this.tick);
    const track = this.tracks.get(id);
    if (track) track.add(sample, before);
    else this.tracks.set(id, new Track(sample));
  }

  /** @param {number} id */
  #drop(id) {
    this.objects.delete(id);
    this.tracks.delete(id);
  }

  /**
   * @param {Uint8Array[]} entries
   * @param {number} before
   * @returns {boolean} whether the set of far things changed
   */
  #far(entries, before) {
    let changed = false;
    for (const bytes of entries) {
      const entry = readEntry(bytes);
      if (this.tiles.get(entry.id)) continue;
      changed ||= !this.distant.has(entry.id);
      this.distant.set(entry.id, this.height);
      const thing = thingOf(entry, (script) => this.#packageOf(script));
      this.objects.set(entry.id, { ...thing, far: true });
      this.#move(entry.id, entry.body, before);
    }
    for (const [id, told] of this.distant) {
      const near = this.tiles.get(id) !== undefined;
      if (!near && this.height - told <= FAR_TURNS_MAX) continue;
      this.distant.delete(id);
      if (!near) this.#drop(id);
      changed = true;
    }
    return changed;
  }

  /** @param {[number, string][]} gestures all of this moment */
  #gestures(gestures) {
    const told = new Map(gestures);
    for (const id of this.gesturing) {
      const thing = this.objects.get(id);
      if (thing && !told.has(id)) thing.gesture = null;
    }
    for (const [id, emote] of told) {
      const thing = this.objects.get(id);
      if (thing) thing.gesture = emote.toLowerCase();
    }
    this.gesturing = new Set(told.keys());
  }
}
