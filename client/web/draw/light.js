/** One light over everything: palettes of day and dusk, and what they make of a colour. */

import PALETTES from './palettes.json' with { type: 'json' };

/** Share of a thing's height by which its top is drawn further up the screen. */
export const LIFT = 0.56;

/** '#rrggbb' as 0xRRGGBB. @param {string} text */
export const fromHex = (text) => Number.parseInt(text.slice(1), 16);

/** In the table '#rrggbb' are colours to mix, and 'rgb(..)' such as are drawn. @returns {Palette} */
const read = (/** @type {object} */ table) => JSON.parse(JSON.stringify(table),
  (_, value) => (/^#/.test(value) ? fromHex(value) : value));

export const [DAY, DUSK] = [PALETTES.day, PALETTES.dusk].map(read);

/** At dusk, for those who carry a lamp. @type {Palette} */
const LANTERN = { ...DUSK, id: 2, name: 'lantern', tint: [0.88, 0.84, 0.94] };

/** The light on people and on things with a lamp. @param {Palette} palette */
export const lit = (palette) => (palette.glow ? LANTERN : palette);

/**
 * What is kept under a key, or made now; when there is too much, all of it is forgotten first.
 * @template Key, Value
 * @param {Map<Key, Value>} map @param {Key} key @param {() => Value} make @param {number} [most] @returns {Value}
 */
export function kept(map, key, make, most = Infinity) {
  let found = map.get(key);
  if (found !== undefined) return found;
  found = make();
  if (map.size > most) map.clear();
  map.set(key, found);
  return found;
}

const tones = /** @type {Map<number, string>} */ (new Map());

/**
 * A colour in the light, lighter (k > 1) or darker (k < 1).
 * @param {number} rgb 0xRRGGBB @param {number} k @param {Palette} palette
 */
export function tone(rgb, k, palette) {
  const key = (rgb * 4 + palette.id) * 512 + Math.min(511, Math.round(k * 128));
  return kept(tones, key, () => {
    const most = 255 * Math.max(...palette.tint);
    const parts = palette.tint.map((tint, i) => {
      const base = ((rgb >> (16 - 8 * i)) & 255) * tint;
      return Math.max(0, Math.min(255, Math.round(k <= 1 ? base * k : base + (most - base) * (k - 1))));
    });
    return `rgb(${parts})`;
  }, 4000);
}

/** 0xRRGGBB as it is, for colours that already belong to a palette. @param {number} rgb */
export const css = (rgb) => `#${(rgb & 0xffffff).toString(16).padStart(6, '0')}`;

/** A number in [0, 1) that only depends on the place. @param {number} x @param {number} y @param {number} [salt] */
export function noise(x, y, salt = 0) {
  let h = (Math.imul(x | 0, 374761393) + Math.imul(y | 0, 668265263) + Math.imul(salt | 0, 2147483647)) | 0;
  h = Math.imul(h ^ (h >>> 13), 1274126177);
  return ((h ^ (h >>> 16)) >>> 0) / 4294967296;
}

/**
 * A canvas that is on no page.
 * @param {number} width @param {number} height
 * @returns {{canvas: HTMLCanvasElement, ctx: CanvasRenderingContext2D}}
 */
export function surface(width, height, alpha = true) {
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.ceil(width));
  canvas.height = Math.max(1, Math.ceil(height));
  const ctx = canvas.getContext('2d', { alpha });
  if (!ctx) throw new Error('no 2d canvas');
  return { canvas, ctx };
}

/** The colour of a lot: one's own, a friend's who lets one build there, or somebody else's. @param {{own: boolean, lets: boolean}} lot */
export const lotColor = ({ own, lets }) => (own ? '#7ee2a8' : lets ? '#58c4ff' : '#e9c46a');
