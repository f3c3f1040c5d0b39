/** Builders' hands: placing new things, and dragging, turning, sizing, copying and choosing one's own. */

import { handles } from '../draw/marks.js';
import { t } from '../strings.js';
import { button, el, PagePart } from './dom.js';
import { gapTo } from './near.js';

const TURN = Math.PI / 12;

/** Metres to which things snap where no grid is chosen: what a pointer can tell apart. */
const FINE = 0.01;

/** Where a plan begins from who places it, in metres: the first where nobody stands. */
const STARTS = [[0, 1.5], [0, -1.5], [1.5, 0], [-1.5, 0], [0, 2.5], [0, -2.5], [2.5, 0], [-2.5, 0]];

/** Metres that an arrow moves what is chosen where no grid is. */
const STEP = 0.05;

/** A part where it is in the world, which says where it is from a thing. @template {Pose} T @param {Pose} thing @param {T} part */
export function around({ x, y, angle }, part) {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return { ...part, x: x + part.x * cos - part.y * sin, y: y + part.x * sin + part.y * cos, angle: angle + part.angle };
}

export class Tools extends PagePart {
  plan = /** @type {Plan | null} */ (null);
  /** Where the middle of the plan would be. */
  spot = { x: 0, y: 0 };
  grip = /** @type {Grip | null} */ (null);
  ended = () => {};
  /** What there is to do while something is placed; for thumbs, too. */
  bar = el('div', { class: 'placing', role: 'group', 'aria-label': t('panel.build'), hidden: true },
    el('span', null, t('build.placing')),
    button({ text: t('build.turn'), class: 'small', click: () => this.turn() }),
    button({ text: t('build.place'), class: 'small', click: () => this.enter() }),
    button({ text: t('build.done'), class: 'small', click: () => this.cancel() }));

  /** Whether the pointer belongs to a tool. */
  get busy() {
    return this.plan !== null || this.grip !== null;
  }

  /** The thing that may be changed now. @returns {any} its id, or null */
  get chosen() {
    return this.page.picture.handles ? this.page.picture.selected : null;
  }

  /** To the grid that is chosen. @param {number} n */
  snap(n) {
    const grid = this.page.settings.grid || FINE;
    return Math.round(n / grid) * grid;
  }

  /** Begins placing one part, or several around a middle. @param {any} spec without place, or a list of things @param {() => void} ended */
  begin(spec, ended) {
    const parts = Array.isArray(spec) ? spec : [{ x: 0, y: 0, angle: 0, ...spec }];
    this.plan = { parts, angle: 0 };
    this.ended = ended;
    const { client, picture } = this.page;
    const own = (client.me !== null && client.sight.at(client.me, performance.now())) || picture.look;
    STARTS.some(([x, y]) => this.point(own.x + x, own.y + y)) || this.point(own.x, own.y + 1.5);
    picture.hover = null;
    this.bar.hidden = false;
  }

  /** Puts the ghosts somewhere, and returns whether nobody stands there. @param {number} x @param {number} y */
  point(x, y) {
    this.spot = { x: this.snap(x), y: this.snap(y) };
    const outlines = this.planned().flatMap(({ parts = [], ...first }) => [first, ...parts.map((part) => around(first, part))]);
    this.page.picture.ghosts = outlines.map(({ x: px, y: py, angle, w, h, round }) => ({ x: px, y: py, angle, hx: w / 2, hy: (round ? w : h) / 2, round, ok: true }));
    return this.check();
  }

  /** The parts where they would be. */
  planned() {
    const { plan, spot } = this;
    return plan ? plan.parts.map((part) => around({ ...spot, angle: plan.angle }, part)) : [];
  }

  /** Nothing can stand where somebody stands: the ghosts say so beforehand, as people come and go. */
  check() {
    const { ghosts } = this.page.picture;
    if (ghosts.length === 0) return true;
    const { sight } = this.page.client;
    const now = performance.now();
    const people = [...sight.objects.values()].filter((thing) => thing.player).map((thing) => ({ thing, at: sight.at(thing.id, now) }));
    for (const ghost of ghosts) ghost.ok = !people.some(({ thing, at }) => at && gapTo(at, ghost, ghost) < thing.hx);
    return ghosts.every(({ ok }) => ok);
  }

  /** @param {number} px @param {number} py */
  hover(px, py) {
    if (!this.plan) return;
    const { x, y } = this.page.renderer.camera.ground(px, py);
    this.point(x, y);
  }

  /** Arrow keys move the ghosts, and with Shift what is chosen. @param {KeyboardEvent} event */
  arrows(event) {
    const way = { ArrowUp: [0, 1], ArrowDown: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[event.code];
    if (!way) return false;
    const { page, spot } = this;
    const [x, y] = way;
    const { grid } = page.settings;
    if (this.plan) {
      const step = Math.max(event.shiftKey ? 1 : 0.25, grid);
      this.point(spot.x + x * step, spot.y + y * step);
      return true;
    }
    // What is chosen together, or else alone.
    const ids = [...page.group.ids];
    if (ids.length === 0 && this.chosen !== null) ids.push(this.chosen);
    if (!event.shiftKey || ids.length === 0) return false;
    const step = grid || STEP;
    if (!event.repeat) page.group.move(x * step, y * step, ids);
    return true;
  }

  enter() {
    if (this.plan) this.place();
    return this.plan !== null;
  }

  turn() {
    const { page } = this;
    if (this.plan) {
      this.plan.angle += TURN;
      this.point(this.spot.x, this.spot.y);
      return true;
    }
    const id = this.chosen;
    if (id === null) return false;
    const at = page.client.sight.at(id, performance.now());
    if (at) page.toasts.watch('rotate', page.client.build.rotate(id, at.angle + TURN));
    return true;
  }

  remove() {
    const { page } = this;
    if (page.group.ids.size > 0) {
      page.group.remove();
      return true;
    }
    const id = this.chosen;
    if (id === null) return false;
    page.toasts.watch('remove', page.client.build.remove(id)).then((outcome) => outcome?.ok && page.select(null));
    return true;
  }

  /** Lets go of whatever there is: the plan, the grip, or else what is chosen together. */
  cancel() {
    if (!this.busy) return this.page.group.clear();
    this.plan = null;
    this.letGo();
    this.bar.hidden = true;
    this.ended();
    return true;
  }

  letGo() {
    this.grip = null;
    Object.assign(this.page.picture, { ghosts: [], held: null, box: null });
  }

  place() {
    const { client: { build }, group, toasts } = this.page;
    const planned = this.planned();
    if (planned.length === 1) toasts.watch('place', build.place(planned[0]));
    else if (planned.length > 1) group.each('place', planned, (part) => build.place(part));
  }

  /**
   * A pointer goes down.
   * @param {number} px @param {number} py @param {boolean} touch
   * @param {{shiftKey?: boolean, altKey?: boolean}} [keys] Shift chooses, Alt copies
   */
  grab(px, py, touch, { shiftKey = false, altKey = false } = {}) {
    const { page } = this;
    if (this.plan) return void this.hover(px, py);
    const { group } = page;
    const { x, y } = page.renderer.camera.ground(px, py);
    const id = page.renderer.pick(px, py, touch ? 14 : 3);
    const under = id === null ? null : page.client.sight.objects.get(id);
    const base = { id: id ?? 0, dx: 0, dy: 0, moved: false, at: { x, y } };
    if (id !== null && group.ids.has(id) && !shiftKey) this.grip = { ...base, how: altKey ? 'copy' : 'shift', ids: [...group.ids] };
    else if (shiftKey || group.picking) this.grip = { ...base, how: group.owns(under) ? 'pick' : 'box' };
    else if (altKey && id !== null && group.owns(under)) this.grip = { ...base, how: 'copy', ids: [id] };
    else this.hold(px, py, touch);
  }

  /** Takes hold of the selected thing, or of one of its handles. @param {number} px @param {number} py @param {boolean} touch */
  hold(px, py, touch) {
    const { page } = this;
    const id = this.chosen;
    const thing = page.client.sight.objects.get(id);
    const at = page.client.sight.at(id, performance.now());
    if (!thing || !at) return;
    const { camera } = page.renderer;
    const { x, y } = camera.ground(px, py);
    const spot = { ...at, hx: thing.hx, hy: thing.hy, round: thing.round };
    const near = (touch ? 22 : 12) / camera.zoom;
    const { turn, size } = handles(spot, camera.zoom);
    const close = (/** @type {Spot} */ to) => Math.hypot(x - to.x, y - to.y) < near;
    const over = page.renderer.pick(px, py) === id ? 'move' : null;
    const how = /** @type {Grip['how'] | null} */ (close(turn) ? 'turn' : close(size) ? 'size' : over);
    if (!how) return;
    this.grip = { how, id, dx: x - at.x, dy: y - at.y, moved: false };
    page.picture.held = { id, x: at.x, y: at.y, angle: at.angle, hx: thing.hx, hy: thing.hy };
  }

  /** @param {number} px @param {number} py */
  drag(px, py) {
    const { page, grip } = this;
    if (this.plan) return this.hover(px, py);
    if (!grip) return;
    const { x, y } = page.renderer.camera.ground(px, py);
    grip.moved = true;
    if (grip.at) this.dragSeveral(grip, grip.at, x, y);
    else if (page.picture.held) this.dragOne(grip, page.picture.held, x, y);
  }

  /** @param {Grip} grip @param {Spot} from @param {number} x @param {number} y */
  dragSeveral(grip, from, x, y) {
    const { page } = this;
    if (grip.how === 'box' || grip.how === 'pick') {
      page.picture.box = { x: (from.x + x) / 2, y: (from.y + y) / 2, hx: Math.abs(from.x - x) / 2, hy: Math.abs(from.y - y) / 2 };
      return;
    }
    const placed = page.group.placed(grip.ids);
    const lead = placed.find(({ id }) => id === grip.id);
    if (!lead) return;
    grip.to = { x: this.snap(lead.at.x + x - from.x) - lead.at.x, y: this.snap(lead.at.y + y - from.y) - lead.at.y };
    const { x: dx, y: dy } = grip.to;
    page.picture.ghosts = placed.map(({ thing, at }) => ({ x: at.x + dx, y: at.y + dy, angle: at.angle, hx: thing.hx, hy: thing.hy, round: thing.round, ok: true }));
    this.check();
  }

  /** @param {Grip} grip @param {any} held @param {number} x @param {number} y */
  dragOne(grip, held, x, y) {
    if (grip.how === 'move') {
      held.x = this.snap(x - grip.dx);
      held.y = this.snap(y - grip.dy);
    } else if (grip.how === 'turn') {
      held.angle = Math.round((Math.atan2(y - held.y, x - held.x) - Math.PI / 2) / (TURN / 3)) * (TURN / 3);
    } else {
      const [cos, sin] = [Math.cos(held.angle), Math.sin(held.angle)];
      const [dx, dy] = [x - held.x, y - held.y];
      const round = this.page.client.sight.objects.get(grip.id)?.round;
      const half = (/** @type {number} */ n) => Math.max(0.1, this.snap(2 * Math.abs(n)) / 2);
      held.hx = round ? half(Math.hypot(dx, dy)) : half(dx * cos + dy * sin);
      held.hy = round ? held.hx : half(dy * cos - dx * sin);
    }
  }

  /**
   * A pointer goes up, or is lost (`null`).
   * @param {{x: number, y: number, moved: boolean} | null} end
   * @returns {boolean} whether that was all it was for
   */
  drop(end) {
    const { page, grip } = this;
    if (this.plan) {
      if (end) {
        this.hover(end.x, end.y);
        this.place();
      }
      return end !== null;
    }
    if (grip?.at) return this.dropSeveral(grip, end);
    const { held } = page.picture;
    this.grip = null;
    if (!grip || !held || !end || !end.moved) {
      page.picture.held = null;
      return false;
    }
    const { build } = page.client;
    const act = grip.how === 'move' ? build.move(held.id, held.x, held.y)
      : grip.how === 'turn' ? build.rotate(held.id, held.angle) : build.resize(held.id, held.hx * 2, held.hy * 2);
    // It stays where the hand left it until the outcome is known.
    page.toasts.watch(grip.how === 'turn' ? 'rotate' : grip.how === 'size' ? 'resize' : 'move', act).then(() => {
      setTimeout(() => page.picture.held === held && (page.picture.held = null), 150);
    });
    return true;
  }

  /** @param {Grip} grip @param {{moved: boolean} | null} end */
  dropSeveral(grip, end) {
    const { group, picture } = this.page;
    const { box } = picture;
    this.letGo();
    if (!end) return false;
    if (!end.moved) {
      // A click without a key on one of several is for that one.
      if (grip.how === 'shift' || grip.how === 'copy') return false;
      if (grip.how === 'pick') group.toggle(grip.id);
    } else if (box) group.within(box);
    else if (grip.to && grip.how === 'copy') group.copy(grip.to.x, grip.to.y, grip.ids);
    else if (grip.to) group.move(grip.to.x, grip.to.y, grip.ids);
    return true;
  }
}
