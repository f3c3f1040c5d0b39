/**
 * Bodies with height. The picture is drawn from above and a little from the south: a footprint keeps
 * its true shape, its top is lifted up the screen, and the sides that face south show.
 */

import { along, disc, fade, filled, moved, patch, slab } from './brush.js';
import { LIFT, tone } from './light.js';

/**
 * Corners of a box around the origin, or of another outline, clockwise on the screen.
 * @param {number} hx @param {number} hy half sides in pixels @param {number} angle
 * @param {Corner[]} [outline] clockwise, y is up
 * @returns {Corner[]}
 */
export function corners(hx, hy, angle, outline = [[-hx, hy], [hx, hy], [hx, -hy], [-hx, -hy]]) {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return outline.map(([u, v]) => [u * cos - v * sin, -(u * sin + v * cos)]);
}

/** The corners of a part, in metres and counter-clockwise, as an outline; none for a box. @param {Corner[] | null} part @param {number} s @returns {Corner[] | undefined} */
export const scaled = (part, s) => part?.map(([x, y]) => /** @type {Corner} */ ([x * s, y * s])).reverse();

/**
 * A box: sides, then top. `face` and `lid` may add detail, in the coordinates of that surface.
 * @param {CanvasRenderingContext2D} ctx at the middle of the footprint @param {Box} box
 */
export function drawBox(ctx, box) {
  const { hx, hy, angle, up, color, palette, base = 0, outline } = box;
  const points = corners(hx, hy, angle, outline);
  for (const [i, p] of points.entries()) {
    const q = points[(i + 1) % points.length];
    const length = Math.hypot(q[0] - p[0], q[1] - p[1]);
    if (length < 0.01) continue;
    // Clockwise on the screen: the outside is to the left of the way from p to q.
    const nx = (q[1] - p[1]) / length;
    const ny = -(q[0] - p[0]) / length;
    if (ny < 0.02 || up === 0) continue;
    // The more it faces the east, the darker.
    const light = 0.66 - 0.14 * nx;
    const [foot, top] = [0.5 - base, -base - up];
    const side = [[p[0], p[1] + foot], [q[0], q[1] + foot], [q[0], q[1] + top], [p[0], p[1] + top]];
    patch(ctx, tone(color, light, palette), side);
    if (box.face) {
      ctx.save();
      // Along the side from its left end, and straight down.
      ctx.transform((p[0] - q[0]) / length, (p[1] - q[1]) / length, 0, 1, q[0], q[1] - base - up);
      box.face(length, up, light);
      ctx.restore();
    }
  }
  const lid = tone(color, 1.06, palette);
  moved(ctx, 0, -base - up, () => {
    if (outline) patch(ctx, lid, corners(hx, hy, 0, outline));
    else slab(ctx, lid, -hx, -hy, 2 * hx, 2 * hy);
    box.lid?.();
  }, -angle);
}

/**
 * A drum: a disc with height.
 * @param {CanvasRenderingContext2D} ctx @param {number} r @param {number} up @param {number} color
 * @param {Palette} palette @param {number} [base]
 */
export function drawDrum(ctx, r, up, color, palette, base = 0) {
  const side = ctx.createLinearGradient(-r, 0, r, 0);
  fade(side, [0, tone(color, 0.9, palette)], [0.45, tone(color, 0.72, palette)], [1, tone(color, 0.5, palette)]);
  filled(ctx, side, () => {
    ctx.arc(0, -base, r, 0, Math.PI);
    along(ctx, [[-r, -base - up], [r, -base - up]]);
  });
  const lid = ctx.createRadialGradient(-r * 0.35, -base - up - r * 0.4, r * 0.1, 0, -base - up, r * 1.1);
  disc(ctx, fade(lid, [0, tone(color, 1.25, palette)], [1, tone(color, 0.98, palette)]), 0, -base - up, r);
}

/** Pixels by which a height in metres lifts. @param {number} metres @param {number} scale */
export const lift = (metres, scale) => metres * scale * LIFT;
