/**
 * Shadows of one light. They are gathered in a coarse layer, where overlapping ones are not darker
 * than one, and laid over the ground in one go; being coarse makes them soft. What rests is painted
 * once per tile, what moves in every frame.
 */

import { line } from './brush.js';
import { kept, surface } from './light.js';

/** Canvas pixels per pixel of the layer. */
const COARSE = 4;

/** Side in metres, and pixels a metre, of a tile of resting shadows. */
const TILE = 16;
const FINE = 12;

export class Shadows {
  layer = surface(1, 1);
  /** @type {Map<string, {canvas: HTMLCanvasElement | null, casters: Map<number, Caster>}>} */
  tiles = new Map();
  /** @type {Map<number, string[]>} tiles that a resting thing touches */
  resting = new Map();
  palette = /** @type {Palette | null} */ (null);

  /** @param {number} width @param {number} height canvas pixels */
  resize(width, height) {
    this.layer = surface(width / COARSE + 1, height / COARSE + 1);
  }

  /** Lets a thing rest: its shadow becomes part of the tiles. @param {number} id @param {Caster} caster */
  rest(id, caster) {
    this.wake(id);
    const reach = Math.hypot(caster.hx, caster.hy) + caster.tall * 1.5;
    const keys = /** @type {string[]} */ ([]);
    for (let y = Math.floor((caster.y - reach) / TILE); y <= Math.floor((caster.y + reach) / TILE); y++) {
      for (let x = Math.floor((caster.x - reach) / TILE); x <= Math.floor((caster.x + reach) / TILE); x++) {
        const key = `${x},${y}`;
        const tile = kept(this.tiles, key, () => ({ canvas: null, casters: new Map() }));
        tile.casters.set(id, caster);
        tile.canvas = null;
        keys.push(key);
      }
    }
    this.resting.set(id, keys);
  }

  /** A resting thing moves, or is gone. @param {number} id */
  wake(id) {
    for (const key of this.resting.get(id) ?? []) {
      const tile = this.tiles.get(key);
      if (!tile) continue;
      tile.casters.delete(id);
      tile.canvas = null;
      if (tile.casters.size === 0) this.tiles.delete(key);
    }
    this.resting.delete(id);
  }

  /**
   * Begins a frame with what rests.
   * @param {Camera} camera @param {Palette} palette
   */
  begin(camera, palette) {
    if (palette !== this.palette) {
      for (const tile of this.tiles.values()) tile.canvas = null;
      this.palette = palette;
    }
    const { ctx, canvas } = this.layer;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, canvas.width, canvas.height);
    const scale = camera.scale / COARSE;
    const { west, south, east, north } = camera.view(0);
    for (let y = Math.floor(south / TILE); y <= Math.floor(north / TILE); y++) {
      for (let x = Math.floor(west / TILE); x <= Math.floor(east / TILE); x++) {
        const tile = this.tiles.get(`${x},${y}`);
        if (!tile) continue;
        tile.canvas ??= bake(x, y, tile.casters, palette);
        const left = camera.sx(x * TILE) / COARSE;
        const top = camera.sy((y + 1) * TILE) / COARSE;
        ctx.drawImage(tile.canvas, left, top, TILE * scale, TILE * scale);
      }
    }
    // Metres from here on.
    ctx.setTransform(scale, 0, 0, -scale, camera.left / COARSE, camera.top / COARSE);
    ctx.fillStyle = palette.shadow;
    ctx.strokeStyle = palette.shadow;
  }

  /** Adds a moving thing's. @param {Caster} caster */
  cast(caster) {
    if (this.palette) shadow(this.layer.ctx, caster, this.palette.cast);
  }

  /** Lays them over the ground. @param {CanvasRenderingContext2D} ctx */
  end(ctx) {
    if (!this.palette) return;
    const { canvas } = this.layer;
    ctx.globalAlpha = this.palette.shadowAlpha;
    ctx.imageSmoothingEnabled = true;
    ctx.drawImage(canvas, 0, 0, canvas.width * COARSE, canvas.height * COARSE);
    ctx.globalAlpha = 1;
  }
}

/** @param {number} tx @param {number} ty @param {Map<number, Caster>} casters @param {Palette} palette */
function bake(tx, ty, casters, palette) {
  const { canvas, ctx } = surface(TILE * FINE, TILE * FINE);
  ctx.setTransform(FINE, 0, 0, -FINE, -tx * TILE * FINE, (ty + 1) * TILE * FINE);
  ctx.fillStyle = palette.shadow;
  ctx.strokeStyle = palette.shadow;
  for (const caster of casters.values()) shadow(ctx, caster, palette.cast);
  return canvas;
}

/**
 * The ground that a body keeps from the light: its footprint, swept along the light's way.
 * @param {CanvasRenderingContext2D} ctx @param {Caster} caster @param {[number, number]} cast
 */
function shadow(ctx, caster, cast) {
  const { x, y, tall } = caster;
  const [dx, dy] = [cast[0] * tall, cast[1] * tall];
  if (caster.round) {
    ctx.lineCap = 'round';
    return line(ctx, ctx.strokeStyle, caster.hx * 2.06, [[x, y], [x + dx, y + dy]]);
  }
  const [cos, sin] = [Math.cos(caster.angle), Math.sin(caster.angle)];
  const [hx, hy] = [caster.hx + 0.03, caster.hy + 0.03];
  for (const around of caster.corners ?? [[[-hx, -hy], [hx, -hy], [hx, hy], [-hx, hy]]]) {
    const points = around.map(([u, v]) => [x + u * cos - v * sin, y + u * sin + v * cos]);
    // Counterclockwise corners: edges that look along the light are swept, the others stay.
    ctx.beginPath();
    for (const [i, p] of points.entries()) {
      const q = points[(i + 1) % points.length];
      const far = (q[1] - p[1]) * dx - (q[0] - p[0]) * dy > 0;
      const [ox, oy] = far ? [dx, dy] : [0, 0];
      ctx.lineTo(p[0] + ox, p[1] + oy);
      ctx.lineTo(q[0] + ox, q[1] + oy);
    }
    ctx.fill();
  }
}
