// @ts-check
/** What there is to build with: parts, their sizes in metres and their usual colours. */

import { surface } from '../draw/light.js';
import { kindOf } from '../draw/things.js';
import { el } from './dom.js';

/** @typedef {{id: string, kind: string, w: number, h: number, round: boolean, rod?: boolean, corners?: [number, number][], movable: boolean, color: number}} Part */

/** @type {(id: string, w: number, h: number, color: number, more?: Partial<Part>) => Part} */
const part = (id, w, h, color, more = {}) => ({ id, kind: id, w, h, round: false, movable: false, color, ...more });

const round = { round: true };

/** Kinds are also how parts are drawn. */
export const PALETTE = [
  part('crate', 0.9, 0.9, 0xc8964b, { movable: true }), part('box', 1, 1, 0x5b8def, { kind: 'block' }), part('plank', 3, 0.4, 0xb98552, { kind: 'beam' }),
  part('wall', 4, 0.5, 0xa89f91), part('door', 1.4, 0.25, 0x8a5a33), part('pillar', 0.8, 0.8, 0xd8d2c4, round),
  part('plinth', 1, 1, 0xbdb5a6), part('fence', 2, 0.2, 0xcaa66f), part('hedge', 2, 0.6, 0x4f8a4a),
  part('tree', 0.8, 0.8, 0x5c9a4c, round), part('pine', 0.8, 0.8, 0x3c7a55, round), part('bush', 0.8, 0.8, 0x69a657, round),
  part('flowers', 1.4, 0.7, 0xd9577f), part('pot', 0.5, 0.5, 0x6fae5c, round), part('rock', 0.9, 0.9, 0x8f8b86, round),
  part('fountain', 2, 2, 0xc9c2b4, round), part('lamp', 0.4, 0.4, 0xffd27a, round), part('flag', 0.4, 0.4, 0xc94f4f, round),
  part('table', 1.6, 1.6, 0x58a884, round), part('desk', 1.6, 0.8, 0xa8763e), part('bench', 1.8, 0.5, 0xb98552),
  part('stool', 0.5, 0.5, 0xd08a4e, { round: true, movable: true }), part('bed', 1.2, 2, 0x5b8def), part('shelf', 1.6, 0.5, 0x8a6238),
  part('chest', 1, 0.6, 0x9a6a3a), part('barrel', 0.7, 0.7, 0xa8763e, { round: true, movable: true }), part('tent', 2.4, 2, 0xd8b45a),
  part('ramp', 2, 1, 0xa89f91, { kind: 'block', corners: [[-1, -0.5], [1, -0.5], [1, 0.5]] }), part('wedge', 1.2, 1.2, 0xc96f4a, { kind: 'block', corners: [[-0.6, -0.6], [0.6, -0.6], [0, 0.6]] }),
  part('hexagon', 1.2, 1, 0x6f9bc0, { kind: 'block', corners: [[0.6, 0], [0.3, 0.5], [-0.3, 0.5], [-0.6, 0], [-0.3, -0.5], [0.3, -0.5]] }), part('log', 2, 0.5, 0x8a5a33, { kind: 'beam', rod: true, movable: true }),
  part('sign', 0.5, 0.5, 0xf5f0e6, round), part('bell', 0.8, 0.8, 0xd8b45a, round), part('ball', 0.6, 0.6, 0xe8e8ff, { round: true, movable: true }),
];

/** Pixels of a sample, and how many of them the sun's own device has for each. */
const SAMPLE = 44;
const RATIO = 2;

/** A small picture of a part. @param {Part} entry @param {import('../draw/light.js').Palette} palette @returns {HTMLCanvasElement} */
export function sampleOf(entry, palette) {
  const { canvas, ctx } = surface(SAMPLE * RATIO, SAMPLE * RATIO);
  const thing = { kind: entry.kind, hx: entry.w / 2, hy: entry.h / 2, round: entry.round, corners: entry.corners, look: { color: entry.color }, text: '', id: 3 };
  const { tall, top = tall, paint } = kindOf(thing);
  const high = thing.hy * 2 + Math.max(tall, top - 0.3) * 0.6;
  const s = (SAMPLE * RATIO * 0.9) / Math.max(thing.hx * 2.2, high, 0.9);
  ctx.translate((SAMPLE * RATIO) / 2, (SAMPLE * RATIO) / 2 + (high / 2 - thing.hy) * s);
  paint({ ctx, thing, s, angle: 0, palette, now: 0, calm: true });
  canvas.className = 'sample';
  return canvas;
}

/** A button that begins or ends the placing of a part. @param {HTMLCanvasElement} sample @param {string} text @param {() => void} click */
export function partButton(sample, text, click) {
  return el('button', { type: 'button', class: 'build-item', 'aria-pressed': 'false', on: { click } }, el('span', { class: 'sample-box' }, sample), text);
}
