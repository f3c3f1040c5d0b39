/** The ground: paving inside walls, meadow outside, painted once per chunk and then copied. */

import { clipped, disc, fade, filled, moved, oval, patch, slab, stroked } from './brush.js';
import { css, noise, surface, tone } from './light.js';

/** Side of a chunk in metres. */
export const CHUNK = 8;

/** Bytes of chunks that are kept, as long as what is in view fits. */
const BYTES_KEPT = 80e6;

/** Milliseconds a frame may spend on new chunks, once the first picture is there. */
const BUDGET_MS = 5;

const FIELD = 8;
const BAND = 0.56;
const COLUMNS = 5;
const ROSE = [0.55, 1.35, 2.2, 3.1, 4.1, 4.6];

export class Ground {
  chunks = /** @type {Map<string, HTMLCanvasElement>} */ (new Map());
  scale = 0;
  palette = /** @type {Palette | null} */ (null);
  /** Areas that are paved. @type {Area[]} */
  paved = [];
  /** Where the coordinates of the sim begin. All of this is painted in other ones, which stay over borders. */
  origin = { x: 0, y: 0 };
  first = true;

  /**
   * The areas that walls enclose are paved.
   * @param {(Area | null)[]} areas @param {Spot} origin where their coordinates begin
   */
  pave(areas, origin) {
    this.origin = origin;
    const paved = areas.flatMap((area) => (area ? [{ west: area.west + origin.x, south: area.south + origin.y, east: area.east + origin.x, north: area.north + origin.y }] : []));
    paved.sort((a, b) => a.west - b.west || a.south - b.south);
    if (JSON.stringify(paved) === JSON.stringify(this.paved)) return;
    this.paved = paved;
    this.chunks.clear();
    this.first = true;
  }

  /** @param {CanvasRenderingContext2D} ctx @param {Camera} camera @param {Palette} palette */
  draw(ctx, camera, palette) {
    const sharp = !camera.zooming;
    if (palette !== this.palette || (sharp && camera.scale !== this.scale) || this.scale === 0) {
      this.chunks.clear();
      [this.first, this.scale, this.palette] = [true, camera.scale, palette];
    }
    const began = performance.now();
    let shown = 0;
    const { x, y } = this.origin;
    const view = camera.view(0);
    const [west, south, east, north] = [view.west + x, view.south + y, view.east + x, view.north + y];
    for (let cy = Math.floor(south / CHUNK); cy <= Math.floor(north / CHUNK); cy++) {
      for (let cx = Math.floor(west / CHUNK); cx <= Math.floor(east / CHUNK); cx++) {
        const left = Math.round(camera.sx(cx * CHUNK - x));
        const top = Math.round(camera.sy((cy + 1) * CHUNK - y));
        const key = `${cx},${cy}`;
        shown += 1;
        let chunk = this.chunks.get(key);
        if (!chunk && (this.first || performance.now() - began < BUDGET_MS)) {
          chunk = paint(cx, cy, this.scale, palette, this.paved);
          this.chunks.set(key, chunk);
        }
        const width = Math.round(camera.sx((cx + 1) * CHUNK - x)) - left;
        const height = Math.round(camera.sy(cy * CHUNK - y)) - top;
        if (!chunk) {
          const paved = this.paved.some((area) => inside(area, (cx + 0.5) * CHUNK, (cy + 0.5) * CHUNK));
          slab(ctx, css(paved ? palette.stone[1] : palette.grass), left, top, width, height);
        } else {
          ctx.drawImage(chunk, left, top, width, height);
        }
      }
    }
    this.first = false;
    this.forget(shown);
  }

  /** Lets go of what was painted longest ago. @param {number} shown chunks in view */
  forget(shown) {
    const most = Math.max(2 * shown, Math.floor(BYTES_KEPT / (4 * (CHUNK * this.scale) ** 2)));
    for (const key of this.chunks.keys()) {
      if (this.chunks.size <= most) return;
      this.chunks.delete(key);
    }
  }
}

/** @param {Area} area @param {number} x @param {number} y */
const inside = (area, x, y) => x >= area.west && x <= area.east && y >= area.south && y <= area.north;

/**
 * @param {number} cx @param {number} cy @param {number} scale pixels a metre
 * @param {Palette} palette @param {Area[]} areas that are paved
 */
function paint(cx, cy, scale, palette, areas) {
  const side = Math.round(CHUNK * scale);
  const { canvas, ctx } = surface(side, side, false);
  const west = cx * CHUNK;
  const south = cy * CHUNK;
  // From here on in metres, y north.
  ctx.setTransform(scale, 0, 0, -scale, -west * scale, (south + CHUNK) * scale);
  const all = { west, south, east: west + CHUNK, north: south + CHUNK };
  const fills = (/** @type {Area} */ paved) => inside(paved, all.west, all.south) && inside(paved, all.east, all.north);
  if (!areas.some(fills)) meadow(ctx, all, palette);
  for (const paved of areas) {
    const { west: left, south: low, east: right, north: high } = paved;
    if (left >= all.east || right <= all.west || low >= all.north || high <= all.south) continue;
    const box = fills(paved) ? [west - 1, south - 1, CHUNK + 2, CHUNK + 2] : [left, low, right - left, high - low];
    clipped(ctx, box, () => {
      paving(ctx, all, palette, scale);
      const [x, y] = [(left + right) / 2, (low + high) / 2];
      const far = Math.hypot(Math.max(all.west - x, x - all.east, 0), Math.max(all.south - y, y - all.north, 0));
      if (far < ROSE[ROSE.length - 1]) moved(ctx, x, y, () => rose(ctx, palette));
      wear(ctx, all, palette, paved);
    });
  }
  return canvas;
}

/** Calls for a chunk and those around it: what is larger than a chunk's rest crosses its border. */
function around(/** @type {Area} */ all, /** @type {(west: number, south: number) => void} */ each) {
  for (let y = -1; y <= 1; y++) for (let x = -1; x <= 1; x++) each(all.west + x * CHUNK, all.south + y * CHUNK);
}

/** Grass with blades and a few flowers. @param {CanvasRenderingContext2D} ctx @param {Area} all @param {Palette} palette */
function meadow(ctx, all, palette) {
  slab(ctx, css(palette.grass), all.west - 1, all.south - 1, CHUNK + 2, CHUNK + 2);
  around(all, (west, south) => {
    for (let i = 0; i < 9; i++) {
      const x = west + noise(west * 7 + i, south, 1) * CHUNK;
      const y = south + noise(south * 5 + i, west, 2) * CHUNK;
      const r = 0.8 + noise(i, west + south, 3) * 1.4;
      blot(ctx, x, y, r, i % 2 ? palette.blades[0] : palette.blades[1], 0.35);
    }
  });
  for (let tone = 0; tone < 3; tone++) {
    stroked(ctx, css(palette.blades[tone]), 0.035, () => {
      for (let i = 0; i < 150; i++) {
        const x = all.west + noise(all.west * 31 + i, all.south * 17, 10 + tone) * CHUNK;
        const y = all.south + noise(all.south * 29 + i, all.west * 13, 20 + tone) * CHUNK;
        const lean = (noise(i, all.west, 30 + tone) - 0.5) * 0.14;
        ctx.moveTo(x, y);
        ctx.lineTo(x + lean, y + 0.1 + noise(i, all.south, 40) * 0.1);
      }
    });
  }
  const petals = [0xf6f0d8, 0xe9c46a, 0xd98fb0];
  for (let i = 0; i < 10; i++) {
    if (noise(all.west + i, all.south, 50) < 0.4) continue;
    const x = all.west + noise(all.west * 3 + i, all.south, 51) * CHUNK;
    const y = all.south + noise(all.south * 3 + i, all.west, 52) * CHUNK;
    disc(ctx, tone(petals[i % 3], 1, palette), x, y, 0.05);
  }
}

/** Fields of pavers between bands, woven: every other field is laid the other way. */
function paving(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {Area} */ all, /** @type {Palette} */ palette, /** @type {number} */ scale) {
  slab(ctx, css(palette.joint), all.west - 1, all.south - 1, CHUNK + 2, CHUNK + 2);
  const gap = Math.max(0.028, 1 / scale);
  // Fields are centred on multiples of FIELD; the bands run between them.
  const half = FIELD / 2;
  for (let fy = Math.round(all.south / FIELD); fy <= Math.round(all.north / FIELD); fy++) {
    for (let fx = Math.round(all.west / FIELD); fx <= Math.round(all.east / FIELD); fx++) {
      const x0 = fx * FIELD - half;
      const y0 = fy * FIELD - half;
      field(ctx, x0 + BAND, y0 + BAND, FIELD - BAND, (fx + fy) % 2 !== 0, palette, gap);
      const setts = 14;
      const step = FIELD / setts;
      for (let i = 0; i < setts; i++) {
        const at = i * step;
        stone(ctx, x0 + at, y0, step, BAND, gap, css(palette.band[Math.floor(noise(fx * 31 + i, fy, 5) * 3)]));
        if (i > 0) stone(ctx, x0, y0 + at, BAND, step, gap, css(palette.band[Math.floor(noise(fx, fy * 31 + i, 6) * 3)]));
      }
    }
  }
}

/** @param {CanvasRenderingContext2D} ctx @param {number} x0 @param {number} y0 @param {number} side
 *  @param {boolean} turned @param {Palette} palette @param {number} gap */
function field(ctx, x0, y0, side, turned, palette, gap) {
  const rows = 10;
  const wide = side / COLUMNS;
  const tall = side / rows;
  for (let row = 0; row < rows; row++) {
    for (let col = row % 2 ? -0.5 : 0; col < COLUMNS; col++) {
      const from = Math.max(0, col * wide);
      const until = Math.min(side, (col + 1) * wide);
      const place = noise(Math.round(x0 * 8) + row, Math.round(y0 * 8) + Math.round(col * 2), turned ? 7 : 8);
      const paint = css(palette.stone[Math.floor(place * palette.stone.length)]);
      if (turned) stone(ctx, x0 + row * tall, y0 + from, tall, until - from, gap, paint);
      else stone(ctx, x0 + from, y0 + row * tall, until - from, tall, gap, paint);
    }
  }
}

/** @param {CanvasRenderingContext2D} ctx @param {number} x @param {number} y @param {number} w
 *  @param {number} h @param {number} gap @param {string} paint */
function stone(ctx, x, y, w, h, gap, paint) {
  slab(ctx, paint, x + gap / 2, y + gap / 2, w - gap, h - gap);
  // The edge towards the light is a little brighter.
  slab(ctx, 'rgba(255,255,255,0.13)', x + gap / 2, y + h - gap * 1.4, w - gap, gap * 0.9);
  slab(ctx, 'rgba(0,0,20,0.05)', x + gap / 2, y + gap / 2, w - gap, gap * 0.9);
}

/** The rose in the middle of a place: rings of wedges around a star of eight rays. */
function rose(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {Palette} */ palette) {
  const [clay, slate, cream] = palette.accent;
  disc(ctx, css(palette.joint), 0, 0, ROSE[5]);
  const rings = [[12, cream, cream], [24, clay, cream], [32, palette.stone[0], palette.stone[3]], [40, slate, palette.band[1]], [64, palette.band[0], palette.band[2]]];
  rings.forEach(([count, even, odd], ring) => {
    const inner = ROSE[ring] + 0.02;
    const outer = ROSE[ring + 1] - 0.02;
    for (let i = 0; i < count; i++) {
      const a = (i / count) * Math.PI * 2;
      const b = ((i + 1) / count) * Math.PI * 2 - 0.02 / outer;
      ctx.globalAlpha = 0.82 + noise(i, ring, 9) * 0.18;
      filled(ctx, css(i % 2 ? odd : even), () => {
        ctx.arc(0, 0, outer, a, b);
        ctx.arc(0, 0, inner, b, a, true);
      });
    }
  });
  ctx.globalAlpha = 1;
  for (const [rays, long, short, paint, turn] of [[4, 2.05, 0.34, slate, Math.PI / 4], [4, 2.95, 0.42, clay, 0]]) {
    for (let i = 0; i < rays; i++) {
      const a = (i / rays) * Math.PI * 2 + turn;
      const [cos, sin] = [Math.cos(a), Math.sin(a)];
      for (const hand of [1, -1]) {
        const b = a + hand * (Math.PI / 4);
        ctx.globalAlpha = hand > 0 ? 1 : 0.72;
        patch(ctx, css(paint), [[0, 0], [Math.cos(b) * short, Math.sin(b) * short], [cos * long, sin * long]]);
      }
    }
  }
  ctx.globalAlpha = 1;
  disc(ctx, css(cream), 0, 0, 0.2);
}

/** Stains everywhere, moss along the walls. */
function wear(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {Area} */ all, /** @type {Palette} */ palette, /** @type {Area} */ paved) {
  around(all, (west, south) => {
    for (let i = 0; i < 6; i++) {
      const x = west + noise(west * 11 + i, south, 60) * CHUNK;
      const y = south + noise(south * 11 + i, west, 61) * CHUNK;
      blot(ctx, x, y, 0.8 + noise(i, west, 62) * 1.8, i % 3 ? 0x2a2430 : 0xffffff, 0.05);
    }
  });
  for (let i = 0; i < 220; i++) {
    const x = all.west + noise(all.west * 41 + i, all.south, 63) * CHUNK;
    const y = all.south + noise(all.south * 43 + i, all.west, 64) * CHUNK;
    const edge = Math.min(x - paved.west, paved.east - x, y - paved.south, paved.north - y);
    if (edge > 1.5 || noise(i, all.west, 65) < edge / 1.5) continue;
    ctx.globalAlpha = 0.75;
    oval(ctx, css(palette.blades[i % 3]), x, y, 0.05 + noise(i, 1, 66) * 0.07, 0.04);
  }
  ctx.globalAlpha = 1;
}

/** @param {CanvasRenderingContext2D} ctx @param {number} x @param {number} y @param {number} r @param {number} rgb @param {number} alpha */
function blot(ctx, x, y, r, rgb, alpha) {
  const color = `${(rgb >> 16) & 255},${(rgb >> 8) & 255},${rgb & 255}`;
  const round = ctx.createRadialGradient(x, y, 0, x, y, r);
  slab(ctx, fade(round, [0, `rgba(${color},${alpha})`], [1, `rgba(${color},0)`]), x - r, y - r, 2 * r, 2 * r);
}
