// @ts-check
/** What builders do, as acts. Sizes are whole widths and heights in metres, angles radians. */
import { toAngle, toFx, toVec } from './acts.js';

/** The most that an act can say to pass over. */
const SKIP_MAX = 255;

/** @param {boolean} round @param {number} w @param {number} h */
const outline = (round, w, h) =>
  round ? { Disc: { radius: toFx(w / 2) } } : { Box: { half: toVec(w / 2, h / 2) } };

export class Build {
  /**
   * @param {(act: any) => Promise<import('./pending.js').Result>} act
   * @param {(id: number) => boolean} isRound
   */
  constructor(act, isRound) {
    this.do = (/** @type {any} */ build) => act({ Build: build });
    this.isRound = isRound;
    /** Deeds that could not be taken back, and are passed over from now on. */
    this.passed = 0;
  }

  /** @param {any} build */
  act(build) {
    this.passed = 0;
    return this.do(build);
  }

  /**
   * @param {{kind: string, name: string, text?: string, color: number, round?: boolean, w: number,
   *   h?: number, movable?: boolean, x: number, y: number, angle?: number, licence?: string}} spec
   */
  place({ kind, name, text = '', color, round = false, w, h = w, movable = true, x, y, angle = 0,
    licence = 'CcBySa' }) {
    const parts = { kind, name, text, color, movable, licence };
    const where = { position: toVec(x, y), angle: toAngle(angle) };
    return this.act({ Place: { ...parts, ...where, outline: outline(round, w, h) } });
  }

  /** @param {number} object @param {number} x @param {number} y */
  move(object, x, y) {
    return this.act({ Move: { object, position: toVec(x, y) } });
  }

  /** @param {number} object @param {number} angle */
  rotate(object, angle) {
    return this.act({ Rotate: { object, angle: toAngle(angle) } });
  }

  /** @param {number} object @param {number} w @param {number} h */
  resize(object, w, h = w) {
    return this.act({ Resize: { object, outline: outline(this.isRound(object), w, h) } });
  }

  /** @param {number} object @param {number} color 0xRRGGBB */
  color(object, color) {
    return this.act({ Recolor: { object, color } });
  }

  /** @param {number} object @param {string} name */
  rename(object, name) {
    return this.act({ Rename: { object, name } });
  }

  /** @param {number} object @param {string} text */
  write(object, text) {
    return this.act({ Write: { object, text } });
  }

  /** @param {number} object @param {number} x @param {number} y */
  copy(object, x, y) {
    return this.act({ Copy: { object, position: toVec(x, y) } });
  }

  /** @param {number} object */
  remove(object) {
    return this.act({ Delete: { object } });
  }

  /** @param {number} object @param {string} to a key */
  give(object, to) {
    return this.act({ Give: { object, to } });
  }

  /** @param {number} object @param {string} name a package's id */
  attach(object, name) {
    return this.act({ Attach: { object, package: name } });
  }

  /** @param {number} object @param {number} script */
  detach(object, script) {
    return this.act({ Detach: { object, script } });
  }

  /** Takes back the last deed; asked again, passes over one that could not be taken back. */
  async undo() {
    const result = await this.do({ Undo: { skip: this.passed } });
    const more = !result.ok && result.refusal !== 'NothingToUndo';
    this.passed = more ? Math.min(this.passed + 1, SKIP_MAX) : 0;
    return result;
  }
}
