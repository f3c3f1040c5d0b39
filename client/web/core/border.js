// @ts-check
/**
 * Walking over a border. Near one, a second engine opens a session with the neighbour and announces who comes;
 * once the avatar is there and no more here, the page goes there too.
 */

/** Milliseconds between two questions how the borders stand. */
const ASK_MS = 2_000;
/** An announcement is made again after this, and sooner where it was refused: the neighbour may not have heard. */
const APPROACH_MS = 10_000;
const REFUSED_MS = 1_000;

/**
 * @typedef {object} Border
 * @property {string} neighbour
 * @property {boolean} open
 * @property {string|null} why it is a wall
 * @property {number} gap metres
 * @property {string} edge where it is, as a point of the compass
 * @property {{x: number, y: number}} shift to the neighbour's coordinates
 * @property {string[]} nodes of the neighbour
 */

/**
 * What the walk needs of an engine.
 * @typedef {Pick<import('./engine.js').Engine, 'me' | 'sight' | 'genesis' | 'sim' | 'borders' | 'approach' | 'start' | 'stop' | 'status'>} Walker
 */

export class BorderWalk {
  /**
   * @param {object} parts
   * @param {Walker} parts.engine where the avatar is
   * @param {(border: Border, at: {x: number, y: number}) => Walker} parts.open makes the neighbour's
   * @param {(there: Walker) => void} parts.arrived the avatar is there
   * @param {(why: string, there: Walker) => void} parts.refused the neighbour takes nobody over, by a code
   * @param {(border: Border | null, there: Walker | null) => void} parts.near a border is near, or none is any more
   */
  constructor({ engine, open, arrived, refused, near }) {
    [this.engine, this.open, this.arrived, this.refused, this.near] = [engine, open, arrived, refused, near];
    this.ahead = /** @type {{border: Border, engine: Walker} | null} */ (null);
    this.asked = -Infinity;
    /** When it is announced again. */
    this.due = -Infinity;
    this.said = /** @type {string | null} */ (null);
    this.over = false;
  }

  /** Looks after the border that is nearest; called a few times a second. @param {number} now milliseconds */
  update(now) {
    const { engine, ahead } = this;
    if (this.over || !engine.genesis?.introduction?.world) return;
    if (ahead && engine.me === null && ahead.engine.me !== null) {
      this.over = true;
      return this.arrived(ahead.engine);
    }
    const at = engine.me === null ? null : engine.sight.at(engine.me, now);
    if (at && now - this.asked >= ASK_MS) {
      this.asked = now;
      engine.borders(at.x, at.y).then((list) => this.#look(list, at)).catch(() => {});
    }
    if (ahead && now >= this.due && ahead.engine.status.phase === 'open') this.#announce(ahead.engine, now);
  }

  /** @param {Border[]} near nearest first @param {{x: number, y: number}} at */
  #look(near, at) {
    const next = near.find(({ open, nodes }) => open && nodes.length > 0);
    this.near(next ?? near[0] ?? null, next?.neighbour === this.ahead?.border.neighbour ? this.ahead?.engine ?? null : null);
    if (this.over || next?.neighbour === this.ahead?.border.neighbour) return;
    this.ahead?.engine.stop();
    [this.ahead, this.due, this.said] = [null, -Infinity, null];
    if (!next) return;
    const engine = this.open(next, { x: at.x + next.shift.x, y: at.y + next.shift.y });
    engine.start();
    this.ahead = { border: next, engine };
  }

  /** @param {Walker} there @param {number} now */
  #announce(there, now) {
    this.due = now + APPROACH_MS;
    there.approach(this.engine.sim ?? '').then(({ ok, refusal }) => {
      if (ok) return void (this.said = null);
      this.due = now + REFUSED_MS;
      // Once is enough while the reason stays.
      if (refusal !== this.said) this.refused(refusal ?? '', there);
      this.said = refusal;
    }, () => (this.due = now + REFUSED_MS));
  }
}
