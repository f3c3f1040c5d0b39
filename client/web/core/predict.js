// @ts-check
/**
 * The own avatar, ahead of the servers by the time that an act takes: moved by rules of the same
 * shape as theirs, and brought to what they say without a jump.
 */

/** The error that is left over, shrinks by this factor in a second: a tenth in 150 ms. */
const LEFT_AFTER_SECOND = 1e-6;
/** An error of this many metres is no error of prediction: the avatar was put there. */
const JUMP_METRES = 3;
/** A share of each error is taken in at once; the rest is the uneven arrival of views. */
const TAKEN = 0.3;
/** How long positions are remembered. */
const MEMORY_MS = 2_000;
/** The longest step, in seconds; a tab that slept does not run on. */
const STEP_MAX = 0.1;
const TICK_MS = 1_000 / 60;

/** @typedef {{x: number, y: number, vx: number, vy: number, angle: number}} Point */

/**
 * @typedef {object} Solid
 * @property {number} x
 * @property {number} y
 * @property {number} angle
 * @property {boolean} round
 * @property {number} hx
 * @property {number} hy
 */

export class Predictor {
  /** @param {{radius: number, speed: number, acceleration: number}} avatar */
  constructor({ radius, speed, acceleration }) {
    this.radius = radius;
    this.speed = speed;
    this.acceleration = acceleration;
    /** Is it known where the avatar is? */
    this.ready = false;
    this.x = 0;
    this.y = 0;
    this.vx = 0;
    this.vy = 0;
    this.angle = 0;
    this.heading = { x: 0, y: 0 };
    this.time = 0;
    /** What was shown, less what is predicted. */
    this.offset = { x: 0, y: 0 };
    /** @type {{t: number, x: number, y: number}[]} */
    this.memory = [];
    /** Where the servers' own physics say it will be, tick by tick after a moment.
     * @type {{began: number, points: Point[]}|null} */
    this.path = null;
    /** From the sending of a heading to the view that shows it. */
    this.latency = 120;
    /** What is in the way. @type {() => Solid[]} */
    this.solids = () => [];
  }

  /** The avatar is gone. */
  reset() {
    this.ready = false;
    this.path = null;
    this.memory = [];
    this.heading = { x: 0, y: 0 };
  }

  /** Walk this way from now on. @param {number} x @param {number} y @param {number} now */
  steer(x, y, now) {
    this.advance(now);
    const length = Math.max(Math.hypot(x, y), 1);
    this.heading = { x: x / length, y: y / length };
    if (x !== 0 || y !== 0) this.angle = Math.atan2(y, x);
  }

  /** A heading took so long to be seen. @param {number} ms */
  took(ms) {
    this.latency += (Math.min(Math.max(ms, 0), 1_000) - this.latency) * 0.2;
  }

  /**
   * What the servers say.
   * @param {{x: number, y: number, vx: number, vy: number, angle: number}} place
   * @param {number} now
   * @param {number} turn milliseconds of a turn: a heading's first one is in the view already
   */
  correct(place, now, turn) {
    const resting = this.heading.x === 0 && this.heading.y === 0;
    if (!this.ready) {
      Object.assign(this, { ...place, ready: true, time: now, offset: { x: 0, y: 0 } });
      this.memory = [{ t: now, x: this.x, y: this.y }];
      return;
    }
    this.advance(now);
    const then = this.#remembered(now - Math.max(this.latency - turn, 0));
    const [ex, ey] = [place.x - then.x, place.y - then.y];
    const size = Math.hypot(ex, ey);
    const jump = size > JUMP_METRES;
    if (jump) this.path = null;
    // The path begins where the servers say already.
    if (this.path !== null) return;
    const share = jump || size > 0.5 ? 1 : TAKEN;
    this.x += ex * share;
    this.y += ey * share;
    for (const past of this.memory) {
      past.x += ex * share;
      past.y += ey * share;
    }
    if (jump) {
      this.offset = { x: 0, y: 0 };
      [this.vx, this.vy] = [place.vx, place.vy];
    } else {
      this.offset.x -= ex * share;
      this.offset.y -= ey * share;
    }
    if (resting && place.vx === 0 && place.vy === 0) this.angle = place.angle;
  }

  /**
   * Better is known where it will be.
   * @param {{began: number, points: Point[]}} path
   * @param {number} now
   */
  follow(path, now) {
    if (!this.ready) return;
    const shown = this.at(now);
    this.path = path;
    const place = this.#onPath(now);
    if (place === null) return;
    [this.x, this.y, this.vx, this.vy] = [place.x, place.y, place.vx, place.vy];
    const far = Math.hypot(shown.x - place.x, shown.y - place.y) > JUMP_METRES;
    this.offset = far ? { x: 0, y: 0 } : { x: shown.x - place.x, y: shown.y - place.y };
  }

  /** @param {number} now @returns {Point|null} nothing where the path has ended */
  #onPath(now) {
    if (this.path === null) return null;
    const { began, points } = this.path;
    const at = (now - began) / TICK_MS - 1;
    if (at > points.length - 1) return null;
    const [a, b] = [points[Math.max(Math.floor(at), 0)], points[Math.max(Math.ceil(at), 0)]];
    const share = at - Math.floor(at);
    const mix = (/** @type {'x'|'y'|'vx'|'vy'} */ part) => a[part] + (b[part] - a[part]) * share;
    return { x: mix('x'), y: mix('y'), vx: mix('vx'), vy: mix('vy'), angle: b.angle };
  }

  /** Moves on. @param {number} now */
  advance(now) {
    const seconds = Math.min((now - this.time) / 1_000, STEP_MAX);
    if (!this.ready || seconds <= 0) return;
    this.time = now;
    const place = this.#onPath(now);
    if (place === null) {
      this.path = null;
      this.#accelerate(seconds);
      this.x += this.vx * seconds;
      this.y += this.vy * seconds;
      for (const solid of this.solids()) this.#avoid(solid);
    } else [this.x, this.y, this.vx, this.vy] = [place.x, place.y, place.vx, place.vy];
    const left = LEFT_AFTER_SECOND ** seconds;
    this.offset.x *= left;
    this.offset.y *= left;
    this.memory.push({ t: now, x: this.x, y: this.y });
    while (this.memory[0].t < now - MEMORY_MS) this.memory.shift();
  }

  /** Where it is drawn. @param {number} now */
  at(now) {
    this.advance(now);
    const { x, y } = this.offset;
    return { x: this.x + x, y: this.y + y, angle: this.angle, vx: this.vx, vy: this.vy };
  }

  /** Towards the wanted velocity, by a bounded acceleration. @param {number} seconds */
  #accelerate(seconds) {
    const [dx, dy] = [
      this.heading.x * this.speed - this.vx,
      this.heading.y * this.speed - this.vy,
    ];
    const change = Math.hypot(dx, dy);
    const most = this.acceleration * seconds;
    const share = change > most ? most / change : 1;
    this.vx += dx * share;
    this.vy += dy * share;
  }

  /** Out of what is in the way, and no further into it. @param {Solid} solid */
  #avoid(solid) {
    const hit = overlap(this.x, this.y, this.radius, solid);
    if (hit === null) return;
    this.x += hit.nx * hit.depth;
    this.y += hit.ny * hit.depth;
    const into = this.vx * hit.nx + this.vy * hit.ny;
    if (into < 0) {
      this.vx -= hit.nx * into;
      this.vy -= hit.ny * into;
    }
  }

  /** @param {number} t */
  #remembered(t) {
    const { memory } = this;
    let later = memory.length - 1;
    while (later > 0 && memory[later - 1].t >= t) later -= 1;
    const [b, a] = [memory[later], memory[Math.max(later - 1, 0)]];
    if (t >= b.t || a.t === b.t) return b;
    const share = Math.max((t - a.t) / (b.t - a.t), 0);
    return { t, x: a.x + (b.x - a.x) * share, y: a.y + (b.y - a.y) * share };
  }
}

/**
 * How a disc overlaps a solid: the way out, and how far.
 * @param {number} x
 * @param {number} y
 * @param {number} radius
 * @param {Solid} solid
 * @returns {{nx: number, ny: number, depth: number}|null}
 */
export function overlap(x, y, radius, solid) {
  const [dx, dy] = [x - solid.x, y - solid.y];
  if (solid.round) return outOf(dx, dy, radius + solid.hx);
  const [c, s] = [Math.cos(solid.angle), Math.sin(solid.angle)];
  const [u, v] = [dx * c + dy * s, dy * c - dx * s];
  const clamp = (/** @type {number} */ value, /** @type {number} */ most) =>
    Math.min(Math.max(value, -most), most);
  const [nu, nv] = [clamp(u, solid.hx), clamp(v, solid.hy)];
  const found = nu === u && nv === v ? inside(u, v, radius, solid) : outOf(u - nu, v - nv, radius);
  if (found === null) return null;
  return { nx: found.nx * c - found.ny * s, ny: found.nx * s + found.ny * c, depth: found.depth };
}

/** @param {number} dx @param {number} dy @param {number} reach */
function outOf(dx, dy, reach) {
  const distance = Math.hypot(dx, dy);
  if (distance >= reach) return null;
  if (distance === 0) return { nx: 1, ny: 0, depth: reach };
  return { nx: dx / distance, ny: dy / distance, depth: reach - distance };
}

/** The centre is within the rectangle: out at the nearest side.
 * @param {number} u @param {number} v @param {number} radius @param {Solid} solid */
function inside(u, v, radius, { hx, hy }) {
  const [wide, high] = [hx - Math.abs(u), hy - Math.abs(v)];
  if (wide < high) return { nx: u < 0 ? -1 : 1, ny: 0, depth: wide + radius };
  return { nx: 0, ny: v < 0 ? -1 : 1, depth: high + radius };
}
