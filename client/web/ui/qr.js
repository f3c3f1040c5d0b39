// @ts-check
/** Texts as QR codes on a canvas: dark on light in any colour scheme, or phones do not read them. */

import { encode } from '../vendor/uqr/index.js';
import { el } from './dom.js';

/** @param {string} text @param {string} label what it is, for those who do not see it */
export function qr(text, label) {
  const { data, size } = encode(text, { ecc: 'M', border: 3 });
  const dot = 4;
  const canvas = el('canvas', { class: 'qr', role: 'img', 'aria-label': label, width: size * dot, height: size * dot });
  const ctx = canvas.getContext('2d');
  ctx.fillStyle = '#ffffff';
  ctx.fillRect(0, 0, size * dot, size * dot);
  ctx.fillStyle = '#000000';
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) if (data[y][x]) ctx.fillRect(x * dot, y * dot, dot, dot);
  }
  return canvas;
}
