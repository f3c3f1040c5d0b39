/** What painters put together: boxes, drums, boards and leaves, by the footprint of a thing. */

import { disc, slab } from './brush.js';
import { noise, tone } from './light.js';
import { drawBox, drawDrum, lift } from './solid.js';

/**
 * Pieces in metres, but `hx`, `hy` and `share`, which are of the footprint.
 * @param {Sitting} sitting
 */
export function piecesFor({ ctx, thing, s, angle, palette, tall }) {
  const [least, { color: own }] = [Math.min(thing.hx, thing.hy), thing.look];
  return {
    /** The thing's own colour, lighter or darker. @param {number} light */
    shade: (light) => tone(own, light, palette),

    /**
     * A box: by itself of all of the footprint, as tall as the kind is.
     * @param {{hx?: number, hy?: number, up?: number, base?: number, color?: number,
     *   outline?: import('./solid.js').Point[],
     *   face?: (length: number, height: number, light: number) => void, lid?: () => void}} part
     */
    box({ hx = 1, hy = 1, up = tall, base = 0, ...rest }) {
      const size = { hx: thing.hx * hx * s, hy: thing.hy * hy * s, up: lift(up, s), base: lift(base, s) };
      drawBox(ctx, { color: own, ...rest, ...size, angle, palette });
    },

    /** @param {number} share @param {number} up @param {number} [base] @param {number} [color] */
    drum(share, up, base = 0, color = own) {
      drawDrum(ctx, least * share * s, lift(up, s), color, palette, lift(base, s));
    },

    /** Boards along the length of a lid. @param {number} count @param {Record<string, number>} [looks] */
    planks: (count, { light = 0.94, grain = 0.16, salt = 8, gap = Math.max(1, 0.03 * s) } = {}) => () => {
      const [w, h] = [thing.hx * s, thing.hy * s];
      for (let i = 0; i < count; i++) {
        const paint = tone(own, light + noise(thing.id, i, salt) * grain, palette);
        slab(ctx, paint, -w, -h + (i * 2 * h) / count, 2 * w, (2 * h) / count - gap);
      }
    },

    /**
     * Leaves in balls around a height.
     * @param {number} share @param {number} up @param {number[][]} balls x, y and radius as shares
     */
    leaves(share, up, balls) {
      const r = least * share * s;
      balls.forEach(([x, y, size], i) => {
        const [cx, cy] = [x * r, y * r - lift(up, s)];
        disc(ctx, tone(own, 0.62, palette), cx, cy + size * r * 0.12, size * r);
        disc(ctx, tone(own, 0.9 + noise(thing.id, i, 7) * 0.14, palette), cx, cy, size * r * 0.94);
        disc(ctx, tone(own, 1.16, palette), cx - size * r * 0.24, cy - size * r * 0.28, size * r * 0.5);
      });
    },
  };
}
