/** Texts as QR codes on a canvas: dark on light in any colour scheme, or phones do not read them. */

import { slab } from '../draw/brush.js';
import { el } from './dom.js';

/** A canvas that is drawn once the encoder is here, which few people need. @param {string} text @param {string} label what it is, for those who do not see it */
export function qr(text, label) {
  const dot = 4;
  const canvas = el('canvas', { class: 'qr', role: 'img', 'aria-label': label, hidden: true });
  import('../vendor/uqr/index.js').then(({ encode }) => {
    const { data, size } = encode(text, { ecc: 'M', border: 3 });
    Object.assign(canvas, { width: size * dot, height: size * dot, hidden: false });
    const ctx = canvas.getContext('2d');
    slab(ctx, '#ffffff', 0, 0, size * dot, size * dot);
    for (let y = 0; y < size; y++) for (let x = 0; x < size; x++) if (data[y][x]) slab(ctx, '#000000', x * dot, y * dot, dot, dot);
  }, () => canvas.remove());
  return canvas;
}
