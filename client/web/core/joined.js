/** Two sims in one picture: the own one, and behind a border what is in sight of the neighbour. */

/** What something is in every sim: a person's key, or where a thing was born. @param {Thing} thing @param {string | null} sim */
const identity = ({ player, birth, id }, sim) => player ?? (birth ? `${birth.sim}/${birth.number}` : `${sim}/${id}`);

/** A sight of both. Things of the neighbour have numbers below zero, and nobody here has them in reach. */
export class JoinedSight {
  /** @param {Side} own @param {Side} there @param {Spot} shift from own coordinates to the neighbour's @param {Border | null} border behind which the neighbour lies */
  constructor(own, there, shift, border = null) {
    [this.own, this.there, this.shift, this.border] = [own, there, shift, border];
    [this.all, this.views, this.joined] = [/** @type {Map<number, any>} */ (new Map()), '', /** @type {FloorPlan | null} */ (null)];
  }

  /** What is in sight, each once: who departed from one sim is drawn there until the other one shows it. */
  get objects() {
    const { own, there, all } = this;
    // What lies behind a portal lies nowhere near.
    if (this.border?.portal) return own.sight.objects;
    const views = `${own.sight.height}/${there.sight.height}`;
    if (views === this.views) return all;
    this.views = views;
    all.clear();
    const arrived = new Set([...there.sight.objects.values()].filter(({ departed }) => !departed).map((thing) => identity(thing, there.sim)));
    const shown = new Set();
    for (const [id, thing] of own.sight.objects) {
      const who = identity(thing, own.sim);
      if (thing.departed && id !== own.sight.me && arrived.has(who)) continue;
      shown.add(who);
      all.set(id, thing);
    }
    for (const [id, thing] of there.sight.objects) {
      if (shown.has(identity(thing, there.sim))) continue;
      all.set(-id, { ...thing, id: -id, held: thing.held && -thing.held, scripts: [], movable: false, seat: false, beyond: there.status.simName });
    }
    return all;
  }

  /** Where a thing is drawn, in own coordinates. @param {number} id @param {number} now @returns {Place | null} */
  at(id, now) {
    if (id > 0) return this.own.sight.at(id, now);
    const at = this.there.sight.at(-id, now);
    const place = at && { ...at, x: at.x - this.shift.x, y: at.y - this.shift.y };
    // A sim whose servers lie draws nothing in the middle of the own ground.
    return place && this.#past(place) > -8 ? place : null;
  }

  /** Metres behind the line. @param {Spot} place in own coordinates */
  #past({ x, y }) {
    const [from] = this.border?.line ?? [];
    return (from && { east: x - from.x, west: from.x - x, north: y - from.y, south: from.y - y }[this.border?.edge ?? '']) ?? 0;
  }

  /** The rooms of both. @returns {FloorPlan} */
  get plan() {
    const [own, there] = [this.own.genesis?.floorPlan, this.there.genesis?.floorPlan];
    if (!own || !there || this.border?.portal) return own ?? { sectors: [], openings: [] };
    const moved = (/** @type {Spot} */ { x, y }) => ({ x: x - this.shift.x, y: y - this.shift.y });
    this.joined ??= {
      sectors: [...own.sectors, ...there.sectors.map((/** @type {any} */ room) => ({ ...room, corners: room.corners.map(moved) }))],
      openings: [...own.openings, ...there.openings.map((/** @type {any} */ gap) => ({ from: moved(gap.from), to: moved(gap.to), joins: gap.joins.map((/** @type {number} */ n) => n + own.sectors.length) }))],
    };
    return this.joined;
  }
}
