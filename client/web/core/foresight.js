// @ts-check
/**
 * Prediction by the servers' own physics, where the wasm module runs: after each view, and when the
 * heading changes, it is asked where the own avatar will be. The predictor's simple rules fill in
 * where it is not there, or late.
 */
import { toFx } from './acts.js';
import { TICKS_PER_SECOND } from './timeline.js';

const TICK_MS = 1_000 / TICKS_PER_SECOND;
/** The farthest that the module looks ahead. */
const TICKS_MAX = 60;
/** Beyond this moment, so that a late view finds the path still going on. */
const SPARE_MS = 150;
const Q20 = 2 ** 20;

/** The bits that an act has for a share of the speed; they are few enough for a Number. */
const bits = (/** @type {number} */ share) => Number(toFx(share));

/**
 * A heading that was sent, or will be.
 * @typedef {object} Said
 * @property {number} sent when
 * @property {number} x
 * @property {number} y
 * @property {number|null} height of the turn that took it, once known
 */

export class Foresight {
  /** @param {(asked: number, walk: any) => void} ask */
  constructor(ask) {
    this.ask = ask;
    /** @type {Said[]} */
    this.said = [];
    /** Of the last view. */
    this.height = 0;
    /** The moment, in the predictor's time, that the last view shows. */
    this.began = 0;
    this.asked = 0;
    /** When the path that was asked for begins. */
    this.asking = { number: 0, began: 0 };
  }

  /**
   * A heading is on its way.
   * @param {number} x
   * @param {number} y
   * @param {number} sent when
   * @returns {Said}
   */
  note(x, y, sent) {
    const said = { sent, x, y, height: null };
    this.said.push(said);
    return said;
  }

  /** Another avatar. */
  reset() {
    this.said = [];
  }

  /**
   * A view came.
   * @param {number} height
   * @param {number} now
   * @param {number} ahead milliseconds that the predictor is ahead of views
   */
  view(height, now, ahead) {
    this.height = height;
    this.began = now - ahead;
    const known = this.said.map((said) => said.height !== null && said.height <= height);
    const applied = known.lastIndexOf(true);
    if (applied > 0) this.said.splice(0, applied);
    this.look(now);
  }

  /** Asks where the avatar will be. @param {number} now */
  look(now) {
    const applied = (/** @type {Said} */ { height }) => height !== null && height <= this.height;
    const fixed = (/** @type {{x: number, y: number}} */ { x, y }) => [x, y].map(bits);
    const heading = this.said.find(applied) ?? { x: 0, y: 0 };
    const changes = this.said
      .filter((said) => !applied(said))
      .map((said) => ({
        after: Math.min(Math.max(Math.ceil((said.sent - this.began) / TICK_MS), 0), TICKS_MAX),
        heading: fixed(said),
      }));
    const ticks = Math.min(Math.ceil((now - this.began + SPARE_MS) / TICK_MS), TICKS_MAX);
    this.asked += 1;
    this.asking = { number: this.asked, began: this.began };
    this.ask(this.asked, { heading: fixed(heading), changes, ticks });
  }

  /**
   * What the module found; null for an answer to an older question, or without an avatar.
   * @param {number} asked
   * @param {any} found
   * @returns {{began: number, points: import('./predict.js').Point[]}|null}
   */
  path(asked, found) {
    if (asked !== this.asking.number || found === null) return null;
    const points = found.path.map((/** @type {any} */ { position, velocity, facing }) => ({
      x: position[0] / Q20,
      y: position[1] / Q20,
      vx: velocity[0] / Q20,
      vy: velocity[1] / Q20,
      angle: Math.atan2(facing[1], facing[0]),
    }));
    return { began: this.asking.began, points };
  }
}
