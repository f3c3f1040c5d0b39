// @ts-check
/** Builders' hands: placing new things, and dragging, turning and sizing one's own. */

import { handles } from '../draw/marks.js';
import { t } from '../strings.js';
import { button, el } from './dom.js';
import { gapTo } from './near.js';

/** Metres to which placed things snap while Shift is not asked: a tenth. */
const SNAP = 0.1;
const TURN = Math.PI / 12;

const snap = (/** @type {number} */ n) => Math.round(n / SNAP) * SNAP;

export class Tools {
  /** @param {import('../main.js').Page} page */
  constructor(page) {
    this.page = page;
    this.spec = /** @type {any} */ (null);
    this.grip = /** @type {{how: 'move' | 'turn' | 'size', id: number, dx: number, dy: number, moved: boolean} | null} */ (null);
    this.ended = () => {};
    /** What there is to do while something is placed; for thumbs, too. */
    this.bar = el('div', { class: 'placing', role: 'group', 'aria-label': t('panel.build'), hidden: true },
      el('span', null, t('build.placing')),
      button({ text: t('build.turn'), class: 'small', click: () => this.turn() }),
      button({ text: t('build.place'), class: 'small', click: () => this.enter() }),
      button({ text: t('build.done'), class: 'small', click: () => this.cancel() }));
  }

  /** Whether the pointer belongs to a tool. */
  get busy() {
    return this.spec !== null || this.grip !== null;
  }

  /** The thing that may be changed now. @returns {any} its id, or null */
  get chosen() {
    return this.page.picture.handles ? this.page.picture.selected : null;
  }

  /** Begins placing. @param {any} spec without place @param {() => void} ended */
  begin(spec, ended) {
    this.spec = { angle: 0, ...spec };
    this.ended = ended;
    const own = this.own();
    this.point(own.x, own.y + 1.5);
    this.page.picture.hover = null;
    this.bar.hidden = false;
  }

  own() {
    const { client, picture } = this.page;
    return (client.me !== null && client.sight.at(client.me, performance.now())) || picture.look;
  }

  /** Puts the ghost somewhere. @param {number} x @param {number} y */
  point(x, y) {
    const { spec, page } = this;
    page.picture.ghost = { x: snap(x), y: snap(y), angle: spec.angle, hx: spec.w / 2, hy: spec.h / 2, round: spec.round, ok: true };
    this.check();
  }

  /** Nothing can stand where somebody stands: the ghost says so beforehand, as people come and go. */
  check() {
    const { ghost } = this.page.picture;
    if (!ghost) return;
    const { sight } = this.page.client;
    const now = performance.now();
    ghost.ok = ![...sight.objects.values()].some((thing) => {
      const at = thing.player && sight.at(thing.id, now);
      return at && gapTo(at, ghost, ghost) < thing.hx;
    });
  }

  /** @param {number} px @param {number} py */
  hover(px, py) {
    if (!this.spec) return;
    const { x, y } = this.page.renderer.camera.ground(px, py);
    this.point(x, y);
  }

  /** Arrow keys move the ghost. @param {KeyboardEvent} event */
  arrows(event) {
    const { ghost } = this.page.picture;
    if (!this.spec || !ghost || !event.code.startsWith('Arrow')) return false;
    const step = event.shiftKey ? 1 : 0.25;
    const move = { ArrowUp: [0, step], ArrowDown: [0, -step], ArrowLeft: [-step, 0], ArrowRight: [step, 0] }[event.code] ?? [0, 0];
    this.point(ghost.x + move[0], ghost.y + move[1]);
    return true;
  }

  enter() {
    if (!this.spec) return false;
    this.place();
    return true;
  }

  turn() {
    const { page } = this;
    if (this.spec && page.picture.ghost) {
      this.spec.angle += TURN;
      page.picture.ghost.angle = this.spec.angle;
      this.check();
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
    const id = this.chosen;
    if (id === null) return false;
    page.toasts.watch('remove', page.client.build.remove(id)).then((outcome) => outcome?.ok && page.select(null));
    return true;
  }

  cancel() {
    if (!this.busy) return false;
    this.spec = null;
    this.grip = null;
    this.page.picture.ghost = null;
    this.page.picture.held = null;
    this.bar.hidden = true;
    this.ended();
    return true;
  }

  place() {
    const { page, spec } = this;
    const { ghost } = page.picture;
    if (!ghost) return;
    page.toasts.watch('place', page.client.build.place({ ...spec, x: ghost.x, y: ghost.y, angle: spec.angle }));
  }

  /** A pointer goes down. @param {number} px @param {number} py @param {boolean} touch */
  grab(px, py, touch) {
    const { page } = this;
    if (this.spec) return this.hover(px, py);
    const id = this.chosen;
    const thing = page.client.sight.objects.get(id);
    const at = page.client.sight.at(id, performance.now());
    if (!thing || !at) return;
    const { camera } = page.renderer;
    const { x, y } = camera.ground(px, py);
    const spot = { ...at, hx: thing.hx, hy: thing.hy, round: thing.round };
    const near = (touch ? 22 : 12) / camera.zoom;
    const { turn, size } = handles(spot, camera.zoom);
    /** @type {'move' | 'turn' | 'size' | null} */
    let how = null;
    if (Math.hypot(x - turn.x, y - turn.y) < near) how = 'turn';
    else if (Math.hypot(x - size.x, y - size.y) < near) how = 'size';
    else if (page.renderer.pick(px, py) === id) how = 'move';
    if (!how) return;
    this.grip = { how, id, dx: x - at.x, dy: y - at.y, moved: false };
    page.picture.held = { id, x: at.x, y: at.y, angle: at.angle, hx: thing.hx, hy: thing.hy };
  }

  /** @param {number} px @param {number} py */
  drag(px, py) {
    const { page, grip } = this;
    if (this.spec) return this.hover(px, py);
    const { held } = page.picture;
    if (!grip || !held) return;
    const { x, y } = page.renderer.camera.ground(px, py);
    grip.moved = true;
    if (grip.how === 'move') {
      held.x = snap(x - grip.dx);
      held.y = snap(y - grip.dy);
    } else if (grip.how === 'turn') {
      held.angle = Math.round((Math.atan2(y - held.y, x - held.x) - Math.PI / 2) / (TURN / 3)) * (TURN / 3);
    } else {
      const [cos, sin] = [Math.cos(held.angle), Math.sin(held.angle)];
      const [dx, dy] = [x - held.x, y - held.y];
      const round = page.client.sight.objects.get(grip.id)?.round;
      const half = (/** @type {number} */ n) => Math.max(0.1, snap(Math.abs(n)));
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
    if (this.spec) {
      if (end) {
        this.hover(end.x, end.y);
        this.place();
      }
      return end !== null;
    }
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
}
