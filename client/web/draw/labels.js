/** Names, bubbles and little marks over heads: text is painted once, then copied. */

import { along, disc, filled, pill } from './brush.js';
import GESTURES from './gestures.json' with { type: 'json' };
import { kept, surface } from './light.js';

const FONT = 'system-ui, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';

/** Widest bubble, and most lines in it. */
const BUBBLE_WIDTH = 210;
const BUBBLE_LINES = 4;

export class Labels {
  kept = /** @type {Map<string, Label>} */ (new Map());
  ratio = 1;
  palette = /** @type {Palette | null} */ (null);
  measure = surface(1, 1).ctx;

  /** @param {number} ratio @param {Palette} palette */
  begin(ratio, palette) {
    if (ratio !== this.ratio || palette !== this.palette || this.kept.size > 500) this.kept.clear();
    [this.ratio, this.palette] = [ratio, palette];
  }

  /** A name on a pill. @param {string} text @param {boolean} own */
  name(text, own) {
    return kept(this.kept, `n${own ? 1 : 0}${text}`, () => {
      const ratio = this.ratio;
      const palette = /** @type {Palette} */ (this.palette);
      const font = `600 ${12 * ratio}px ${FONT}`;
      this.measure.font = font;
      const shown = clip(this.measure, text, 150 * ratio);
      const w = this.measure.measureText(shown).width + 13 * ratio;
      const h = 18 * ratio;
      const { canvas, ctx } = surface(w, h);
      const mine = palette.glow ? 'rgba(214,226,255,0.95)' : 'rgba(28,34,60,0.9)';
      pill(ctx, own ? mine : palette.paper, [0, 0, w, h], h / 2);
      ctx.font = font;
      ctx.textBaseline = 'middle';
      ctx.fillStyle = own ? (palette.glow ? '#141830' : '#ffffff') : palette.ink;
      ctx.fillText(shown, 6.5 * ratio, h / 2 + 0.5 * ratio);
      return { canvas, w, h };
    });
  }

  /** Words in a bubble with a tail. @param {string} text @param {boolean} everywhere */
  bubble(text, everywhere) {
    return kept(this.kept, `b${everywhere ? 1 : 0}${text}`, () => {
      const ratio = this.ratio;
      const dark = (this.palette?.glow ?? 0) > 0;
      const font = `500 ${14 * ratio}px ${FONT}`;
      this.measure.font = font;
      const lines = wrap(this.measure, text, BUBBLE_WIDTH * ratio);
      const wide = Math.max(...lines.map((line) => this.measure.measureText(line).width));
      const line = 18 * ratio;
      const w = wide + 20 * ratio;
      const h = lines.length * line + 12 * ratio;
      const tail = 8 * ratio;
      const edge = 4 * ratio;
      const { canvas, ctx } = surface(w + 2 * edge, h + tail + 2 * edge);
      ctx.translate(edge, edge);
      ctx.shadowColor = 'rgba(10,12,30,0.35)';
      ctx.shadowBlur = 4 * ratio;
      ctx.shadowOffsetY = ratio;
      filled(ctx, everywhere ? (dark ? '#ffe9b0' : '#fff3cf') : (dark ? '#eef0ff' : '#ffffff'), () => {
        ctx.roundRect(0, 0, w, h, 10 * ratio);
        ctx.moveTo(w / 2 - 6 * ratio, h - ratio);
        along(ctx, [[w / 2, h + tail - ratio], [w / 2 + 6 * ratio, h - ratio]]);
      });
      ctx.shadowColor = 'transparent';
      ctx.font = font;
      ctx.textBaseline = 'middle';
      ctx.fillStyle = '#171a2b';
      lines.forEach((words, i) => ctx.fillText(words, 10 * ratio, 6 * ratio + line * (i + 0.5)));
      return { canvas, w: canvas.width, h: canvas.height };
    });
  }

  /** The mark of a gesture. @param {string} kind */
  mark(kind) {
    return kept(this.kept, `m${kind}`, () => {
      const size = 34 * this.ratio;
      const { canvas, ctx } = surface(size, size);
      const dark = (this.palette?.glow ?? 0) > 0;
      disc(ctx, dark ? 'rgba(18,20,38,0.82)' : 'rgba(255,253,248,0.92)', size / 2, size / 2, size / 2 - 1);
      ctx.translate(size * 0.18, size * 0.18);
      ctx.scale((size * 0.64) / 24, (size * 0.64) / 24);
      ctx.lineWidth = 2.1;
      ctx.lineCap = ctx.lineJoin = 'round';
      ctx.strokeStyle = dark ? '#ffe9b0' : '#3b2d6b';
      ctx.stroke(new Path2D(/** @type {Record<string, string>} */ (GESTURES)[kind] ?? ''));
      return { canvas, w: canvas.width, h: canvas.height };
    });
  }
}

/** @param {CanvasRenderingContext2D} ctx @param {string} text @param {number} width */
function clip(ctx, text, width) {
  if (ctx.measureText(text).width <= width) return text;
  let shown = text;
  while (shown && ctx.measureText(`${shown}\u2026`).width > width) shown = shown.slice(0, -1);
  return `${shown}\u2026`;
}

/** @param {CanvasRenderingContext2D} ctx @param {string} text @param {number} width */
function wrap(ctx, text, width) {
  const lines = /** @type {string[]} */ ([]);
  let line = '';
  for (const word of text.split(/\s+/)) {
    const longer = line ? `${line} ${word}` : word;
    if (ctx.measureText(longer).width <= width) {
      line = longer;
      continue;
    }
    if (line) lines.push(line);
    line = word;
    while (ctx.measureText(line).width > width) {
      let cut = line.length - 1;
      while (cut > 1 && ctx.measureText(line.slice(0, cut)).width > width) cut--;
      lines.push(line.slice(0, cut));
      line = line.slice(cut);
    }
  }
  if (line) lines.push(line);
  if (lines.length > BUBBLE_LINES) {
    lines.length = BUBBLE_LINES;
    lines[BUBBLE_LINES - 1] = clip(ctx, `${lines[BUBBLE_LINES - 1]} \u2026`, width);
  }
  return lines.length ? lines : [''];
}
