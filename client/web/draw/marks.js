/** What the picture says besides what is there: selection, handles, the ghost of a new thing, lamps. */

import { along, arc, disc, fade, line, moved, slab } from './brush.js';
import { surface } from './light.js';
import { corners } from './solid.js';

/** Light on the ground, painted once. @type {HTMLCanvasElement | null} */
let pool = null;

/** Warm light on the ground. @param {CanvasRenderingContext2D} ctx @param {Camera} camera @param {Lamp[]} lamps */
export function drawLamps(ctx, camera, lamps) {
  if (!pool) {
    const size = 128;
    const made = surface(size, size);
    const round = made.ctx.createRadialGradient(size / 2, size / 2, 0, size / 2, size / 2, size / 2);
    fade(round, [0, 'rgba(255,190,105,0.62)'], [0.35, 'rgba(255,165,85,0.3)'], [1, 'rgba(255,140,60,0)']);
    slab(made.ctx, round, 0, 0, size, size);
    pool = made.canvas;
  }
  ctx.globalCompositeOperation = 'lighter';
  for (const { x, y, radius, strength } of lamps) {
    const r = radius * camera.scale;
    ctx.globalAlpha = strength;
    ctx.drawImage(pool, Math.round(camera.sx(x) - r), Math.round(camera.sy(y) - r), Math.round(2 * r), Math.round(2 * r));
  }
  ctx.globalAlpha = 1;
  ctx.globalCompositeOperation = 'source-over';
}

/** Draws the outline of a footprint on the ground. @param {CanvasRenderingContext2D} ctx @param {Camera} camera @param {Footprint} spot @param {OutlineStyle} style */
export function drawOutline(ctx, camera, spot, style) {
  const { scale: s, ratio } = camera;
  const [hx, hy] = [(spot.hx + style.margin) * s, (spot.hy + style.margin) * s];
  moved(ctx, camera.sx(spot.x), camera.sy(spot.y), () => {
    ctx.beginPath();
    along(ctx, spot.round ? [] : corners(hx, hy, spot.angle));
    if (spot.round) ctx.arc(0, 0, hx, 0, 7);
    else ctx.closePath();
    ctx.fillStyle = style.fill ?? 'transparent';
    if (style.fill) ctx.fill();
    ctx.lineJoin = 'round';
    ctx.setLineDash((style.dash ?? []).map((d) => d * ratio));
    ctx.lineDashOffset = -(style.offset ?? 0) * ratio;
    for (const [color, width] of /** @type {const} */ ([['rgba(12,14,30,0.45)', style.width + 2], [style.color, style.width]])) {
      [ctx.strokeStyle, ctx.lineWidth] = [color, width * ratio];
      ctx.stroke();
    }
  });
}

/** The line of a border on the ground: light where it is open. @param {CanvasRenderingContext2D} ctx @param {Camera} camera @param {{open: boolean, line: {x: number, y: number}[] | null}} border */
export function drawBorder(ctx, camera, { open, line: ends }) {
  if (!ends) return;
  const points = ends.map(camera.point);
  const r = camera.ratio;
  line(ctx, open ? 'rgba(255,255,255,0.16)' : 'rgba(190,60,50,0.28)', 0.5 * camera.scale, points);
  ctx.setLineDash([10 * r, 8 * r]);
  line(ctx, open ? 'rgba(255,255,255,0.8)' : '#c8473c', 2.5 * r, points);
  ctx.setLineDash([]);
}

/** A portal: a ring on the ground, light where it is open. @param {CanvasRenderingContext2D} ctx @param {Camera} camera @param {{open: boolean, portal: {x: number, y: number} | null}} border @param {number} now */
export function drawPortal(ctx, camera, { open, portal }, now) {
  if (!portal) return;
  const [x, y] = camera.point(portal);
  const [r, tone, breath] = [camera.scale, open ? '120,190,255' : '190,60,50', 0.1 * Math.sin(now / 700)];
  const glow = ctx.createRadialGradient(x, y, 0, x, y, 1.3 * r);
  fade(glow, [0, `rgba(${tone},${0.8 + breath})`], [0.77, `rgba(${tone},${0.35 + breath})`], [1, `rgba(${tone},0)`]);
  disc(ctx, glow, x, y, 1.3 * r);
  arc(ctx, open ? 'rgba(255,255,255,0.9)' : '#c8473c', 0.1 * r, [x, y, r, 0, 7]);
}

/**
 * Where the handles of a selected thing are, in metres: one to turn it, one to size it.
 * @param {Footprint} spot @param {number} s
 */
export function handles(spot, s) {
  const out = 46 / s;
  const [cos, sin] = [Math.cos(spot.angle), Math.sin(spot.angle)];
  const at = (/** @type {number} */ u, /** @type {number} */ v) => ({ x: spot.x + u * cos - v * sin, y: spot.y + u * sin + v * cos });
  return {
    turn: at(0, spot.hy + out),
    size: spot.round ? at(spot.hx * 0.7071, -spot.hx * 0.7071) : at(spot.hx, -spot.hy),
  };
}

/** @param {CanvasRenderingContext2D} ctx @param {Camera} camera @param {Footprint} spot */
export function drawHandles(ctx, camera, spot) {
  const { turn, size } = handles(spot, camera.zoom);
  const r = 8 * camera.ratio;
  line(ctx, '#ffffff', 2 * camera.ratio, [spot, turn].map(camera.point));
  for (const [at, color] of /** @type {[{x: number, y: number}, string][]} */ ([[turn, '#ffb454'], [size, '#58c4ff']])) {
    const [x, y] = camera.point(at);
    disc(ctx, color, x, y, r);
    ctx.stroke();
  }
}

/**
 * A ring under one's own feet.
 * @param {CanvasRenderingContext2D} ctx @param {Camera} camera @param {number} x @param {number} y @param {number} r
 */
export function drawOwnRing(ctx, camera, x, y, r) {
  arc(ctx, 'rgba(255,255,255,0.85)', 2.5 * camera.ratio, [camera.sx(x), camera.sy(y), r * camera.scale, 0, 7]);
}
