/**
 * Walking over a border. Near one, a second engine opens a session with the neighbour, shows what is there, and
 * announces who comes; once the avatar is there, that engine is the one of the page.
 */
import { JoinedSight } from './joined.js';

/** Milliseconds between two questions how the borders stand. */
const ASK_MS = 1_000;
/** An announcement is made again after this, and sooner where it was refused: the neighbour may not have heard. */
const APPROACH_MS = 4_000;
const REFUSED_MS = 1_000;
/** So often the neighbour gives a reason before it is told: at first it has not heard that somebody is near. */
const REFUSED_TIMES = 3;
/** Why an announcement is held back before anything is signed: she has not agreed to the neighbour's house rules. */
export const HELD = 'HouseRules';
/** Who did not agree is asked again once she was away from the line for so long. */
const DECLINED_MS = 30_000;
/** From so many metres before the line on a heading is said in both sims. */
const BOTH_METRES = 2;

/** @typedef {{x: number, y: number}} Point */

/**
 * A border: the edge as a point of the compass, or the middle of the portal that leads there, the gap in metres, whether that is too far to go over yet, the shift to the neighbour's coordinates, and what is looked at over there in these. The person is told why she is not let over, and of each thing in her hands that stays, why.
 * @typedef {{neighbour: string, open: boolean, why: string | null, gap: number, far: boolean, edge: string, portal: Point | null, shift: Point, nodes: string[], line: Point[] | null, lookout: Point | null, refused: string | null, stays: {id: number, why: string}[], back: string | null}} Border
 */

/**
 * What the walk needs of an engine.
 * @typedef {Pick<import('./engine.js').Engine, 'me' | 'sight' | 'genesis' | 'sim' | 'borders' | 'approach' | 'start' | 'stop' | 'status' | 'port' | 'walk' | 'setPulse'>} Walker
 */

/** Is the own avatar of an engine under way to a neighbour? @param {Walker} engine */
const departed = ({ me, sight }) => me !== null && sight.objects.get(me)?.departed === true;
const OPPOSITE = /** @type {Record<string, string>} */ ({ east: 'west', west: 'east', north: 'south', south: 'north' });

export class BorderWalk {
  /**
   * @param {object} parts @param {Walker} parts.engine where the avatar is
   * @param {() => {name: string, look: any}} parts.person who walks
   * @param {{agreed: () => string[], agrees: (there: Walker) => Promise<unknown>}} parts.rules digests of the house rules that she agreed to, and what asks her to agree to others
   * @param {(border: Border) => Walker} parts.open makes the neighbour's
   * @param {(there: Walker, border: Border) => void} parts.arrived the avatar is there
   * @param {(why: string, there: Walker) => void} parts.refused the neighbour takes nobody over, by a code
   * @param {(border: Border | null, there: Walker | null, portals: Border[], left?: Border) => void} parts.near a border is near, or none is any more, these portals are in sight, and from that border one came home
   */
  constructor({ engine, ...parts }) {
    [this.engine, this.parts] = [engine, parts];
    this.ahead = /** @type {{border: Border, engine: Walker, sight: JoinedSight} | null} */ (null);
    /** When the borders were asked for, and when it is announced again. */
    [this.asked, this.due] = [-Infinity, -Infinity];
    this.said = { why: /** @type {string | null} */ (null), times: 0 };
    /** House rules that she did not agree to, and until when she is not asked about them. */
    this.declined = { rules: /** @type {string | null} */ (null), until: -Infinity };
    /** The heading, and whether the neighbour was told of it. */
    this.heading = { x: 0, y: 0, both: false };
  }

  /** Walks this way; near the line the neighbour is told as well. @param {number} x @param {number} y */
  walk(x, y) {
    this.heading = { x, y, both: false };
    this.#sayBoth(performance.now());
    return this.engine.walk(x, y);
  }

  /** Looks after the border that is nearest; called a few times a second. @param {number} now milliseconds */
  update(now) {
    const { engine, ahead } = this;
    if (!engine.genesis?.introduction?.world) return;
    this.frame(now);
    const at = engine.me === null ? null : engine.sight.at(engine.me, now);
    if (at && now - this.asked >= ASK_MS) {
      this.asked = now;
      engine.borders(at.x, at.y).then((list) => engine === this.engine && this.#look(list)).catch(() => {});
    }
    if (ahead && now >= this.due && ahead.engine.status.phase === 'open') this.#announce(ahead, now);
  }

  /** Goes over once the avatar is on the other side; called before each frame. @param {number} now milliseconds */
  frame(now) {
    const { engine, ahead } = this;
    this.#sayBoth(now);
    const there = ahead?.engine;
    if (!ahead || !there || there.me === null || !there.sight.objects.has(there.me) || (engine.me !== null && !departed(engine))) return;
    const { x, y } = ahead.border.shift;
    const shown = engine.me === null ? null : engine.sight.at(engine.me, now);
    // Behind a portal one stands where its other end is.
    if (shown && !ahead.border.portal) there.sight.predictor.continue({ ...shown, x: shown.x + x, y: shown.y + y }, now);
    there.port.tell('arrive', this.parts.person());
    engine.port.tell('let_go');
    const { border } = ahead;
    const moved = (/** @type {Point} */ at) => ({ x: at.x + x, y: at.y + y });
    const back = { ...border, neighbour: engine.sim ?? '', back: null, shift: { x: -x, y: -y }, edge: OPPOSITE[border.edge], line: border.line?.map(moved) ?? null, portal: border.portal && moved(border.portal) };
    this.engine = there;
    this.#lookOver(back, engine);
    [this.asked, this.due] = [-Infinity, now + REFUSED_MS];
    this.parts.arrived(there, border);
    this.parts.near(back, engine, back.portal ? [back] : []);
    this.walk(this.heading.x, this.heading.y);
  }

  /** @param {number} now */
  #sayBoth(now) {
    const { engine, ahead, heading } = this;
    const at = engine.me === null ? null : engine.sight.at(engine.me, now);
    if (heading.both || !ahead?.border.line || !at) return;
    const [from, to] = ahead.border.line;
    const gap = Math.hypot(Math.max(from.x - at.x, 0, at.x - to.x), Math.max(from.y - at.y, 0, at.y - to.y));
    if (gap > BOTH_METRES && !departed(engine)) return;
    heading.both = true;
    // It counts from the arrival on, and is refused before.
    ahead.engine.walk(heading.x, heading.y).catch(() => {});
  }

  /** @param {Border} border @param {Walker} engine of the neighbour */
  #lookOver(border, engine) {
    this.ahead = { border, engine, sight: new JoinedSight(this.engine, engine, border.shift, border) };
    [this.due, this.said] = [-Infinity, { why: null, times: 0 }];
    engine.port.tell('expect', { expected: true });
  }

  /** @param {Border[]} all nearest first */
  #look(all) {
    const near = all.filter(({ far }) => !far);
    const next = near.find(({ open, nodes }) => open && nodes.length > 0);
    const same = next?.neighbour === this.ahead?.border.neighbour;
    this.parts.near(next ?? near[0] ?? null, same ? this.ahead?.engine ?? null : null, all.filter(({ portal }) => portal), all.find(({ back }) => back));
    if (next && same && this.ahead) {
      this.ahead.border = next;
      if (next.lookout) this.ahead.engine.port.tell('look_at', next.lookout);
    }
    if (same || departed(this.engine)) return;
    this.ahead?.engine.stop();
    this.ahead = null;
    this.engine.port.tell('may_pass', { to: null });
    if (!next) return;
    const engine = this.parts.open(next);
    this.#lookOver(next, engine);
    engine.start();
  }

  /** Once, as what a new key has to show there may take seconds. @param {{border: Border, engine: Walker}} ahead @param {number} now */
  #announce({ border, engine: there }, now) {
    const { engine, said } = this;
    this.due = Infinity;
    there.approach(engine.sim ?? '', this.parts.rules.agreed()).catch(({ code }) => ({ ok: false, refusal: code })).then(({ ok, refusal }) => {
      if (engine !== this.engine || there !== this.ahead?.engine) return;
      engine.port.tell('may_pass', { to: ok ? border.neighbour : null });
      this.due = now + (ok ? APPROACH_MS : REFUSED_MS);
      if (ok) return void (said.why = null);
      if (refusal === HELD) this.#agree(there);
      [said.why, said.times] = [refusal, refusal === said.why ? said.times + 1 : 1];
      // Once is enough while the reason stays.
      if (said.times === REFUSED_TIMES) this.parts.refused(refusal ?? '', there);
    });
  }

  /** Asks whether she agrees to the house rules of the neighbour, unless she said no to them just now. @param {Walker} there */
  async #agree(there) {
    const rules = there.genesis?.introduction.houseRulesDigest;
    if (rules !== this.declined.rules || performance.now() >= this.declined.until) {
      this.due = Infinity;
      await this.parts.rules.agrees(there);
      [this.declined.rules, this.due] = [rules, -Infinity];
    }
    this.declined.until = performance.now() + DECLINED_MS;
  }
}
