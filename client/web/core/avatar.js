// @ts-check
/** The own avatar between a key press and what the servers make of it. */
import { Foresight } from './foresight.js';
import { Predictor } from './predict.js';
import { TICKS_PER_SECOND } from './timeline.js';

export class OwnAvatar {
  /**
   * @param {object} parts
   * @param {import('./sight.js').Sight} parts.sight
   * @param {import('./proof.js').Proofs} parts.proofs
   * @param {() => boolean} parts.here whether this tab steers it
   * @param {() => number} parts.now
   */
  constructor({ sight, proofs, here, now }) {
    this.sight = sight;
    this.proofs = proofs;
    this.here = here;
    this.now = now;
    this.foresight = new Foresight((asked, walk) => proofs.predict(asked, walk));
    /** Headings that were taken, and wait for the view that shows them.
     * @type {{sent: number, height: number}[]} */
    this.taken = [];
    /** The avatar of the last view. @type {number|null} */
    this.last = null;
  }

  /**
   * It is known how avatars move.
   * @param {{radius: number, speed: number, acceleration: number}} rules
   * @param {() => import('./predict.js').Solid[]} solids what is in its way
   */
  learn(rules, solids) {
    const predictor = new Predictor(rules);
    predictor.solids = solids;
    this.sight.predictor = predictor;
  }

  /** Somebody wants to walk this way. @param {{x: number, y: number}} heading */
  steer({ x, y }) {
    this.sight.predictor?.steer(x, y, this.now());
  }

  /**
   * A heading is sent.
   * @param {{x: number, y: number}} heading
   * @param {number} sent
   * @returns {(height: number) => void} to be told in which turn it was taken
   */
  walking({ x, y }, sent) {
    const said = this.foresight.note(x, y, sent);
    if (this.proofs.works) this.foresight.look(this.now());
    return (height) => {
      said.height = height;
      this.taken.push({ sent, height });
    };
  }

  /** The module says where it will be. @param {number} asked @param {any} found */
  foreseen(asked, found) {
    const path = this.foresight.path(asked, found);
    if (path !== null) this.sight.predictor?.follow(path, this.now());
  }

  /** A view was taken in. @param {number} now */
  view(now) {
    const { predictor, me, height, timeline } = this.sight;
    if (predictor === null) return;
    // Another tab's steps are drawn as everybody's.
    if (me === null || me !== this.last || !this.here()) {
      predictor.reset();
      this.foresight.reset();
    }
    this.last = me;
    this.taken = this.taken.filter(({ sent, height: at }) => {
      if (at <= height) predictor.took(now - sent);
      return at > height;
    });
    const place = me === null || !this.here() ? null : this.sight.known(me);
    if (place === null) return;
    const turn = (timeline.ticksPerTurn * 1_000) / TICKS_PER_SECOND;
    predictor.correct(place, now, turn);
    const { heading } = predictor;
    const still = [heading.x, heading.y, place.vx, place.vy].every((part) => part === 0);
    const ahead = Math.max(predictor.latency - turn, 0);
    if (this.proofs.works && !still) this.foresight.view(height, now, ahead);
  }
}
