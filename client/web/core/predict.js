/**
 * Where the own avatar is drawn. The core predicts its path, by the servers' own physics; here the
 * way from one path to the next is smoothed, so that a correction is no jump.
 */
import { TICK_MS } from './timeline.js';

/** What is left of an error after a second: it shrinks to a tenth in 150 ms. */
const LEFT_AFTER_SECOND = 1e-6;
/** An error of this many metres is no error of prediction: the avatar was put there. */
const JUMP_METRES = 3;

export class Predictor {
  /** One point for each tick after a moment. @type {PathPoint[]} */
  points = [];
  began = 0;
  /** What was shown less what is predicted, when the path was taken. */
  offset = { x: 0, y: 0 };
  taken = 0;

  /** Is it known where the avatar will be? */
  get ready() {
    return this.points.length > 0;
  }

  /** Takes a path. @param {{at: number, points: PathPoint[]|null}} path @param {number} now */
  follow({ at, points }, now) {
    const shown = this.ready ? this.at(now) : null;
    [this.points, this.began, this.taken] = [points ?? [], at, now];
    this.offset = { x: 0, y: 0 };
    if (shown !== null) this.continue(shown, now);
    if (Math.hypot(this.offset.x, this.offset.y) > JUMP_METRES) this.offset = { x: 0, y: 0 };
  }

  /** Goes on from where it is shown on another path. @param {Place} shown @param {number} now */
  continue({ x, y }, now) {
    if (!this.ready) return;
    const place = this.#onPath(now);
    [this.offset, this.taken] = [{ x: x - place.x, y: y - place.y }, now];
  }

  /** Returns where it is drawn. @param {number} now @returns {Place} */
  at(now) {
    const place = this.#onPath(now);
    const left = LEFT_AFTER_SECOND ** (Math.max(now - this.taken, 0) / 1_000);
    return { ...place, x: place.x + this.offset.x * left, y: place.y + this.offset.y * left };
  }

  /** At the end of the path it waits for another one. @param {number} now @returns {Place} */
  #onPath(now) {
    const { points } = this;
    const last = points.length - 1;
    const step = Math.min(Math.max((now - this.began) / TICK_MS - 1, 0), last);
    const [a, b] = [points[Math.floor(step)], points[Math.ceil(step)]];
    const share = step - Math.floor(step);
    const mix = (/** @type {number} */ part) => a[part] + (b[part] - a[part]) * share;
    return { x: mix(0), y: mix(1), vx: mix(2), vy: mix(3), angle: b[4] };
  }
}
