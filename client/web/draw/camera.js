/** Where the picture looks: follows softly, zooms, and maps metres to pixels of the canvas. */

export const ZOOM_MIN = 14;
export const ZOOM_MAX = 110;

/** Milliseconds after which two thirds of a gap are closed. */
const FOLLOW_MS = 110;
const ZOOM_MS = 70;

/** Metres that are jumped instead of travelled. */
const JUMP = 14;

export class Camera {
  x = 0;
  y = 0;
  /** CSS pixels per metre, now and soon. */
  zoom = 40;
  goal = 40;
  width = 1;
  height = 1;
  ratio = 1;
  /** CSS pixels that panels cover on the right and at the bottom. */
  inset = { right: 0, bottom: 0 };
  shift = { x: 0, y: 0 };
  last = 0;
  placed = false;
  left = 0;
  top = 0;

  /** Canvas pixels per metre. */
  get scale() {
    return this.zoom * this.ratio;
  }

  /** Whether the zoom is on its way. */
  get zooming() {
    return this.zoom !== this.goal;
  }

  /** @param {number} width @param {number} height CSS pixels @param {number} ratio */
  resize(width, height, ratio) {
    Object.assign(this, { width, height, ratio });
  }

  /** Zooms by a factor. @param {number} factor */
  by(factor) {
    this.goal = Math.max(ZOOM_MIN, Math.min(ZOOM_MAX, this.goal * factor));
  }

  /**
   * Moves towards a point.
   * @param {number} x @param {number} y @param {number} now ms @param {boolean} calm without easing
   */
  follow(x, y, now, calm) {
    const dt = Math.min(100, Math.max(0, now - this.last));
    this.last = now;
    const far = Math.hypot(x - this.x, y - this.y) > JUMP;
    const near = !this.placed || far ? 1 : 1 - Math.exp(-dt / FOLLOW_MS);
    this.placed = true;
    this.x += (x - this.x) * near;
    this.y += (y - this.y) * near;
    const step = calm ? 1 : 1 - Math.exp(-dt / ZOOM_MS);
    this.zoom += (this.goal - this.zoom) * step;
    if (Math.abs(this.goal - this.zoom) < 0.05) this.zoom = this.goal;
    const slide = calm ? 1 : 1 - Math.exp(-dt / 160);
    this.shift.x += (this.inset.right / 2 - this.shift.x) * slide;
    this.shift.y += (this.inset.bottom / 2 - this.shift.y) * slide;
    // The whole picture moves by whole pixels: stones do not shimmer, and copies are plain copies.
    const scale = this.scale;
    this.left = Math.round((this.width / 2 - this.shift.x) * this.ratio - this.x * scale);
    this.top = Math.round((this.height / 2 - this.shift.y) * this.ratio + this.y * scale);
  }

  /** Canvas pixels of a place. @param {number} x */
  sx = (x) => this.left + x * this.scale;

  /** @param {number} y */
  sy = (y) => this.top - y * this.scale;

  /** Canvas pixels of a place, as painters take points. @param {Spot} at */
  point = ({ x, y }) => [this.sx(x), this.sy(y)];

  /** CSS pixels of a place. @param {number} x @param {number} y */
  toScreen = (x, y) => ({ x: this.sx(x) / this.ratio, y: this.sy(y) / this.ratio });

  /** The place on the ground under CSS pixels. @param {number} px @param {number} py */
  ground(px, py) {
    const { scale, ratio } = this;
    return { x: (px * ratio - this.left) / scale, y: (this.top - py * ratio) / scale };
  }

  /** The ground in view, metres, with a margin. @param {number} margin */
  view(margin) {
    const a = this.ground(0, this.height);
    const b = this.ground(this.width, 0);
    return { west: a.x - margin, south: a.y - margin, east: b.x + margin, north: b.y + margin };
  }
}
