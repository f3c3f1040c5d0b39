// @ts-check
/** What the parts of the palette look like: gardens, furniture, and what stands about. */

import { arc, disc, line, oval, patch, pill, rim, slab } from './brush.js';
import { noise, tone } from './light.js';
import { drawBox, drawDrum, lift } from './solid.js';

/** @typedef {import('./things.js').Sitting} Sitting */
/** @typedef {import('./things.js').Kind} Kind */

const WOOD = 0x8a6238;
const IRON = 0x50545e;

/** A box of this part of the footprint, at a height. @param {Sitting} sitting @param {{hx?: number, hy?: number, up: number, base?: number, color?: number, face?: any, lid?: any}} part shares and metres */
function box({ ctx, thing, s, angle, palette }, { hx = 1, hy = 1, up, base = 0, color = thing.look.color, face, lid }) {
  drawBox(ctx, { hx: thing.hx * hx * s, hy: thing.hy * hy * s, angle, up: lift(up, s), base: lift(base, s), color, palette, face, lid });
}

/** A drum of this share of the footprint, at a height. @param {Sitting} sitting @param {number} share @param {number} up @param {number} [base] @param {number} [color] */
function drum({ ctx, thing, s, palette }, share, up, base = 0, color = thing.look.color) {
  drawDrum(ctx, Math.min(thing.hx, thing.hy) * share * s, lift(up, s), color, palette, lift(base, s));
}

/** Leaves in balls around a height. @param {Sitting} sitting @param {number} share of the footprint @param {number} height metres @param {number[][]} balls x, y and radius as shares */
function leaves({ ctx, thing, s, palette }, share, height, balls) {
  const r = Math.min(thing.hx, thing.hy) * share * s;
  balls.forEach(([x, y, size], i) => {
    const [cx, cy] = [x * r, y * r - lift(height, s)];
    disc(ctx, tone(thing.look.color, 0.62, palette), cx, cy + size * r * 0.12, size * r);
    disc(ctx, tone(thing.look.color, 0.9 + noise(thing.id, i, 7) * 0.14, palette), cx, cy, size * r * 0.94);
    disc(ctx, tone(thing.look.color, 1.16, palette), cx - size * r * 0.24, cy - size * r * 0.28, size * r * 0.5);
  });
}

/** @param {Sitting} sitting */
function lamp(sitting) {
  const { ctx, thing, s, palette } = sitting;
  drum(sitting, 0.9, 0.12, 0, IRON);
  const top = -lift(1.75, s);
  line(ctx, tone(IRON, 1, palette), Math.max(2, 0.09 * s), [[0, -lift(0.1, s)], [0, top]]);
  const r = Math.max(thing.hx, 0.16) * s * 0.85;
  disc(ctx, 'rgba(255,226,140,0.28)', 0, top, r * 1.7);
  disc(ctx, tone(thing.look.color, 1.15, palette), 0, top, r);
  disc(ctx, 'rgba(255,255,255,0.6)', -r * 0.3, top - r * 0.3, r * 0.36);
  line(ctx, tone(IRON, 0.9, palette), Math.max(2, 0.07 * s), [[-r * 0.8, top - r * 0.8], [0, top - r * 1.35], [r * 0.8, top - r * 0.8]]);
}

/** @param {Sitting} sitting */
function tree(sitting) {
  drum(sitting, 0.34, 0.95, 0, 0x6e4d2e);
  leaves(sitting, 1.35, 1.35, [[-0.45, 0.1, 0.62], [0.48, 0.02, 0.6], [0, -0.5, 0.7], [0, 0.2, 0.52]]);
}

/** @param {Sitting} sitting */
function pine(sitting) {
  const { ctx, thing, s, palette } = sitting;
  drum(sitting, 0.26, 0.4, 0, 0x5b4029);
  const r = Math.min(thing.hx, thing.hy) * s * 1.15;
  for (const [low, high, wide, light] of [[0.3, 1.35, 1, 0.72], [0.85, 1.8, 0.78, 0.86], [1.35, 2.25, 0.54, 1]]) {
    const [foot, top] = [-lift(low, s), -lift(high, s)];
    patch(ctx, tone(thing.look.color, light, palette), [[-r * wide, foot], [0, foot + r * wide * 0.3], [r * wide, foot], [0, top]]);
    patch(ctx, tone(thing.look.color, light * 1.18, palette), [[-r * wide, foot], [-r * wide * 0.1, foot + r * wide * 0.26], [0, top]]);
  }
}

/** @param {Sitting} sitting */
function bush(sitting) {
  leaves(sitting, 1.1, 0.3, [[-0.46, 0.1, 0.56], [0.46, 0.1, 0.56], [0, -0.3, 0.66], [0, 0.22, 0.56]]);
}

/** @param {Sitting} sitting */
function hedge(sitting) {
  const { ctx, thing, s, palette } = sitting;
  const leaf = (/** @type {number} */ w, /** @type {number} */ h, /** @type {number} */ left, /** @type {number} */ top, /** @type {number} */ light) => {
    const step = Math.max(4, 0.2 * s);
    for (let x = step / 2; x < w; x += step) {
      for (let y = step / 2; y < h; y += step) {
        const grain = noise(Math.round(x / step), Math.round(y / step), thing.id + 9);
        disc(ctx, tone(thing.look.color, light * (0.8 + grain * 0.4), palette), left + x + (grain - 0.5) * step, top + y, step * 0.46);
      }
    }
  };
  box(sitting, {
    up: 0.9,
    face: (/** @type {number} */ length, /** @type {number} */ height, /** @type {number} */ light) => leaf(length, height, 0, 0, light),
    lid: () => leaf(2 * thing.hx * s, 2 * thing.hy * s, -thing.hx * s, -thing.hy * s, 1.08),
  });
}

/** Blossoms of the thing's colour. @param {Sitting} sitting @param {number} height @param {number} count */
function blossoms({ ctx, thing, s, palette }, height, count) {
  const [w, h] = [thing.hx * s * 0.82, thing.hy * s * 0.82];
  for (let i = 0; i < count; i++) {
    const [x, y] = [(noise(i, 1, thing.id) * 2 - 1) * w, (noise(i, 2, thing.id) * 2 - 1) * h - lift(height, s)];
    const r = Math.max(1.5, 0.075 * s);
    line(ctx, tone(0x4f7a3a, 1, palette), Math.max(1, 0.03 * s), [[x, y + lift(0.2, s)], [x, y]]);
    disc(ctx, tone(i % 3 ? thing.look.color : 0xfff3d0, 1.05, palette), x, y, r);
    disc(ctx, tone(0xf2b63c, 1.1, palette), x, y, r * 0.42);
  }
}

/** @param {Sitting} sitting */
function flowers(sitting) {
  box(sitting, { up: 0.14, color: 0x6a4a30 });
  box(sitting, { hx: 0.9, hy: 0.9, up: 0.06, base: 0.12, color: 0x4f7a3a });
  blossoms(sitting, 0.32, 14);
}

/** @param {Sitting} sitting */
function pot(sitting) {
  drum(sitting, 0.85, 0.4, 0, 0xb8694a);
  drum(sitting, 1, 0.1, 0.38, 0xc67a58);
  leaves(sitting, 0.9, 0.62, [[-0.4, 0, 0.46], [0.4, 0, 0.46], [0, -0.35, 0.52]]);
}

/** @param {Sitting} sitting */
function rock({ ctx, thing, s, palette }) {
  const r = Math.min(thing.hx, thing.hy) * s;
  const up = lift(0.25 + Math.min(thing.hx, 0.8) * 0.6, s);
  const points = [[-1, 0.1], [-0.6, 0.72], [0.2, 0.92], [0.95, 0.45], [1, -0.1]].map(([x, y]) => [x * r, y * r]);
  const top = [[-0.72, -0.1], [-0.2, 0.3], [0.4, 0.22], [0.78, -0.15], [0.2, -0.55], [-0.45, -0.5]].map(([x, y]) => [x * r, y * r - up]);
  patch(ctx, tone(thing.look.color, 0.62, palette), [...points, top[3], top[2], top[1], top[0]]);
  patch(ctx, tone(thing.look.color, 0.78, palette), [points[0], points[1], top[1], top[0]]);
  patch(ctx, tone(thing.look.color, 1.08, palette), top);
  line(ctx, tone(thing.look.color, 1.25, palette), Math.max(1, 0.03 * s), [top[0], top[5], top[4]]);
}

/** Legs, and a board on them. @param {Sitting} sitting @param {number} height */
function board(sitting, height) {
  for (const side of [-0.78, 0.78]) leg(sitting, side, height - 0.08);
  box(sitting, { up: 0.1, base: height - 0.1, lid: planks(sitting, 3) });
}

/** A leg under a board, at a share of its length. @param {Sitting} sitting @param {number} side @param {number} up */
function leg({ ctx, thing, s, angle, palette }, side, up) {
  const out = thing.hx * side * s;
  ctx.save();
  ctx.translate(out * Math.cos(angle), -out * Math.sin(angle));
  drawBox(ctx, { hx: 0.06 * s, hy: thing.hy * 0.8 * s, angle, up: lift(up, s), color: IRON, palette });
  ctx.restore();
}

/** Boards along the length of a lid. @param {Sitting} sitting @param {number} count */
const planks = ({ ctx, thing, s, palette }, count) => () => {
  const [w, h] = [thing.hx * s, thing.hy * s];
  for (let i = 0; i < count; i++) {
    const paint = tone(thing.look.color, 0.94 + noise(thing.id, i, 8) * 0.16, palette);
    slab(ctx, paint, -w, -h + (i * 2 * h) / count, 2 * w, (2 * h) / count - Math.max(1, 0.03 * s));
  }
};

/** @param {Sitting} sitting */
function stool(sitting) {
  drum(sitting, 0.5, 0.4, 0, WOOD);
  drum(sitting, 1, 0.1, 0.38);
}

/** @param {Sitting} sitting */
function shelf(sitting) {
  const { ctx, thing, palette } = sitting;
  const books = [0xb0413e, 0x2f6f8f, 0xd8b45a, 0x58805a, 0x7d5ba6];
  box(sitting, {
    up: 1.45,
    face: (/** @type {number} */ length, /** @type {number} */ height, /** @type {number} */ light) => {
      const row = height / 3;
      for (let y = 0; y < 3; y++) {
        slab(ctx, tone(thing.look.color, light * 0.55, palette), length * 0.05, y * row + row * 0.12, length * 0.9, row * 0.78);
        const step = row * 0.24;
        for (let x = length * 0.08, i = 0; x < length * 0.9 - step; x += step, i++) {
          if (noise(i, y, thing.id) < 0.22) continue;
          const tall = row * (0.46 + noise(y, i, thing.id) * 0.24);
          slab(ctx, tone(books[(i * 3 + y) % books.length], light * 1.1, palette), x, y * row + row * 0.9 - tall, step - 1, tall);
        }
      }
    },
  });
}

/** @param {Sitting} sitting */
function barrel(sitting) {
  const { ctx, thing, s, palette } = sitting;
  const r = Math.min(thing.hx, thing.hy) * s;
  drum(sitting, 1, 0.9);
  for (const at of [0.14, 0.7]) {
    ctx.strokeStyle = tone(IRON, 1, palette);
    ctx.lineWidth = Math.max(1.5, 0.07 * s);
    ctx.beginPath();
    ctx.arc(0, -lift(at, s), r, 0, Math.PI);
    ctx.stroke();
  }
  arc(ctx, tone(thing.look.color, 0.7, palette), Math.max(1, 0.04 * s), [0, -lift(0.9, s), r * 0.82, 0, 7]);
}

/** @param {Sitting} sitting */
function chest(sitting) {
  const { ctx, s, palette, thing } = sitting;
  box(sitting, {
    up: 0.62,
    face: (/** @type {number} */ length, /** @type {number} */ height) => {
      for (const at of [0.12, 0.82]) slab(ctx, tone(0xd8b45a, 0.9, palette), length * at, 0, Math.max(2, 0.07 * s), height);
      slab(ctx, 'rgba(20,10,0,0.4)', 0, height * 0.36, length, Math.max(1, 0.03 * s));
      if (length >= thing.hx * s) pill(ctx, tone(0xd8b45a, 1.1, palette), [length / 2 - 0.07 * s, height * 0.28, 0.14 * s, height * 0.28], 0.03 * s);
    },
    lid: planks(sitting, 3),
  });
}

/** @param {Sitting} sitting */
function fence(sitting) {
  const { ctx, thing, s, angle, palette } = sitting;
  const count = Math.max(2, Math.round((thing.hx * 2) / 0.45));
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const at = (/** @type {number} */ u) => [u * thing.hx * s * cos, -u * thing.hx * s * sin];
  const places = Array.from({ length: count + 1 }, (_, i) => at((i / count) * 2 - 1)).sort((a, b) => a[1] - b[1]);
  for (const up of [0.3, 0.62]) {
    const rail = [at(-1), at(1)].map(([x, y]) => [x, y - lift(up, s)]);
    line(ctx, tone(thing.look.color, 0.72, palette), Math.max(2, 0.08 * s), rail);
  }
  for (const [x, y] of places) {
    const w = 0.07 * s;
    patch(ctx, tone(thing.look.color, 1.02, palette), [[x - w, y], [x - w, y - lift(0.78, s)], [x, y - lift(0.92, s)], [x + w, y - lift(0.78, s)], [x + w, y]]);
    slab(ctx, tone(thing.look.color, 0.74, palette), x + w * 0.4, y - lift(0.78, s), w * 0.6, lift(0.78, s));
  }
}

/** @param {Sitting} sitting */
function bed(sitting) {
  const { ctx, thing, s, palette } = sitting;
  box(sitting, { up: 0.3, color: WOOD });
  box(sitting, {
    hx: 0.94, hy: 0.94, up: 0.16, base: 0.28, color: 0xf2efe6,
    lid: () => {
      const [w, h] = [thing.hx * 0.94 * s, thing.hy * 0.94 * s];
      slab(ctx, tone(thing.look.color, 1.05, palette), -w, -h * 0.35, 2 * w, h * 1.35);
      slab(ctx, tone(thing.look.color, 1.25, palette), -w, -h * 0.35, 2 * w, Math.max(2, 0.1 * s));
      pill(ctx, '#ffffff', [-w * 0.7, -h * 0.88, w * 1.4, h * 0.38], 0.08 * s);
    },
  });
}

/** @param {Sitting} sitting */
function plinth(sitting) {
  const { ctx, thing, s, palette } = sitting;
  box(sitting, { up: 0.2 });
  box(sitting, {
    hx: 0.78, hy: 0.78, up: 0.62, base: 0.2,
    lid: () => rim(ctx, tone(thing.look.color, 1.32, palette), Math.max(1, 0.03 * s), [-thing.hx * 0.7 * s, -thing.hy * 0.7 * s, thing.hx * 1.4 * s, thing.hy * 1.4 * s]),
  });
}

/** @param {Sitting} sitting */
function fountain(sitting) {
  const { ctx, thing, s, palette, now, calm } = sitting;
  const r = Math.min(thing.hx, thing.hy) * s;
  const water = tone(0x5fb2d8, 1.05, palette);
  drum(sitting, 1, 0.42);
  oval(ctx, water, 0, -lift(0.42, s), r * 0.86, r * 0.86);
  drum(sitting, 0.18, 0.7, 0.42);
  drum(sitting, 0.46, 0.1, 1.05);
  disc(ctx, water, 0, -lift(1.15, s), r * 0.36);
  ctx.lineCap = 'round';
  for (let i = 0; i < 7; i++) {
    const side = (i / 6) * 2 - 1;
    const flow = calm ? 0.5 : (now / 700 + i * 0.37) % 1;
    const [x, y] = [side * r * (0.3 + flow * 0.42), -lift(1.2, s) + flow * flow * lift(0.85, s)];
    disc(ctx, 'rgba(214,240,255,0.85)', x, y, Math.max(1, 0.05 * s));
  }
  line(ctx, 'rgba(214,240,255,0.8)', Math.max(1.5, 0.05 * s), [[0, -lift(1.15, s)], [0, -lift(1.6, s)]]);
}

/** @param {Sitting} sitting */
function flag(sitting) {
  const { ctx, thing, s, palette, now, calm } = sitting;
  drum(sitting, 1, 0.14, 0, 0x9a948c);
  const top = -lift(2.6, s);
  line(ctx, tone(0xd8d2c4, 1, palette), Math.max(2, 0.07 * s), [[0, 0], [0, top]]);
  const [w, h] = [1.05 * s, 0.62 * s];
  const wave = (/** @type {number} */ x) => (calm ? 0 : Math.sin(now / 420 + x * 4) * 0.06 * s * x);
  const edge = [0, 0.25, 0.5, 0.75, 1];
  patch(ctx, tone(thing.look.color, 1.05, palette), [...edge.map((x) => [x * w, top + wave(x)]), ...[...edge].reverse().map((x) => [x * w, top + h + wave(x)])]);
  disc(ctx, tone(0xd8b45a, 1.1, palette), 0, top, Math.max(2, 0.07 * s));
}

/** @param {Sitting} sitting */
function tent(sitting) {
  const { ctx, thing, s, palette } = sitting;
  const [w, h] = [thing.hx * s, thing.hy * s];
  const [foot, top] = [h * 0.96, -lift(1.7, s)];
  patch(ctx, tone(thing.look.color, 1.15, palette), [[-w, foot], [-w * 0.92, -h * 0.7], [0, top], [0, foot]]);
  patch(ctx, tone(thing.look.color, 0.6, palette), [[w, foot], [w * 0.92, -h * 0.7], [0, top], [0, foot]]);
  for (const [left, right, light] of [[-1, -0.34, 0.84], [-0.34, 0.34, 0.98], [0.34, 1, 0.72]]) {
    patch(ctx, tone(thing.look.color, light, palette), [[left * w, foot], [right * w, foot], [0, top]]);
  }
  patch(ctx, 'rgba(20,14,10,0.72)', [[-w * 0.16, foot], [w * 0.16, foot], [0, top * 0.42]]);
  line(ctx, tone(0xfff3d0, 1, palette), Math.max(1, 0.04 * s), [[-w, foot], [0, top], [w, foot]]);
}

/** @type {Record<string, Kind>} */
export const PARTS = {
  lamp: { tall: 1.75, top: 2.1, paint: lamp, wide: 0.4, lamp: true },
  tree: { tall: 1.9, top: 2.4, paint: tree, grain: true, wide: 0.4 },
  pine: { tall: 2, top: 2.4, paint: pine, wide: 0.4 },
  bush: { tall: 0.6, paint: bush, wide: 0.4 },
  hedge: { tall: 0.9, paint: hedge, grain: true },
  flowers: { tall: 0.35, paint: flowers, grain: true },
  pot: { tall: 0.8, paint: pot, wide: 0.4 },
  rock: { tall: 0.55, paint: rock },
  bench: { tall: 0.45, paint: (sitting) => board(sitting, 0.45) },
  desk: { tall: 0.72, paint: (sitting) => board(sitting, 0.72) },
  stool: { tall: 0.48, paint: stool },
  shelf: { tall: 1.45, paint: shelf, grain: true },
  barrel: { tall: 0.9, paint: barrel },
  chest: { tall: 0.62, paint: chest },
  fence: { tall: 0.9, paint: fence },
  bed: { tall: 0.46, paint: bed },
  plinth: { tall: 0.82, paint: plinth },
  fountain: { tall: 1.2, top: 1.8, paint: fountain, lively: true },
  flag: { tall: 2.2, top: 2.8, paint: flag, lively: true },
  tent: { tall: 1, top: 1.9, paint: tent },
};
