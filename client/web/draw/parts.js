/** What the parts of the palette look like: gardens, furniture, and what stands about. */

import { disc, line, moved, oval, patch, slab } from './brush.js';
import { noise, tone } from './light.js';
import { drawBox, lift } from './solid.js';

const IRON = 0x50545e;

/** @type {Record<string, Painter>} */
export const PARTS = {
  hedge({ ctx, thing, s, box, shade }) {
    const leaf = (/** @type {number} */ w, /** @type {number} */ h, /** @type {number} */ left, /** @type {number} */ top, /** @type {number} */ light) => {
      const step = Math.max(4, 0.2 * s);
      for (let x = step / 2; x < w; x += step) {
        for (let y = step / 2; y < h; y += step) {
          const grain = noise(Math.round(x / step), Math.round(y / step), thing.id + 9);
          disc(ctx, shade(light * (0.8 + grain * 0.4)), left + x + (grain - 0.5) * step, top + y, step * 0.46);
        }
      }
    };
    box({
      up: 0.9,
      face: (length, height, light) => leaf(length, height, 0, 0, light),
      lid: () => leaf(2 * thing.hx * s, 2 * thing.hy * s, -thing.hx * s, -thing.hy * s, 1.08),
    });
  },

  /** A bed with blossoms of the thing's colour. */
  flowers({ ctx, thing, s, palette, box }) {
    box({ up: 0.14, color: 0x6a4a30 });
    box({ hx: 0.9, hy: 0.9, up: 0.06, base: 0.12, color: 0x4f7a3a });
    const [w, h, r] = [thing.hx * s * 0.82, thing.hy * s * 0.82, Math.max(1.5, 0.075 * s)];
    for (let i = 0; i < 14; i++) {
      const x = (noise(i, 1, thing.id) * 2 - 1) * w;
      const y = (noise(i, 2, thing.id) * 2 - 1) * h - lift(0.32, s);
      line(ctx, tone(0x4f7a3a, 1, palette), Math.max(1, 0.03 * s), [[x, y + lift(0.2, s)], [x, y]]);
      disc(ctx, tone(i % 3 ? thing.look.color : 0xfff3d0, 1.05, palette), x, y, r);
      disc(ctx, tone(0xf2b63c, 1.1, palette), x, y, r * 0.42);
    }
  },

  /** A board on two legs, which stand at shares of its length. */
  board({ ctx, thing, s, angle, palette, tall, box, planks }) {
    for (const side of [-0.78, 0.78]) {
      const out = thing.hx * side * s;
      const leg = { hx: 0.06 * s, hy: thing.hy * 0.8 * s, angle, up: lift(tall - 0.08, s), color: IRON, palette };
      moved(ctx, out * Math.cos(angle), -out * Math.sin(angle), () => drawBox(ctx, leg));
    }
    box({ up: 0.1, base: tall - 0.1, lid: planks(3) });
  },

  shelf({ ctx, thing, palette, box, shade }) {
    const books = [0xb0413e, 0x2f6f8f, 0xd8b45a, 0x58805a, 0x7d5ba6];
    box({
      up: 1.45,
      face: (length, height, light) => {
        const row = height / 3;
        for (let y = 0; y < 3; y++) {
          slab(ctx, shade(light * 0.55), length * 0.05, y * row + row * 0.12, length * 0.9, row * 0.78);
          const step = row * 0.24;
          for (let x = length * 0.08, i = 0; x < length * 0.9 - step; x += step, i++) {
            if (noise(i, y, thing.id) < 0.22) continue;
            const tall = row * (0.46 + noise(y, i, thing.id) * 0.24);
            slab(ctx, tone(books[(i * 3 + y) % books.length], light * 1.1, palette), x, y * row + row * 0.9 - tall, step - 1, tall);
          }
        }
      },
    });
  },

  fence({ ctx, thing, s, angle, shade }) {
    const count = Math.max(2, Math.round((thing.hx * 2) / 0.45));
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    const at = (/** @type {number} */ u) => [u * thing.hx * s * cos, -u * thing.hx * s * sin];
    const places = Array.from({ length: count + 1 }, (_, i) => at((i / count) * 2 - 1)).sort((a, b) => a[1] - b[1]);
    for (const up of [0.3, 0.62]) {
      const rail = [at(-1), at(1)].map(([x, y]) => [x, y - lift(up, s)]);
      line(ctx, shade(0.72), Math.max(2, 0.08 * s), rail);
    }
    for (const [x, y] of places) {
      const w = 0.07 * s;
      patch(ctx, shade(1.02), [[x - w, y], [x - w, y - lift(0.78, s)], [x, y - lift(0.92, s)], [x + w, y - lift(0.78, s)], [x + w, y]]);
      slab(ctx, shade(0.74), x + w * 0.4, y - lift(0.78, s), w * 0.6, lift(0.78, s));
    }
  },

  fountain({ ctx, thing, s, palette, now, calm, drum }) {
    const r = Math.min(thing.hx, thing.hy) * s;
    const water = tone(0x5fb2d8, 1.05, palette);
    drum(1, 0.42);
    oval(ctx, water, 0, -lift(0.42, s), r * 0.86, r * 0.86);
    drum(0.18, 0.7, 0.42);
    drum(0.46, 0.1, 1.05);
    disc(ctx, water, 0, -lift(1.15, s), r * 0.36);
    ctx.lineCap = 'round';
    for (let i = 0; i < 7; i++) {
      const side = (i / 6) * 2 - 1;
      const flow = calm ? 0.5 : (now / 700 + i * 0.37) % 1;
      const [x, y] = [side * r * (0.3 + flow * 0.42), -lift(1.2, s) + flow * flow * lift(0.85, s)];
      disc(ctx, 'rgba(214,240,255,0.85)', x, y, Math.max(1, 0.05 * s));
    }
    line(ctx, 'rgba(214,240,255,0.8)', Math.max(1.5, 0.05 * s), [[0, -lift(1.15, s)], [0, -lift(1.6, s)]]);
  },

  flag({ ctx, s, palette, now, calm, drum, shade }) {
    drum(1, 0.14, 0, 0x9a948c);
    const top = -lift(2.6, s);
    line(ctx, tone(0xd8d2c4, 1, palette), Math.max(2, 0.07 * s), [[0, 0], [0, top]]);
    const [w, h] = [1.05 * s, 0.62 * s];
    const wave = (/** @type {number} */ x) => (calm ? 0 : Math.sin(now / 420 + x * 4) * 0.06 * s * x);
    const edge = [0, 0.25, 0.5, 0.75, 1];
    patch(ctx, shade(1.05), [...edge.map((x) => [x * w, top + wave(x)]), ...[...edge].reverse().map((x) => [x * w, top + h + wave(x)])]);
    disc(ctx, tone(0xd8b45a, 1.1, palette), 0, top, Math.max(2, 0.07 * s));
  },
};
