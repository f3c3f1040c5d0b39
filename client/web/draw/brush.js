/** Strokes and fills that all painters use: each sets its paint, and leaves nothing else changed. */

/** @typedef {CanvasRenderingContext2D} Context */
/** @typedef {string | CanvasGradient | CanvasPattern} Paint */
/** @typedef {readonly (readonly number[])[]} Points  x and y of each */

/**
 * Fills a rectangle.
 * @param {Context} ctx @param {Paint} paint @param {number} x @param {number} y @param {number} w @param {number} h
 */
export function slab(ctx, paint, x, y, w, h) {
  ctx.fillStyle = paint;
  ctx.fillRect(x, y, w, h);
}

/**
 * Draws the edge of a rectangle.
 * @param {Context} ctx @param {Paint} paint @param {number} width @param {number[]} box x, y, w and h
 */
export function rim(ctx, paint, width, [x, y, w, h]) {
  ctx.strokeStyle = paint;
  ctx.lineWidth = width;
  ctx.strokeRect(x, y, w, h);
}

/** Fills a disc. @param {Context} ctx @param {Paint} paint @param {number} x @param {number} y @param {number} r */
export function disc(ctx, paint, x, y, r) {
  ctx.fillStyle = paint;
  ctx.beginPath();
  ctx.arc(x, y, r, 0, 7);
  ctx.fill();
}

/**
 * Fills an ellipse.
 * @param {Context} ctx @param {Paint} paint @param {number} x @param {number} y @param {number} rx @param {number} ry
 */
export function oval(ctx, paint, x, y, rx, ry) {
  ctx.fillStyle = paint;
  ctx.beginPath();
  ctx.ellipse(x, y, rx, ry, 0, 0, 7);
  ctx.fill();
}

/**
 * Fills a rectangle with round corners.
 * @param {Context} ctx @param {Paint} paint @param {number[]} box x, y, w and h @param {number} r
 */
export function pill(ctx, paint, [x, y, w, h], r) {
  ctx.fillStyle = paint;
  ctx.beginPath();
  ctx.roundRect(x, y, w, h, r);
  ctx.fill();
}

/** Makes these points the path. @param {Context} ctx @param {Points} points */
export function trace(ctx, points) {
  ctx.beginPath();
  for (const [x, y] of points) ctx.lineTo(x, y);
}

/** Fills a polygon. @param {Context} ctx @param {Paint} paint @param {Points} points */
export function patch(ctx, paint, points) {
  ctx.fillStyle = paint;
  trace(ctx, points);
  ctx.fill();
}

/** Draws a line. @param {Context} ctx @param {Paint} paint @param {number} width @param {Points} points */
export function line(ctx, paint, width, points) {
  ctx.strokeStyle = paint;
  ctx.lineWidth = width;
  trace(ctx, points);
  ctx.stroke();
}

/**
 * Draws a part of a circle.
 * @param {Context} ctx @param {Paint} paint @param {number} width @param {number[]} arc x, y, radius, from and to
 */
export function arc(ctx, paint, width, [x, y, r, from, to]) {
  ctx.strokeStyle = paint;
  ctx.lineWidth = width;
  ctx.beginPath();
  ctx.arc(x, y, r, from, to);
  ctx.stroke();
}

/** Gives a gradient its colours. @param {CanvasGradient} gradient @param {...[number, string]} stops */
export function fade(gradient, ...stops) {
  for (const [at, color] of stops) gradient.addColorStop(at, color);
  return gradient;
}
