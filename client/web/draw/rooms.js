/**
 * The rooms of a floor plan: what is seen of them from where one stands, and a veil over the rest. From
 * inside one sees the own room, and what its openings show of others and of outside; from outside one
 * sees roofs, and what openings show below them.
 */

import { patch, slab } from './brush.js';
import { css } from './light.js';

/** Where nobody is in a room. */
export const OUTSIDE = -1;

/** Openings behind one another through which one sees. */
const DEPTH_MAX = 6;

/** Pieces of ground that are looked for: a place can have many openings behind one another. */
const PIECES_MAX = 256;

/** Metres from an opening at which its far sides are cut off: more than any screen shows. */
const FAR = 400;

/** A door that is so near to the middle of an opening, in metres, closes it. */
const DOOR_REACH = 0.6;

/** How dark a room without light is. */
const DARKEST = 0.7;

const ROOF = 0x464248;
const BEHIND_WALLS = 0x101016;

/** Above zero to the left of the line from a to b. @param {Spot} a @param {Spot} b @param {Spot} p */
const side = (a, b, p) => (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);

/** @param {Spot[]} points a convex piece, counter-clockwise @param {Spot} p */
const within = (points, p) => points.every((corner, i) => side(corner, points[(i + 1) % points.length], p) >= 0);

/**
 * What of a convex piece is to the left of a line.
 * @param {Spot[]} points @param {Spot} a @param {Spot} b
 */
function leftOf(points, a, b) {
  const kept = /** @type {Spot[]} */ ([]);
  points.forEach((p, i) => {
    const q = points[(i + 1) % points.length];
    const [sp, sq] = [side(a, b, p), side(a, b, q)];
    if (sp >= 0) kept.push(p);
    if ((sp > 0 && sq < 0) || (sp < 0 && sq > 0)) {
      const share = sp / (sp - sq);
      kept.push({ x: p.x + (q.x - p.x) * share, y: p.y + (q.y - p.y) * share });
    }
  });
  return kept;
}

/** The point on the ray from the eye through p, FAR away. @param {Spot} eye @param {Spot} p */
function beyond(eye, p) {
  const length = Math.hypot(p.x - eye.x, p.y - eye.y) || 1;
  return { x: eye.x + ((p.x - eye.x) / length) * FAR, y: eye.y + ((p.y - eye.y) / length) * FAR };
}

/**
 * The ends of a segment, the right one as seen from the eye first.
 * @param {Spot} eye @param {Spot} a @param {Spot} b @returns {[Spot, Spot]}
 */
const rightFirst = (eye, a, b) => (side(eye, a, b) >= 0 ? [a, b] : [b, a]);

/**
 * What of a segment is inside of what one sees between two rays.
 * @param {Spot} eye @param {[Spot, Spot]} rays the right one first @param {Spot} a @param {Spot} b
 * @returns {[Spot, Spot] | null}
 */
function narrowed(eye, [right, left], a, b) {
  const cut = leftOf(leftOf([a, b], eye, right), left, eye);
  if (cut.length < 2) return null;
  const [first, last] = [cut[0], cut[cut.length - 1]];
  const far = cut.reduce((most, p) => (Math.hypot(p.x - first.x, p.y - first.y) > Math.hypot(most.x - first.x, most.y - first.y) ? p : most), last);
  return Math.hypot(far.x - first.x, far.y - first.y) > 1e-6 ? rightFirst(eye, first, far) : null;
}

export class Rooms {
  plan = /** @type {FloorPlan} */ ({ sectors: [], openings: [] });
  /** The room that the eye is in; `OUTSIDE` if it is in none, and while there is no eye. */
  own = OUTSIDE;
  pieces = /** @type {Piece[] | null} */ (null);
  mask = /** @type {HTMLCanvasElement | null} */ (null);

  /** The room at a point. @param {Spot} at */
  at = (at) => this.plan.sectors.findIndex(({ corners }) => within(corners, at));

  /**
   * Looks around from a point. Without one everything is seen.
   * @param {Spot | null} eye
   * @param {{thing: any, at: {x: number, y: number, angle: number}}[]} doors
   */
  look(eye, doors) {
    this.pieces = null;
    this.own = eye ? this.at(eye) : OUTSIDE;
    if (!eye || this.plan.sectors.length === 0) return;
    const open = this.plan.openings.map((opening) => !doors.some((door) => closes(door, opening)));
    this.pieces = this.own === OUTSIDE ? [] : [{ room: this.own, points: this.plan.sectors[this.own].corners }];
    this.through(eye, this.own, null, open, 0);
  }

  /**
   * Adds what is seen through the openings of a room.
   * @param {Spot} eye @param {number} room @param {[Spot, Spot] | null} rays @param {boolean[]} open
   * @param {number} depth
   */
  through(eye, room, rays, open, depth) {
    if (depth === DEPTH_MAX) return;
    this.plan.openings.forEach(({ from, to, joins }, i) => {
      const next = room === OUTSIDE ? joins[0] : joins.find((other) => other !== room) ?? OUTSIDE;
      const isHere = room === OUTSIDE ? joins.length === 1 : joins.includes(room);
      if (!open[i] || !isHere || (next !== OUTSIDE && within(this.plan.sectors[next].corners, eye))) return;
      const gap = rays ? narrowed(eye, rays, from, to) : rightFirst(eye, from, to);
      if (!gap || side(eye, ...gap) < 1e-6) return;
      // Who looks into a room from behind its far wall sees the wall.
      if (next !== OUTSIDE && !facesAway(this.plan.sectors[next].corners, gap, eye)) return;
      if (this.add(eye, next, gap) && next !== OUTSIDE) this.through(eye, next, gap, open, depth + 1);
    });
  }

  /** Adds a piece, if there is any and room for it. @param {Spot} eye @param {number} room @param {[Spot, Spot]} gap */
  add(eye, room, [right, left]) {
    const points = room === OUTSIDE
      ? [right, beyond(eye, right), beyond(eye, left), left]
      : leftOf(leftOf(this.plan.sectors[room].corners, eye, right), left, eye);
    const fits = this.pieces !== null && points.length > 2 && this.pieces.length < PIECES_MAX;
    if (fits) this.pieces?.push({ room, points });
    return fits;
  }

  /** Is this point seen? @param {Spot} p */
  shows(p) {
    if (!this.pieces) return true;
    const room = this.at(p);
    if (room === OUTSIDE && this.own === OUTSIDE) return true;
    return this.pieces.some((piece) => piece.room === room && within(piece.points, p));
  }

  /** @param {CanvasRenderingContext2D} ctx @param {Camera} camera */
  drawFloors(ctx, camera) {
    for (const { corners, floor } of this.plan.sectors) patch(ctx, css(floor), corners.map(camera.point));
  }

  /**
   * Covers what is not seen, and darkens rooms with little light.
   * @param {CanvasRenderingContext2D} ctx @param {Camera} camera
   */
  drawVeil(ctx, camera) {
    const { pieces, plan } = this;
    if (!pieces) return;
    const { width, height } = ctx.canvas;
    this.mask ??= document.createElement('canvas');
    if (this.mask.width !== width || this.mask.height !== height) Object.assign(this.mask, { width, height });
    const veil = /** @type {CanvasRenderingContext2D} */ (this.mask.getContext('2d'));
    /** @param {Spot[]} points @param {'source-over' | 'destination-out'} how @param {string} style */
    const fill = (points, how, style) => {
      veil.globalCompositeOperation = how;
      patch(veil, style, points.map(camera.point));
    };
    const color = css(this.own === OUTSIDE ? ROOF : BEHIND_WALLS);
    veil.globalCompositeOperation = 'copy';
    slab(veil, this.own === OUTSIDE ? 'transparent' : color, 0, 0, width, height);
    for (const { room, points } of pieces) if (room === OUTSIDE) fill(points, 'destination-out', '#000');
    // Rooms hide what is behind them, also from who looks outside through an opening.
    for (const { corners } of plan.sectors) fill(corners, 'source-over', color);
    for (const { room, points } of pieces) {
      if (room === OUTSIDE) continue;
      fill(points, 'destination-out', '#000');
      const dark = (1 - plan.sectors[room].light / 100) * DARKEST;
      if (dark > 0) fill(points, 'source-over', `rgba(8, 8, 20, ${dark.toFixed(3)})`);
    }
    ctx.drawImage(this.mask, 0, 0);
  }
}

/** Does a door stand in an opening? @param {{thing: any, at: {x: number, y: number, angle: number}}} door @param {Opening} opening */
function closes({ thing, at }, { from, to }) {
  const [dx, dy] = [(from.x + to.x) / 2 - at.x, (from.y + to.y) / 2 - at.y];
  const [cos, sin] = [Math.cos(at.angle), Math.sin(at.angle)];
  return Math.abs(dx * cos + dy * sin) < thing.hx + DOOR_REACH && Math.abs(dy * cos - dx * sin) < thing.hy + DOOR_REACH;
}

/** Is a room on the other side of a gap than the eye? @param {Spot[]} corners @param {[Spot, Spot]} gap @param {Spot} eye */
function facesAway(corners, [right, left], eye) {
  const middle = corners.reduce((sum, p) => ({ x: sum.x + p.x / corners.length, y: sum.y + p.y / corners.length }), { x: 0, y: 0 });
  return side(right, left, middle) * side(right, left, eye) < 0;
}
