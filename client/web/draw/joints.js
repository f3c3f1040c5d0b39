/** What holds things, drawn on top of them: dots are hinges, crosses welds, long lines rods and sliders. */

import { line } from './brush.js';
import { lift } from './solid.js';
import { kindOf } from './things.js';

/** @param {CanvasRenderingContext2D} ctx @param {Camera} camera @param {Pick<Picture, 'sight' | 'joints'>} picture @param {number} now @param {(at: Spot) => boolean} shows whether a place is in view of who looks */
export function drawJoints(ctx, camera, { sight, joints }, now, shows) {
  const [s, r] = [camera.scale, Math.max(2, 0.09 * camera.scale)];
  const stroke = (/** @type {number[]} */ from, /** @type {number[]} */ to) => [['rgba(18,20,36,0.85)', 2 * r], ['#f6dc9a', r]].forEach(([paint, width]) => line(ctx, String(paint), Number(width), /** @type {any} */ ([from, to])));
  /** An end on the canvas; nothing if its thing is out of sight. @param {number | null} id @param {number} x @param {number} y */
  const end = (id, x, y) => {
    const at = id === null ? { x: 0, y: 0, angle: 0 } : sight.objects.has(id) && sight.at(id, now);
    if (!at) return null;
    const [cos, sin] = [Math.cos(at.angle), Math.sin(at.angle)];
    const place = { x: at.x + x * cos - y * sin, y: at.y + x * sin + y * cos };
    const up = id === null ? 0 : lift(kindOf(sight.objects.get(id)).tall, s);
    return shows(place) ? { angle: at.angle, point: [camera.sx(place.x), camera.sy(place.y) - up] } : null;
  };
  ctx.lineCap = 'round';
  for (const { a, b, kind, along, ax, ay, bx, by } of joints) {
    const [first, second] = [end(a, ax, ay), end(b, bx, by)];
    if (!first || !second) continue;
    const [[x, y], dx, dy] = [second.point, Math.cos(first.angle + along) * s, -Math.sin(first.angle + along) * s];
    if (kind === 'slider') stroke([x - dx, y - dy], [x + dx, y + dy]);
    if (['rod', 'rope', 'spring', 'target'].includes(kind)) stroke(first.point, second.point);
    else for (const side of kind === 'weld' ? [-1.4 * r, 1.4 * r] : [0.01]) stroke([x - Math.abs(side), y - side], [x + Math.abs(side), y + side]);
  }
  ctx.lineCap = 'butt';
}
