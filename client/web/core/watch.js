// @ts-check
/** How the session watches: what is asked for, and what is done with views. */
import { WireError } from '../wire/buffer.js';
import { ViewError } from './tiles.js';

/** Views a second that are worth having cost about this much where much moves. */
const BYTES_PER_SECOND = 100_000;
const BYTES_HIDDEN = 4_000;
/** A tab that nobody looks at gets a view in so many turns. */
const TURNS_HIDDEN = 20;
/** Views that may be under way when views are asked for anew: the most that servers send. */
const UNSEEN_MAX = 8;
/** What is farther from the own avatar than this, is in nobody's way. */
const NEAR_METRES = 4;
const NEAR_MAX = 32;

export class Watch {
  /**
   * @param {object} parts
   * @param {import('./session.js').Session} parts.session
   * @param {import('./sight.js').Sight} parts.sight
   * @param {import('./proof.js').Proofs} parts.proofs
   * @param {{x: bigint, y: bigint}|null} parts.at
   */
  constructor({ session, sight, proofs, at }) {
    this.session = session;
    this.sight = sight;
    this.proofs = proofs;
    this.at = at;
    /** @type {'active'|'hidden'} */
    this.pulse = 'active';
    /** So many views may be answers to an earlier request, and need not fit. */
    this.lenient = 0;
    /** Who may be in the way of the own avatar, as of the last view. @type {number[]} */
    this.nearby = [];
  }

  /** @param {'active'|'hidden'} pulse */
  setPulse(pulse) {
    if (this.pulse === pulse) return;
    this.pulse = pulse;
    if (this.session.open) this.#ask();
  }

  /** A new connection: what is held need not be sent again. */
  begin() {
    this.sight.begin();
    this.lenient = 0;
    this.proofs.begin(this.sight.tiles.copies.size > 0);
    this.#ask();
  }

  /** What was brought from another server does not fit here: begins with nothing. */
  anew() {
    this.sight.clear();
    this.lenient = UNSEEN_MAX;
    this.proofs.begin(false);
    this.#ask();
  }

  #ask() {
    const have = this.sight.tiles.have();
    const hidden = this.pulse === 'hidden';
    this.session.watch({
      bytes_per_second: hidden ? BYTES_HIDDEN : BYTES_PER_SECOND,
      turns_apart: hidden ? TURNS_HIDDEN : 1,
      proofs: true,
      at: this.at,
      have,
    });
  }

  /**
   * Takes a view in. One that does not fit what is held makes all of it worthless.
   * @param {any} view
   * @param {number} now
   * @returns {{taken: boolean, changed: boolean}}
   */
  take(view, now) {
    const lenient = this.lenient > 0;
    this.lenient = Math.max(this.lenient - 1, 0);
    try {
      const changed = this.sight.take(view, now);
      this.#look();
      return { taken: true, changed };
    } catch (error) {
      if (!(error instanceof ViewError || error instanceof WireError)) throw error;
      this.sight.clear();
      return { taken: lenient, changed: true };
    }
  }

  /** Notes who is near the own avatar. */
  #look() {
    const { sight } = this;
    const me = sight.me === null ? null : sight.known(sight.me);
    this.nearby = [];
    if (me === null) return;
    for (const [id, thing] of sight.objects) {
      if (id === sight.me || thing.sensor || this.nearby.length >= NEAR_MAX) continue;
      const place = sight.known(id);
      const reach = NEAR_METRES + Math.hypot(thing.hx, thing.hy);
      if (place === null) continue;
      if (Math.hypot(place.x - me.x, place.y - me.y) < reach) this.nearby.push(id);
    }
  }

  /** What is in the way of the own avatar. @param {number} now */
  solids(now) {
    const found = [];
    for (const id of this.nearby) {
      const [thing, place] = [this.sight.objects.get(id), this.sight.at(id, now)];
      if (!thing || place === null) continue;
      const { round, hx, hy } = thing;
      found.push({ x: place.x, y: place.y, angle: place.angle, round, hx, hy });
    }
    return found;
  }
}
