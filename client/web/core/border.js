/** Walking over a border. Near one, a second engine opens a session with the neighbour, shows what is there, and announces who comes; once the avatar is there, that engine is the one of the page. At a corner there is one for each sim. */
import { JoinedSight } from './joined.js';

/** Milliseconds between two questions how the borders stand, until an announcement is made again, or again where it was refused, and until who did not agree to house rules is asked again once she was away from the line. */
const [ASK_MS, APPROACH_MS, REFUSED_MS, DECLINED_MS] = [1_000, 4_000, 1_000, 30_000];
/** So often it is made again at once: at first the neighbour has not heard that somebody is near. After that it gives a reason so often before that is told. */
const [AT_ONCE_TIMES, REFUSED_TIMES] = [5, 3];
/** Why an announcement is held back before anything is signed: she has not agreed to the neighbour's house rules. */
export const HELD = 'HouseRules';
/** From so many metres before the line on a heading is said in both sims, and the neighbour behind a line is looked after although another one is nearer. */
const [BOTH_METRES, CORNER_METRES] = [2, 8];

/** Is the own avatar of an engine under way to a neighbour? @param {Walker} engine */
const departed = ({ me, sight }) => me !== null && sight.objects.get(me)?.departed === true;
/** Metres from a place to the line of a border, or to its portal. @param {Spot} at @param {Border} border @param {Spot[]} [ends] */
const gapTo = (at, { line, portal }, [from, to] = line ?? [portal ?? at, portal ?? at]) =>
  Math.hypot(Math.max(from.x - at.x, 0, at.x - to.x), Math.max(from.y - at.y, 0, at.y - to.y));
const OPPOSITE = /** @type {Record<string, string>} */ ({ east: 'west', west: 'east', north: 'south', south: 'north' });

export class BorderWalk {
  /** @param {WalkParts} parts */
  constructor({ engine, ...parts }) {
    [this.engine, this.parts] = [engine, parts];
    /** By their sims, and the one in the picture. Around a corner she comes to each again, so none is left before she is away from it. */
    [this.all, this.ahead] = [/** @type {Map<string, Beside>} */ (new Map()), /** @type {Beside | null} */ (null)];
    /** When the borders were asked for, whether she is at a corner, where that is done all the time, and where she heads. */
    [this.asked, this.corner, this.heading] = [-Infinity, false, { x: 0, y: 0 }];
    /** House rules that she did not agree to, and until when she is not asked about them. */
    this.declined = /** @type {Map<string, number>} */ (new Map());
  }

  /** Walks this way; near the line the neighbour is told as well. @param {number} x @param {number} y */
  walk(x, y) {
    this.heading = { x, y };
    for (const beside of this.all.values()) beside.told = false;
    this.#sayBoth(performance.now());
    return this.engine.walk(x, y);
  }

  /** Looks after the borders that are near; called a few times a second. @param {number} now milliseconds */
  update(now) {
    const { engine } = this;
    if (!engine.genesis?.introduction?.world) return;
    this.frame(now);
    const at = engine.me === null ? null : engine.sight.at(engine.me, now);
    const asks = at !== null && (this.corner || now - this.asked >= ASK_MS);
    if (asks) engine.borders(at.x, at.y).then((list) => engine === this.engine && this.#look(list, now)).catch(() => {});
    if (asks) this.asked = now;
    for (const beside of this.all.values()) this.#announce(beside, now);
  }

  /** Goes over once the avatar is on the other side; called before each frame. @param {number} now milliseconds */
  frame(now) {
    const { engine } = this;
    this.#sayBoth(now);
    const next = [...this.all.values()].find(({ engine: there }) => there.me !== null && there.sight.objects.has(there.me) && !departed(there));
    if (!next || (engine.me !== null && !departed(engine))) return;
    const { border, engine: there } = next;
    const { x, y } = border.shift;
    const shown = engine.me === null ? null : engine.sight.at(engine.me, now);
    // Behind a portal one stands where its other end is.
    if (shown && !border.portal) there.sight.predictor.continue({ ...shown, x: shown.x + x, y: shown.y + y }, now);
    there.port.tell('arrive', this.parts.person());
    engine.port.tell('let_go');
    const moved = (/** @type {Spot} */ at) => ({ x: at.x + x, y: at.y + y });
    const back = { ...border, neighbour: engine.sim ?? '', back: null, shift: { x: -x, y: -y }, edge: OPPOSITE[border.edge], line: border.line?.map(moved) ?? null, portal: border.portal && moved(border.portal) };
    this.engine = there;
    this.all.delete(border.neighbour);
    for (const beside of this.all.values()) beside.near = false;
    [this.ahead, this.asked] = [this.#lookOver(back, engine, now + REFUSED_MS), -Infinity];
    this.parts.arrived(there, border);
    this.parts.near(back, engine, back.portal ? [back] : []);
    this.walk(this.heading.x, this.heading.y);
    this.update(now);
  }

  /** Shows the nearest neighbour, and tells those that are near where she heads. @param {number} now */
  #sayBoth(now) {
    const { engine, heading, ahead } = this;
    const at = engine.me === null ? null : engine.sight.at(engine.me, now);
    if (!at) return;
    const near = [...this.all.values()].filter((beside) => beside.near).map((beside) => ({ beside, gap: gapTo(at, beside.border) })).sort((a, b) => a.gap - b.gap);
    const first = near.at(0)?.beside ?? null;
    if (first !== ahead && !departed(engine)) this.#show(first);
    for (const { beside, gap } of near) {
      if (beside.told || !beside.border.line || (gap > BOTH_METRES && !departed(engine))) continue;
      beside.told = true;
      // It counts from the arrival on, and is refused before.
      beside.engine.walk(heading.x, heading.y).catch(() => {});
    }
  }

  /** Has this one in the picture. @param {Beside | null} beside */
  #show(beside) {
    this.ahead = beside;
    this.engine.port.tell('may_pass', { to: beside?.ok ? beside.border.neighbour : null });
  }

  /** @param {Border} border @param {Walker} engine of the neighbour @param {number} [due] when she is announced there @returns {Beside} */
  #lookOver(border, engine, due = -Infinity) {
    const beside = { border, engine, sight: new JoinedSight(this.engine, engine, border.shift, border), near: true, ok: false, due, atOnce: AT_ONCE_TIMES, said: { why: null, times: 0 }, told: false };
    this.all.set(border.neighbour, beside);
    engine.port.tell('expect', { expected: true });
    engine.start();
    return beside;
  }

  /** @param {Border[]} all nearest first @param {number} now */
  #look(all, now) {
    const near = all.filter(({ far }) => !far);
    this.corner = near.filter(({ gap, portal }) => !portal && gap < CORNER_METRES).length > 1;
    // Behind a corner nobody was near, so nothing is heard from there until she is announced.
    const wanted = near.filter(({ open, nodes }) => (open || this.corner) && nodes.length > 0).filter(({ gap, portal }, i) => i === 0 || (!portal && gap < CORNER_METRES));
    const next = wanted.find(({ open }) => open) ?? near.at(0) ?? null;
    this.parts.near(next, (next && this.all.get(next.neighbour)?.engine) ?? null, all.filter(({ portal }) => portal), all.find(({ back }) => back));
    for (const border of wanted) {
      const known = this.all.get(border.neighbour);
      if (known && border.lookout) known.engine.port.tell('look_at', border.lookout);
      if (known?.near) known.border = border;
      else if (!departed(this.engine)) this.#announce(this.#lookOver(border, known?.engine ?? this.parts.open(border)), now);
    }
    if (departed(this.engine)) return;
    for (const [sim, beside] of this.all) {
      beside.near = wanted.some(({ neighbour }) => neighbour === sim);
      if (beside.near || this.corner) continue;
      beside.engine.stop();
      this.all.delete(sim);
    }
    this.#sayBoth(now);
  }

  /** Once, as what a new key has to show there may take seconds. @param {Beside} beside @param {number} now */
  #announce(beside, now) {
    const { border: { neighbour }, engine: there, said } = beside;
    if (!beside.near || now < beside.due || there.status.phase !== 'open') return;
    beside.due = Infinity;
    there.approach(this.engine.sim ?? '', this.parts.rules.agreed()).catch(({ code }) => ({ ok: false, refusal: code })).then(({ ok, refusal }) => {
      if (beside !== this.all.get(neighbour)) return;
      if (!ok && refusal !== HELD && beside.atOnce-- > 0) return void (beside.due = now);
      [said.why, said.times, beside.ok] = [ok ? null : refusal, !ok && refusal === said.why ? said.times + 1 : 1, ok];
      beside.due = now + (ok ? APPROACH_MS : REFUSED_MS);
      if (beside === this.ahead) this.#show(beside);
      if (refusal === HELD && beside === this.ahead) this.#agree(beside);
      // Once is enough while the reason stays.
      if (!ok && said.times === REFUSED_TIMES && beside.border.open) this.parts.refused(refusal ?? '', there);
    });
  }

  /** Asks whether she agrees to the house rules of the neighbour, unless she said no to them just now. @param {Beside} beside */
  async #agree(beside) {
    const rules = beside.engine.genesis?.introduction.houseRulesDigest ?? '';
    if (performance.now() >= (this.declined.get(rules) ?? -Infinity)) {
      beside.due = Infinity;
      await this.parts.rules.agrees(beside.engine);
      beside.due = -Infinity;
    }
    this.declined.set(rules, performance.now() + DECLINED_MS);
  }
}
