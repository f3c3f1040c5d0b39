/** The whole place, small: lots, walls, things, people, and what the picture shows of it. */

import { disc, moved, rim, slab } from './brush.js';
import { css, lotColor } from './light.js';

/** Metres from one edge of the map to the other. */
const SPAN = 58;

/**
 * What of a view the map can show: its edges stay on the map, so that there is a whole rectangle.
 * @param {Area} view
 * @param {{x: number, y: number, half: number}} map its middle, and metres from there to an edge
 */
export function within({ west, south, east, north }, { x, y, half }) {
  const clamp = (/** @type {number} */ n, /** @type {number} */ middle) => Math.max(middle - half, Math.min(middle + half, n));
  return { west: clamp(west, x), south: clamp(south, y), east: clamp(east, x), north: clamp(north, y) };
}

export class Minimap {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    this.last = -1e9;
    /** What the map shows in its middle. */
    this.middle = { x: 0, y: 0 };
  }

  /** The place under a point of the map. @param {number} px @param {number} py CSS pixels */
  ground(px, py) {
    const metres = SPAN / this.canvas.clientWidth;
    return { x: this.middle.x + px * metres - SPAN / 2, y: this.middle.y + SPAN / 2 - py * metres };
  }

  /** @param {Picture} picture @param {Camera} camera @param {Area | null} paved @param {number} now */
  draw(picture, camera, paved, now) {
    // Five times a second is enough for dots.
    if (now - this.last < 200) return;
    this.last = now;
    const { canvas, ctx } = this;
    const side = Math.round(canvas.clientWidth * camera.ratio);
    if (side === 0) return;
    if (canvas.width !== side) canvas.width = canvas.height = side;
    const dusk = picture.palette.glow > 0;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    slab(ctx, dusk ? '#2a3a38' : '#a9bd85', 0, 0, side, side);
    // The middle of what is paved if that is near, else where one is.
    const home = paved && { x: (paved.west + paved.east) / 2, y: (paved.south + paved.north) / 2 };
    const { x, y } = camera;
    const far = home ? Math.max(Math.abs(x - home.x), Math.abs(y - home.y)) : SPAN;
    const middle = home && far < SPAN / 2 ? home : { x, y };
    this.middle = middle;
    const s = side / SPAN;
    ctx.setTransform(s, 0, 0, -s, side / 2 - middle.x * s, side / 2 + middle.y * s);
    if (paved) {
      const [w, h] = [paved.east - paved.west, paved.north - paved.south];
      slab(ctx, dusk ? '#5b5d78' : '#ded4c2', paved.west, paved.south, w, h);
    }
    for (const lot of picture.lots) {
      const edge = /** @type {const} */ ([lot.x - lot.hx, lot.y - lot.hy, 2 * lot.hx, 2 * lot.hy]);
      slab(ctx, `${lotColor(lot)}66`, ...edge);
      rim(ctx, lotColor(lot), 0.4, [...edge]);
    }
    const placed = [...picture.sight.objects.values()]
      .map((thing) => ({ thing, at: picture.sight.at(thing.id, now) })).filter(({ at }) => at);
    const wall = dusk ? '#b3adbf' : '#6f675c';
    for (const { thing, at } of placed) {
      if (thing.player) continue;
      const [hx, hy] = [Math.max(thing.hx, 0.4), Math.max(thing.hy, 0.4)];
      const paint = thing.kind === 'wall' ? wall : css(thing.look.color);
      moved(ctx, at.x, at.y, () => slab(ctx, paint, -hx, -hy, 2 * hx, 2 * hy), at.angle);
    }
    for (const { thing, at } of placed) {
      if (!thing.player) continue;
      const own = thing.id === picture.me;
      ctx.strokeStyle = own ? '#1c2233' : 'rgba(255,255,255,0.9)';
      ctx.lineWidth = own ? 0.6 : 0.3;
      disc(ctx, own ? '#ffffff' : css(thing.look.color), at.x, at.y, own ? 1.25 : 0.95);
      ctx.stroke();
    }
    const view = within(camera.view(0), { x: middle.x, y: middle.y, half: SPAN / 2 - 0.6 });
    const edge = [view.west, view.south, view.east - view.west, view.north - view.south];
    rim(ctx, dusk ? 'rgba(255,255,255,0.7)' : 'rgba(28,34,51,0.6)', (1.2 / s) * camera.ratio, edge);
  }
}
