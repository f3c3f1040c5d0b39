// @ts-check
/**
 * Headings, as acts: at most so many a second, never two alike, and always the last one. So holding
 * a stick does not flood the servers, and letting it go is never lost.
 */

/** The shortest time between two acts. */
const APART_MS = 100;
/** Headings closer than this are alike. */
const ALIKE = 0.02;

export class Walker {
  /**
   * @param {object} parts
   * @param {(x: number, y: number) => Promise<any>} parts.submit
   * @param {() => number} parts.now
   */
  constructor({ submit, now }) {
    this.submit = submit;
    this.now = now;
    this.wanted = { x: 0, y: 0 };
    this.told = { x: 0, y: 0 };
    this.at = -Infinity;
    /** @type {ReturnType<typeof setTimeout>|null} */
    this.timer = null;
    /** @type {((result: any) => void)[]} */
    this.waiting = [];
  }

  /** What was told may not hold any more: whatever comes next is told. */
  forget() {
    this.told = { x: Number.NaN, y: Number.NaN };
  }

  /**
   * Wants to walk this way; resolves with what became of it, or null if nothing had to be said.
   * @param {number} x
   * @param {number} y
   * @returns {Promise<any>}
   */
  walk(x, y) {
    this.wanted = { x, y };
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      const wait = this.at + APART_MS - this.now();
      if (wait <= 0) this.#say();
      else this.timer ??= setTimeout(() => this.#say(), wait);
    });
  }

  #say() {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    const { waiting, wanted, told } = this;
    this.waiting = [];
    const settle = (/** @type {any} */ result) => waiting.forEach((resolve) => resolve(result));
    const stops = wanted.x === 0 && wanted.y === 0 && (told.x !== 0 || told.y !== 0);
    const alike = Math.hypot(wanted.x - told.x, wanted.y - told.y) < ALIKE;
    if (alike && !stops) return settle(null);
    this.told = wanted;
    this.at = this.now();
    return this.submit(wanted.x, wanted.y).then(settle, () => {
      // It may not have been heard: the same heading may be said again.
      this.forget();
      settle(null);
    });
  }
}
