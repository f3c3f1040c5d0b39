/** What there is to build with: parts, their sizes in metres and their usual colours. */

import { surface } from '../draw/light.js';
import { kindOf } from '../draw/things.js';
import { fromHex } from './dom.js';
import PARTS from './palette.json' with { type: 'json' };

/** Kinds are also how parts are drawn; a part without one has its own. @type {PalettePart[]} */
export const PALETTE = PARTS.map(({ color, ...part }) => ({ kind: part.id, round: false, movable: false, ...part, color: fromHex(color) }));

/** Pixels of a sample, and how many of them the sun's own device has for each. */
const SAMPLE = 44;
const RATIO = 2;

/** A small picture of a part. @param {PalettePart} entry @param {Palette} palette @returns {HTMLCanvasElement} */
export function sampleOf(entry, palette) {
  const { canvas, ctx } = surface(SAMPLE * RATIO, SAMPLE * RATIO);
  const thing = { kind: entry.kind, hx: entry.w / 2, hy: entry.h / 2, round: entry.round, corners: entry.corners && [entry.corners], look: { color: entry.color }, text: '', id: 3 };
  const { tall, top = tall, paint } = kindOf(thing);
  const high = thing.hy * 2 + Math.max(tall, top - 0.3) * 0.6;
  const s = (SAMPLE * RATIO * 0.9) / Math.max(thing.hx * 2.2, high, 0.9);
  ctx.translate((SAMPLE * RATIO) / 2, (SAMPLE * RATIO) / 2 + (high / 2 - thing.hy) * s);
  paint({ ctx, thing, s, angle: 0, palette, now: 0, calm: true });
  canvas.className = 'sample';
  return canvas;
}
