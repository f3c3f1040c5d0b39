/** What is in sight, for drawing and telling: things, and where they are at any moment. */
import { Predictor } from './predict.js';
import { Timeline, Track } from './timeline.js';

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
