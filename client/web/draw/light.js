// @ts-check
/**
 * One light over everything: palettes of day and dusk, and what they make of a colour.
 *
 * @typedef {object} Palette
 * @property {number} id             below 4
 * @property {string} name           'day' or 'dusk'
 * @property {[number, number]} cast where the shadow of a metre of height falls, in metres (x east, y north)
 * @property {[number, number, number]} tint what the light makes of red, green and blue
 * @property {string} shadow         colour of shadows
 * @property {number} shadowAlpha
 * @property {number[]} stone        tones of paving, 0xRRGGBB
 * @property {number} joint          between stones
 * @property {number[]} band         stones of the bands
 * @property {number[]} accent       the rose in the middle: terracotta, slate, cream
 * @property {number} grass
 * @property {number[]} blades
 * @property {number} glow           strength of lamps, 0 by day
 * @property {string} ink            of names
 * @property {string} paper          behind names
 */

/** Share of a thing's height by which its top is drawn further up the screen. */
export const LIFT = 0.56;

/** @type {Palette} */
export const DAY = {
  id: 0,
  name: 'day',
  cast: [0.82, -0.5],
  tint: [1, 1, 1],
  shadow: '#1d2440',
  shadowAlpha: 0.3,
  stone: [0xd9cfbc, 0xd2c6b1, 0xddd4c3, 0xcdc1ad, 0xd6cab4],
  joint: 0xb3a68f,
  band: [0xa99a86, 0xb2a38e, 0xa0917d],
  accent: [0xb8694a, 0x6d7f8a, 0xece2cd],
  grass: 0x92ad68,
  blades: [0x7f9c57, 0xa4bd78, 0x86a45f],
  glow: 0,
  ink: '#1c2233',
  paper: 'rgba(255,253,248,0.86)',
};

/** @type {Palette} */
export const DUSK = {
  id: 1,
  name: 'dusk',
  cast: [1.25, -0.62],
  tint: [0.6, 0.64, 0.86],
  shadow: '#05060f',
  shadowAlpha: 0.46,
  stone: [0x5a5c75, 0x555770, 0x606279, 0x50526a, 0x585a72],
  joint: 0x40425a,
  band: [0x43455e, 0x484a63, 0x3e4059],
  accent: [0x7d4d4f, 0x3f5068, 0x8b89a0],
  grass: 0x33473f,
  blades: [0x2b3d38, 0x3d5448, 0x304540],
  glow: 1,
  ink: '#f3f1ff',
  paper: 'rgba(18,20,38,0.78)',
};

/** At dusk, for those who carry a lamp. @type {Palette} */
const LANTERN = { ...DUSK, id: 2, name: 'lantern', tint: [0.88, 0.84, 0.94] };

/** The light on people and on things with a lamp. @param {Palette} palette */
export const lit = (palette) => (palette.glow ? LANTERN : palette);

/** @type {Map<number, string>} */
const tones = new Map();

/**
 * A colour in the light, lighter (k > 1) or darker (k < 1).
 * @param {number} rgb 0xRRGGBB @param {number} k @param {Palette} palette
 */
export function tone(rgb, k, palette) {
  const key = (rgb * 4 + palette.id) * 512 + Math.min(511, Math.round(k * 128));
  let css = tones.get(key);
  if (css === undefined) {
    const part = (/** @type {number} */ shift, /** @type {number} */ tint) => {
      const base = ((rgb >> shift) & 255) * tint;
      const lit = k <= 1 ? base * k : base + (255 * Math.max(...palette.tint) - base) * (k - 1);
      return Math.max(0, Math.min(255, Math.round(lit)));
    };
    css = `rgb(${part(16, palette.tint[0])},${part(8, palette.tint[1])},${part(0, palette.tint[2])})`;
    if (tones.size > 4000) tones.clear();
    tones.set(key, css);
  }
  return css;
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
