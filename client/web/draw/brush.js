/** Strokes and fills that all painters use: each sets its paint, and leaves nothing else changed. */

/** Fills what a path encloses. @param {CanvasRenderingContext2D} ctx @param {Paint} paint @param {() => unknown} path */
export function filled(ctx, paint, path) {
  ctx.fillStyle = paint;
  ctx.beginPath();
  path();
  ctx.fill();
}

/** Draws along a path. @param {CanvasRenderingContext2D} ctx @param {Paint} paint @param {number} width @param {() => unknown} path */
export function stroked(ctx, paint, width, path) {
  ctx.strokeStyle = paint;
  ctx.lineWidth = width;
  ctx.beginPath();
  path();
  ctx.stroke();
}

/**
 * Draws around another middle, and turned.
 * @param {CanvasRenderingContext2D} ctx @param {number} x @param {number} y @param {() => unknown} draw
 */
export function moved(ctx, x, y, draw, angle = 0) {
  ctx.save();
  ctx.translate(x, y);
  ctx.rotate(angle);
  draw();
  ctx.restore();
}

/** Draws only within a box: x, y, w and h. @param {CanvasRenderingContext2D} ctx @param {number[]} box @param {() => unknown} draw */
export function clipped(ctx, [x, y, w, h], draw) {
  ctx.save();
  ctx.beginPath();
  ctx.rect(x, y, w, h);
  ctx.clip();
  draw();
  ctx.restore();
}

/** Fills a rectangle. @type {Filling} */
export function slab(ctx, paint, x, y, w, h) {
  ctx.fillStyle = paint;
  ctx.fillRect(x, y, w, h);
}

/** Draws the edge of a rectangle. @type {Stroke} */
export function rim(ctx, paint, width, [x, y, w, h]) {
  ctx.strokeStyle = paint;
  ctx.lineWidth = width;
  ctx.strokeRect(x, y, w, h);
}

/** Fills a disc. @type {Filling} */
export const disc = (ctx, paint, x, y, r) => filled(ctx, paint, () => ctx.arc(x, y, r, 0, 7));

/** Fills an ellipse. @type {Filling} */
export const oval = (ctx, paint, x, y, rx, ry, turn = 0) =>
  filled(ctx, paint, () => ctx.ellipse(x, y, rx, ry, turn, 0, 7));

/** Fills a box with round corners. @param {CanvasRenderingContext2D} ctx @param {Paint} paint @param {number[]} box @param {number} r */
export const pill = (ctx, paint, [x, y, w, h], r) =>
  filled(ctx, paint, () => ctx.roundRect(x, y, w, h, r));

/** Goes along these points. @param {CanvasRenderingContext2D} ctx @param {Points} points */
export function along(ctx, points) {
  for (const [x, y] of points) ctx.lineTo(x, y);
}

/** Fills a polygon. @param {CanvasRenderingContext2D} ctx @param {Paint} paint @param {Points} points */
export const patch = (ctx, paint, points) => filled(ctx, paint, () => along(ctx, points));

/** Draws a line. @param {CanvasRenderingContext2D} ctx @param {Paint} paint @param {number} width @param {Points} points */
export const line = (ctx, paint, width, points) =>
  stroked(ctx, paint, width, () => along(ctx, points));

/** Draws a part of a circle: x, y, radius, from and to. @type {Stroke} */
export const arc = (ctx, paint, width, [x, y, r, from, to]) =>
  stroked(ctx, paint, width, () => ctx.arc(x, y, r, from, to));

/** Gives a gradient its colours. @param {CanvasGradient} gradient @param {...[number, string]} stops */
export function fade(gradient, ...stops) {
  for (const [at, color] of stops) gradient.addColorStop(at, color);
  return gradient;
}
