/** What painters put together: boxes, drums, boards and leaves, by the footprint of a thing. */

import { arc, disc, line, patch, pill, slab } from './brush.js';
import { fromHex, noise, tone } from './light.js';
import { drawBox, drawDrum, lift } from './solid.js';

/** Draws pieces as a table lists them: a name, and what that piece is given. @param {any} by what draws them @param {any[][]} pieces */
export const together = (by, pieces) => pieces.forEach(([piece, ...given]) => by[piece](...given));

/**
 * Strokes on a surface, by its width and height in pixels, or half of them around a middle. Points are shares of these,
 * and metres of height. Paints are a light of the thing's own colour, a colour with its light, or what is drawn in any light.
 * @param {Sitting} sitting @param {number} w @param {number} h @returns {Record<string, (...given: any[]) => void>}
 */
function strokesOn({ ctx, thing, s, palette }, w, h) {
  const at = (/** @type {number[]} */ [x, y, z = 0]) => [x * w, y * h - lift(z, s)];
  const wide = (/** @type {number} */ metres) => Math.max(1, metres * s);
  const paintOf = (/** @type {any} */ paint) => {
    const [color, light] = typeof paint === 'number' ? [thing.look.color, paint] : [fromHex(paint[0]), paint[1]];
    return typeof paint === 'string' ? paint : tone(color, light, palette);
  };
  return {
    patch: (paint, ...points) => patch(ctx, paintOf(paint), points.map(at)),
    line: (paint, metres, ...points) => line(ctx, paintOf(paint), wide(metres), points.map(at)),
    disc: (paint, middle, r) => disc(ctx, paintOf(paint), ...at(middle), r * w),
    arc: (paint, metres, middle, r, to) => arc(ctx, paintOf(paint), wide(metres), [...at(middle), r * w, 0, to]),
    pill: (paint, metres, from, to) => pill(ctx, paintOf(paint), [...at(from), (to[0] - from[0]) * w, (to[1] - from[1]) * h], metres * s),
  };
}

/** A colour; those of tables are texts. @param {number | string} color */
const rgb = (color) => (typeof color === 'string' ? fromHex(color) : color);

/**
 * Pieces in metres, but `hx`, `hy` and `share`, which are of the footprint.
 * @param {Sitting} sitting
 */
export function piecesFor(sitting) {
  const { ctx, thing, s, angle, palette, tall } = sitting;
  const [least, { color: own }] = [Math.min(thing.hx, thing.hy), thing.look];
  /** Boards along the length of a lid. @param {number} count @param {Record<string, number>} [looks] */
  const planks = (count, { light = 0.94, grain = 0.16, salt = 8, gap = Math.max(1, 0.03 * s) } = {}) => () => {
    const [w, h] = [thing.hx * s, thing.hy * s];
    for (let i = 0; i < count; i++) {
      const paint = tone(own, light + noise(thing.id, i, salt) * grain, palette);
      slab(ctx, paint, -w, -h + (i * 2 * h) / count, 2 * w, (2 * h) / count - gap);
    }
  };
  return {
    planks,
    ...strokesOn(sitting, thing.hx * s, thing.hy * s),

    /** The thing's own colour, lighter or darker. @param {number} light */
    shade: (light) => tone(own, light, palette),

    /** A box: by itself of all of the footprint, as tall as the kind is. @param {BoxPiece} part */
    box({ hx = 1, hy = 1, up = tall, base = 0, color = own, face, lid, ...rest }) {
      const size = { hx: thing.hx * hx * s, hy: thing.hy * hy * s, up: lift(up, s), base: lift(base, s) };
      const listed = {
        face: Array.isArray(face) ? (/** @type {number} */ w, /** @type {number} */ h) => together(strokesOn(sitting, w, h), face) : face,
        lid: Array.isArray(lid) ? () => together({ planks: (/** @type {number} */ count) => planks(count)(), ...strokesOn(sitting, size.hx, size.hy) }, lid) : lid,
      };
      drawBox(ctx, { color: rgb(color), ...listed, ...rest, ...size, angle, palette });
    },

    /** @param {number} share @param {number} [up] @param {number} [base] @param {number | string} [color] */
    drum(share, up = tall, base = 0, color = own) {
      drawDrum(ctx, least * share * s, lift(up, s), rgb(color), palette, lift(base, s));
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
