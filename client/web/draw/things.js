/** What things look like, by their kind. Only for the eye: what bodies do is the world's business. */

import { arc, clipped, disc, fade, filled, line, moved, oval, pill, rim, slab } from './brush.js';
import KINDS from './kinds.json' with { type: 'json' };
import { noise, tone } from './light.js';
import { PARTS } from './parts.js';
import { piecesFor, together } from './pieces.js';
import { lift, scaled } from './solid.js';

/** Where labels of a thing hang, metres of height. @param {any} thing */
export const topOf = (thing) => kindOf(thing).top ?? kindOf(thing).tall + 0.1;

/** What is round, and of no kind. */
const DISC = KINDS.pillar;

/** @param {any} thing @returns {Kind} */
export function kindOf({ kind, round, corners, thin, hx, hy }) {
  const known = DRAWN[kind];
  if (known && !corners) return known;
  const tall = thin ? 0.4 : Math.min(1.2, 0.35 + Math.min(hx, hy) * (round ? 1 : 0.8));
  return drawn({ tall }, round ? putTogether(DISC) : PAINTERS.block);
}

/** A painter gets pieces for the very thing that sits. @param {Facts} facts @param {Painter} painter @returns {Kind} */
const drawn = (facts, painter) => ({
  ...facts, paint: (given) => painter({ ...given, tall: facts.tall, ...piecesFor({ ...given, tall: facts.tall }) }),
});

/** Paints a kind that its pieces say all of. @param {Facts} facts @returns {Painter} */
const putTogether = ({ pieces = [] }) => (sitting) => together(sitting, pieces);

/** A rectangle around the middle, without its outermost. @param {number} w @param {number} h @param {number} gap */
const inner = (w, h, gap) => [gap - w, gap - h, 2 * (w - gap), 2 * (h - gap)];

/** @type {Record<string, Painter>} */
const PAINTERS = {
  ...PARTS,

  block({ ctx, thing: { hx, hy, corners }, s, tall, box, shade }) {
    const edge = Math.min(hx, hy, 0.5) * s * 0.16;
    const parts = corners ?? [null];
    // The tops of several parts come after all sides, which would hide them.
    const layers = parts.length > 1 ? [{}, { up: 0, base: tall, face: undefined }] : [{}];
    for (const layer of layers) for (const part of parts) box({
      outline: scaled(part, s),
      face: (length, height) => {
        slab(ctx, 'rgba(255,255,255,0.08)', 0, 0, length, Math.max(1, height * 0.08));
        slab(ctx, 'rgba(0,0,20,0.14)', 0, height * 0.82, length, height * 0.18);
      },
      lid: part ? undefined : () => rim(ctx, shade(1.3), Math.max(1, edge * 0.5), inner(hx * s, hy * s, edge)),
      ...layer,
    });
  },

  /** Masonry: courses on the side, a coping on top. */
  wall({ ctx, thing: { hx, hy, id }, s, cut, box, shade }) {
    box({
      face: (length, height, light) => {
        const course = height / 4;
        const brick = 0.62 * s;
        const from = Math.max(0, cut ? Math.floor(cut.left / brick) - 1 : 0);
        const until = Math.min(length / brick, cut ? Math.ceil(cut.right / brick) + 1 : 1e9);
        for (let row = 0; row < 4; row++) {
          for (let i = from; i < until; i++) {
            const left = Math.max(0, (i - (row % 2) * 0.5) * brick);
            const right = Math.min(length, (i + 1 - (row % 2) * 0.5) * brick);
            if (right - left < 1) continue;
            const paint = shade(light + noise(i, row, id) * 0.14 - 0.05);
            slab(ctx, paint, left + 0.5, row * course + 0.5, right - left - 1, course - 1);
          }
        }
        slab(ctx, 'rgba(0,0,20,0.2)', 0, height - course * 0.5, length, course * 0.5);
        slab(ctx, 'rgba(0,0,20,0.16)', 0, 0, length, Math.max(1, 0.05 * s));
      },
      lid: () => {
        const [w, h] = [hx * s, hy * s];
        slab(ctx, shade(1.2), -w, -h, 2 * w, 2 * h);
        const across = w >= h;
        const long = across ? w : h;
        const step = 1.1 * s;
        ctx.fillStyle = shade(1.02);
        for (let at = -long + step; at < long; at += step) {
          if (across) ctx.fillRect(Math.round(at), -h, Math.max(1, 0.03 * s), 2 * h);
          else ctx.fillRect(-w, Math.round(at), 2 * w, Math.max(1, 0.03 * s));
        }
        rim(ctx, shade(1.36), Math.max(1, 0.035 * s), inner(w, h, 1));
      },
    });
  },

  /** Planks in a frame with a brace. */
  crate({ ctx, thing: { hx, hy, id }, s, box, planks, shade }) {
    const plank = 0.13 * Math.min(hx, hy) * 2 * s;
    box({
      face: (length, height, light) => {
        for (let i = 0; i < 3; i++) {
          const paint = shade(light * (0.86 + noise(id, i, 3) * 0.12));
          slab(ctx, paint, 0, (i * height) / 3, length, height / 3 - 1);
        }
        ctx.fillStyle = shade(light * 1.1);
        ctx.fillRect(0, 0, plank, height);
        ctx.fillRect(length - plank, 0, plank, height);
        ctx.fillRect(0, 0, length, plank * 0.6);
        ctx.fillStyle = 'rgba(30,15,0,0.28)';
        ctx.fillRect(plank, plank * 0.6, length - 2 * plank, Math.max(1, 0.03 * s));
        ctx.fillRect(0, height - Math.max(1, 0.06 * s), length, Math.max(1, 0.06 * s));
      },
      lid: () => {
        const [w, h] = [hx * s, hy * s];
        const looks = { light: 0.9, grain: 0.13, salt: 4, gap: Math.max(0.8, 0.018 * s) };
        planks(Math.max(3, Math.round(hy * 2 * 4.4)), looks)();
        clipped(ctx, inner(w, h, plank), () => {
          line(ctx, 'rgba(40,20,0,0.3)', plank * 1.15, [[-w, h + plank * 0.3], [w, -h + plank * 0.3]]);
          line(ctx, shade(1.1), plank * 1.15, [[-w, h], [w, -h]]);
        });
        const thin = Math.max(1, 0.02 * s);
        rim(ctx, shade(1.16), plank, inner(w, h, plank / 2));
        rim(ctx, 'rgba(40,20,0,0.35)', thin, inner(w, h, plank));
        rim(ctx, shade(1.4), thin, inner(w, h, 0.5));
        const nail = Math.max(0.8, 0.028 * s);
        for (const [u, v] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) {
          disc(ctx, 'rgba(50,40,40,0.7)', u * (w - plank / 2), v * (h - plank / 2), nail);
        }
      },
    });
  },

  /** Boards with iron bands and a ring. */
  door({ ctx, thing: { hx, hy, id }, s, palette, box, shade }) {
    box({
      face: (length, height, light) => {
        const boards = Math.max(3, Math.round(length / (0.36 * s)));
        for (let i = 0; i < boards; i++) {
          const paint = shade(light * (1.25 + noise(id, i, 5) * 0.3));
          slab(ctx, paint, (i * length) / boards + 0.5, 0, length / boards - 1, height);
        }
        for (const at of [0.18, 0.72]) {
          slab(ctx, tone(0x3c3f46, 0.95, palette), 0, height * at, length, Math.max(2, height * 0.11));
          for (let i = 0; i <= boards; i++) {
            const x = Math.min(length - 2, Math.max(2, (i * length) / boards));
            disc(ctx, tone(0x83868f, 1, palette), x, height * (at + 0.055), Math.max(0.8, 0.03 * s));
          }
        }
        arc(ctx, tone(0xd8b45a, 1, palette), Math.max(1.2, 0.045 * s), [length * 0.14, height * 0.52, 0.1 * s, 0, 7]);
      },
      lid: () => rim(ctx, shade(1.5), Math.max(1, 0.03 * s), inner(hx * s, hy * s, 1)),
    });
  },

  /** A bell in its frame on a plinth; it swings while it rings. */
  bell({ ctx, thing, s, palette, now, calm, drum, shade }) {
    const r = thing.hx * s;
    const ringing = thing.text === 'ringing';
    drum(1, 0.36, 0, 0x9a948c);
    ctx.translate(0, -lift(0.36, s));
    const swing = ringing && !calm ? Math.sin(now / 70) * 0.35 : 0;
    const tall = 0.95 * s;
    const post = r * 1.05;
    ctx.lineCap = 'round';
    ctx.lineJoin = 'round';
    line(ctx, tone(0x5b4029, 1, palette), Math.max(2, 0.1 * s), [[-post, 0], [-post, -tall], [post, -tall], [post, 0]]);
    const top = -tall - 0.03 * s;
    line(ctx, tone(0x8a643f, 1.05, palette), Math.max(1, 0.035 * s), [[-post, top], [post, top]]);
    const [w, h] = [r * 0.8, tall * 0.66];
    const across = ctx.createLinearGradient(-w, 0, w, 0);
    fade(across, [0, shade(1.2)], [0.3, shade(1.5)], [0.6, shade(0.95)], [1, shade(0.6)]);
    moved(ctx, 0, -tall, () => {
      disc(ctx, tone(0x4a3826, 1, palette), -swing * w, h * 1.04, w * 0.2);
      filled(ctx, across, () => {
        ctx.moveTo(-w * 0.28, h * 0.08);
        ctx.quadraticCurveTo(0, -h * 0.08, w * 0.28, h * 0.08);
        ctx.bezierCurveTo(w * 0.72, h * 0.2, w * 0.55, h * 0.7, w, h);
        ctx.quadraticCurveTo(0, h * 1.16, -w, h);
        ctx.bezierCurveTo(-w * 0.55, h * 0.7, -w * 0.72, h * 0.2, -w * 0.28, h * 0.08);
      });
    }, swing);
    if (ringing && !calm) {
      for (let i = 0; i < 2; i++) {
        const t = ((now / 600 + i / 2) % 1);
        ctx.globalAlpha = 1 - t;
        for (const side of [0, Math.PI]) {
          const sound = [0, -tall * 0.6, w + t * 0.7 * s, side - 0.6, side + 0.6];
          arc(ctx, tone(0xffe27a, 1.1, palette), Math.max(1, 0.04 * s), sound);
        }
      }
      ctx.globalAlpha = 1;
    }
  },

  /** Somebody round who smiles, with a lamp on top. */
  greeter({ ctx, thing, s, palette, now, calm, drum, shade }) {
    const r = thing.hx * s;
    const sway = calm ? 0 : Math.sin(now / 900) * 0.03 * s;
    drum(1, 0.14, 0, 0x565c6b);
    const low = lift(0.18, s);
    const tall = lift(1.05, s);
    const coat = ctx.createLinearGradient(-r, 0, r, 0);
    const w = r * 0.84;
    filled(ctx, fade(coat, [0, shade(1.12)], [0.5, shade(0.92)], [1, shade(0.62)]), () => {
      ctx.moveTo(-w, -low);
      ctx.quadraticCurveTo(0, -low + w * 0.7, w, -low);
      ctx.lineTo(w * 0.92, -low - tall * 0.72);
      ctx.bezierCurveTo(w * 0.85, -low - tall * 1.42, -w * 0.85, -low - tall * 1.42, -w * 0.92, -low - tall * 0.72);
    });
    const face = -low - tall * 0.72 + sway;
    pill(ctx, tone(0x14202e, 1, palette), [-w * 0.7, face - w * 0.52, w * 1.4, w * 0.92], w * 0.34);
    const blink = !calm && now % 4100 < 130 ? 0.15 : 1;
    for (const side of [-1, 1]) oval(ctx, '#9fe8ff', side * w * 0.3, face - w * 0.14, w * 0.11, w * 0.15 * blink);
    ctx.lineCap = 'round';
    arc(ctx, '#9fe8ff', Math.max(1, w * 0.08), [0, face, w * 0.24, 0.35, Math.PI - 0.35]);
    const top = -low - tall * 1.27;
    line(ctx, tone(0x565c6b, 1, palette), Math.max(1, 0.05 * s), [[0, top + 0.06 * s], [sway, top - 0.16 * s]]);
    disc(ctx, tone(0xffc857, 1.1, palette), sway, top - 0.2 * s, 0.075 * s);
  },

  ball({ ctx, thing, s, angle, palette, shade }) {
    const r = thing.hx * s * 1.06;
    const gloss = ctx.createRadialGradient(-r * 0.4, -r * 0.45, r * 0.1, 0, 0, r * 1.15);
    fade(gloss, [0, 'rgba(255,255,255,0.75)'], [0.35, 'rgba(255,255,255,0)'], [0.6, 'rgba(10,10,40,0)'], [1, 'rgba(10,10,40,0.5)']);
    moved(ctx, 0, -lift(thing.hx, s), () => {
      disc(ctx, shade(0.94), 0, 0, r);
      ctx.clip();
      for (const from of [0, 2, 4].map((third) => (third * Math.PI) / 3 - angle)) filled(ctx, tone(0xe4573d, 0.95, palette), () => {
        ctx.moveTo(0, 0);
        ctx.arc(0, 0, r * 1.1, from, from + Math.PI / 3);
      });
      slab(ctx, gloss, -r, -r, 2 * r, 2 * r);
    });
  },
};

const DRAWN = Object.fromEntries(Object.entries(/** @type {Record<string, Facts>} */ (KINDS))
  .map(([kind, facts]) => [kind, drawn(facts, PAINTERS[facts.paint ?? kind] ?? putTogether(facts))]));
