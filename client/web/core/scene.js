/** What is in sight, for drawing and telling: things, and where they are at any moment. */
import { Predictor } from './predict.js';
import { Timeline, Track } from './timeline.js';

/** The sim of a thing's birth, and its number there. @typedef {{sim: string, number: number}} Origin */
/** What is worn on a body. @typedef {{shape: string, color: number}} Wearable */
/** How somebody looks. @typedef {{color: number, shape: string, head?: Wearable | null, hands?: Wearable | null, hat?: Wearable | null}} Look */

/**
 * @typedef {object} Thing
 * @property {number} id
 * @property {string} kind
 * @property {string} name
 * @property {string|null} owner key, in hexadecimal digits; null is the sim's own
 * @property {string|null} player whose avatar it is
 * @property {Look} look
 * @property {string} text
 * @property {{script: number, package: string|null}[]} scripts
 * @property {string} licence 'Cc0', 'CcBy', 'CcBySa' or 'Reserved'
 * @property {string|null} author key of who made it, or made what it is a copy of
 * @property {{by: string, word: string, height: number, time: number}|null} changed who changed it last
 * @property {Origin|null} birth where it was born; null for here, under its number
 * @property {string|null} home the sim to which it can be sent home, if it came over a border
 * @property {Origin|null} parent what it is a copy of
 * @property {boolean} travels may it leave for another sim?
 * @property {number|null} held the avatar that has it in hand
 * @property {boolean} seat can somebody sit on it?
 * @property {boolean} round a disc; a rectangle otherwise
 * @property {boolean} [rod] with round ends
 * @property {number} hx half its width in metres, or its radius
 * @property {number} hy
 * @property {[number, number][][] | null} [corners] of each part in metres, counter-clockwise; `thin` if it is a line
 * @property {'static'|'kinematic'|'dynamic'} motion
 * @property {boolean} movable
 * @property {boolean} sensor lets others through
 * @property {string|null} gesture 'wave', 'nod', 'dance', 'bow', 'laugh'
 * @property {boolean} far seen from afar: it is not among the proven tiles
 * @property {boolean} departed it went over a border, and is drawn on until the other sim shows it
 */

/**
 * In metres, radians, and metres a second.
 * @typedef {{x: number, y: number, angle: number, vx: number, vy: number}} Place
 */

/**
 * What the core tells of a moment.
 * @typedef {object} View
 * @property {number} height
 * @property {number} tick
 * @property {number|null} me the own avatar
 * @property {boolean} reset everything else is out of sight
 * @property {number[]} gone
 * @property {(Thing & {place: Place})[]} put what is new or changed
 * @property {[number, number, number, number, number, number][]} moved id, x, y, angle, vx, vy
 * @property {[number, string][]} gestures all of this moment
 */

/** Metres from the middle of an avatar to its right hand. */
const HAND = 0.45;

/** Where a thing is drawn whose holder is there. @param {Place|null} holder @returns {Place|null} */
function inHand(holder) {
  if (!holder) return null;
  const right = holder.angle - Math.PI / 4;
  return { ...holder, x: holder.x + Math.cos(right) * HAND, y: holder.y + Math.sin(right) * HAND };
}

export class Scene {
  timeline = new Timeline();
  objects = /** @type {Map<number, Thing>} */ (new Map());
  tracks = /** @type {Map<number, Track>} */ (new Map());
  /** The own avatar. @type {number|null} */
  me = null;
  /** Draws the own avatar ahead of the servers. */
  predictor = new Predictor();
  height = 0;
  tick = 0;
  gesturing = /** @type {Set<number>} */ (new Set());

  /** Takes a view in. @param {View} view @param {number} now */
  take(view, now) {
    const before = this.tick;
    if (view.reset) this.clear();
    this.timeline.heard(view.tick, now);
    [this.height, this.tick, this.me] = [view.height, view.tick, view.me];
    for (const id of view.gone) {
      this.objects.delete(id);
      this.tracks.delete(id);
    }
    for (const { place, ...thing } of view.put) {
      this.objects.set(thing.id, { ...thing, gesture: this.objects.get(thing.id)?.gesture ?? null });
      this.#move(thing.id, place, before);
    }
    for (const [id, x, y, angle, vx, vy] of view.moved) this.#move(id, { x, y, angle, vx, vy }, before);
    this.#gestures(view.gestures);
  }

  /** Nothing is in sight any more. */
  clear() {
    this.objects.clear();
    this.tracks.clear();
    this.gesturing.clear();
  }

  /** Where a thing is drawn. @param {number} id @param {number} now @returns {Place|null} */
  at(id, now) {
    const holder = this.objects.get(this.objects.get(id)?.held ?? 0);
    // Nobody who holds something is held: a sim whose servers lie may show a ring.
    if (holder && !holder.held) return inHand(this.at(holder.id, now));
    if (id === this.me && this.predictor.ready) return this.predictor.at(now);
    const track = this.tracks.get(id);
    return track ? track.at(this.timeline.at(now)) : null;
  }

  /**
   * The thing in sight that has this origin in the sim `here`.
   * @param {Origin} origin @param {string} here @returns {Thing|undefined}
   */
  born({ sim, number }, here) {
    const is = (/** @type {Thing} */ { id, birth }) => (birth
      ? birth.sim === sim && birth.number === number
      : here === sim && id === number);
    return [...this.objects.values()].find(is);
  }

  /** Where the servers last said that a thing is. @param {number} id @returns {Place|null} */
  known = (id) => this.tracks.get(id)?.samples.at(-1) ?? null;

  /** @param {number} id @param {Place} place @param {number} before the tick of the view before */
  #move(id, place, before) {
    const sample = { ...place, tick: this.tick };
    const track = this.tracks.get(id);
    if (track) track.add(sample, before);
    else this.tracks.set(id, new Track(sample));
  }

  /** @param {[number, string][]} gestures all of this moment */
  #gestures(gestures) {
    const told = new Map(gestures);
    for (const id of [...this.gesturing, ...told.keys()]) {
      const thing = this.objects.get(id);
      if (thing) thing.gesture = told.get(id) ?? null;
    }
    this.gesturing = new Set(told.keys());
  }
}
