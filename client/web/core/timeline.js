/**
 * Which moment of the world is drawn now. Views arrive unevenly; what is drawn lies a little more
 * than a turn behind the newest, and further when they arrive more unevenly: so there is almost
 * always a later view to move towards.
 */

/** Ticks of simulated time in a second. */
export const TICKS_PER_SECOND = 60;
export const TICK_MS = 1_000 / TICKS_PER_SECOND;

export class Timeline {
  /** @param {number} ticksPerTurn */
  constructor(ticksPerTurn = 3) {
    this.ticksPerTurn = ticksPerTurn;
    /** When tick 0 would have arrived, smoothed. @type {number|null} */
    this.base = null;
    this.jitter = 0;
    /** The newest tick that arrived. */
    [this.newest, this.drawn, this.delay] = [0, 0, 0];
  }

  /** A view of a tick arrived. @param {number} tick @param {number} now */
  heard(tick, now) {
    const arrived = now - tick * TICK_MS;
    // A pause, or another server: begin anew.
    if (this.base === null || Math.abs(arrived - this.base) > 1_000) {
      [this.base, this.drawn] = [arrived, tick];
    }
    const off = arrived - this.base;
    this.base += off * (off < 0 ? 0.2 : 0.05);
    this.jitter += (Math.abs(off) - this.jitter) * 0.1;
    this.newest = tick;
    const turn = this.ticksPerTurn * TICK_MS;
    const wanted = turn + Math.min(Math.max(2 * this.jitter, 0.1 * turn), 3 * turn);
    // Time must not jump because the delay does.
    this.delay = this.delay === 0 ? wanted : this.delay + (wanted - this.delay) * 0.05;
  }

  /** The moment to draw, in ticks; it never goes back. @param {number} now */
  at(now) {
    if (this.base === null) return this.newest;
    const tick = (now - this.base - this.delay) / TICK_MS;
    this.drawn = Math.max(this.drawn, Math.min(tick, this.newest + this.ticksPerTurn));
    return this.drawn;
  }
}

/** Samples that are kept of one thing. */
const SAMPLES = 8;
/** Nothing walks so far between two views: it was put there. */
const JUMP_METRES = 4;
/** So long a thing goes on by itself when no view comes. */
const COAST_TICKS = 6;

/** The way of one thing. */
export class Track {
  /** @param {Sample} sample */
  constructor(sample) {
    this.samples = [sample];
  }

  /** @param {Sample} sample @param {number} before the tick of the view before this one */
  add(sample, before) {
    const last = this.samples[this.samples.length - 1];
    if (last.tick === sample.tick) this.samples.pop();
    if (Math.hypot(sample.x - last.x, sample.y - last.y) > JUMP_METRES) this.samples = [];
    // What was at rest began to move only now.
    else if (last.tick < before && last.vx === 0 && last.vy === 0) {
      this.samples.push({ ...last, tick: before });
    }
    this.samples.push(sample);
    if (this.samples.length > SAMPLES) this.samples.shift();
  }

  /** @param {number} tick where it was then @returns {Sample} */
  at(tick) {
    const { samples } = this;
    const last = samples[samples.length - 1];
    if (tick >= last.tick) return coast(last, tick);
    const before = samples.findLastIndex((sample) => sample.tick <= tick);
    return before < 0 ? samples[0] : between(samples[before], samples[before + 1], tick);
  }
}

/** @param {Sample} last @param {number} tick @returns {Sample} */
function coast(last, tick) {
  if (last.vx === 0 && last.vy === 0) return last;
  const seconds = Math.min(tick - last.tick, COAST_TICKS) / TICKS_PER_SECOND;
  return { ...last, x: last.x + last.vx * seconds, y: last.y + last.vy * seconds };
}

/** @param {Sample} a @param {Sample} b @param {number} tick @returns {Sample} */
function between(a, b, tick) {
  const share = (tick - a.tick) / (b.tick - a.tick);
  const mix = (/** @type {number} */ from, /** @type {number} */ to) => from + (to - from) * share;
  const turn = Math.atan2(Math.sin(b.angle - a.angle), Math.cos(b.angle - a.angle));
  const moving = { vx: mix(a.vx, b.vx), vy: mix(a.vy, b.vy) };
  return { tick, x: mix(a.x, b.x), y: mix(a.y, b.y), angle: a.angle + turn * share, ...moving };
}
