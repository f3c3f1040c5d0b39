/** Hands and feet: keys, stick, pointer, wheel and pinch become walking, acting, choosing, zooming. */

import GESTURES from '../draw/gestures.json' with { type: 'json' };
import { t } from '../strings.js';
import { el, PagePart } from './dom.js';
import { gapTo } from './near.js';

const STEPS = {
  KeyW: [0, 1], ArrowUp: [0, 1], KeyS: [0, -1], ArrowDown: [0, -1],
  KeyA: [-1, 0], ArrowLeft: [-1, 0], KeyD: [1, 0], ArrowRight: [1, 0],
};

/** What keys do; `false` says that there was nothing to do. @type {Record<string, (page: Page) => unknown>} */
const KEYS = {
  KeyT: (page) => page.chat.open(),
  KeyE: (page) => page.act(),
  KeyF: (page) => page.pushNearest(),
  KeyG: (page) => page.actions.toggleEmotes(),
  KeyB: (page) => page.dock.toggle('build'),
  KeyN: (page) => page.dock.toggle('near'),
  KeyR: (page) => page.tools.turn(),
  Delete: (page) => page.tools.remove(),
  Equal: (page) => page.renderer.camera.by(1.25),
  NumpadAdd: (page) => page.renderer.camera.by(1.25),
  Minus: (page) => page.renderer.camera.by(0.8),
  NumpadSubtract: (page) => page.renderer.camera.by(0.8),
  Enter: (page) => page.tools.enter() || page.chat.open(),
  Escape: (page) => void (page.tools.cancel() || page.dock.open === null || page.dock.close()),
};
Object.keys(GESTURES).forEach((kind, i) => (KEYS[`Digit${i + 1}`] = (page) => void page.emote(kind)));

/** CSS pixels that a pointer may move and still click. */
const CLICK_SLACK = 6;

/** Milliseconds without progress after which a walk to somewhere is given up. */
const STUCK_MS = 1200;

/** So close to a place on the ground one is there; who stops slides a little. */
const NEAR_METRES = 0.3;

export class Input extends PagePart {
  held = /** @type {Set<string>} */ (new Set());
  stick = { x: 0, y: 0 };
  sent = { x: 0, y: 0 };
  /** What to walk to: a thing, or a place on the ground. */
  goal = /** @type {{id: number | null, at?: {x: number, y: number}, best: number, since: number} | null} */ (null);
  pointers = /** @type {Map<number, {x: number, y: number, fromX: number, fromY: number}>} */ (new Map());
  spread = 0;

  /** @param {Page} page */
  constructor(page) {
    super(page);
    const canvas = /** @type {HTMLCanvasElement} */ (page.canvas);
    window.addEventListener('keydown', (event) => this.down(event));
    window.addEventListener('keyup', (event) => this.up(event));
    window.addEventListener('blur', () => this.rest());
    canvas.addEventListener('pointerdown', (event) => this.press(event));
    canvas.addEventListener('pointermove', (event) => this.drag(event));
    canvas.addEventListener('pointerup', (event) => this.release(event));
    canvas.addEventListener('pointercancel', (event) => this.release(event));
    canvas.addEventListener('pointerleave', () => (page.picture.hover = null));
    canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      page.renderer.camera.by(Math.exp(-event.deltaY * 0.0016));
    }, { passive: false });
    setInterval(() => this.steer(), 50);
  }

  /** Lets go of everything. */
  rest() {
    this.held.clear();
    this.stick = { x: 0, y: 0 };
    this.goal = null;
    this.steer();
  }

  /** @param {KeyboardEvent} event */
  down(event) {
    const { page } = this;
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.closest('input, textarea, select, dialog')) return;
    if ((event.ctrlKey || event.metaKey) && event.code === 'KeyZ' && !event.shiftKey) {
      event.preventDefault();
      page.undo();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const inPanel = target.closest('.panel, .dock-bar, .chat-log') !== null;
    if (event.code in STEPS) {
      // Arrows scroll a panel that has the focus; letters walk all the same.
      if (inPanel && event.code.startsWith('Arrow')) return;
      event.preventDefault();
      if (page.tools.arrows(event)) return;
      this.held.add(event.code);
      this.goal = null;
      this.steer();
      return;
    }
    if (event.repeat) return;
    if (event.code === 'Enter' && target.closest('button, a, [role="switch"]') !== null) return;
    const act = KEYS[event.code];
    if (act && act(page) !== false) event.preventDefault();
  }

  /** @param {KeyboardEvent} event */
  up(event) {
    if (this.held.delete(event.code)) this.steer();
  }

  /** Walks to a thing or to a place, until it is in reach or nothing gets closer. @param {number | null} id @param {Spot} [at] */
  walkTo = (id, at) => void (this.goal = { id, at, best: Infinity, since: performance.now() });
  walkToPlace = (/** @type {Spot} */ at) => this.walkTo(null, at);

  /** The direction that keys, stick or a goal ask for. */
  wanted() {
    let [x, y] = [this.stick.x, this.stick.y];
    for (const code of this.held) {
      const step = STEPS[/** @type {keyof typeof STEPS} */ (code)];
      x += step[0];
      y += step[1];
    }
    const length = Math.hypot(x, y);
    if (length > 0.15) return length > 1 ? { x: x / length, y: y / length } : { x, y };
    return this.towards() ?? { x: 0, y: 0 };
  }

  towards() {
    const { goal, page } = this;
    const { client } = page;
    if (!goal || client.me === null) return null;
    const now = performance.now();
    const thing = goal.id === null ? null : client.sight.objects.get(goal.id);
    const [own, at] = [client.sight.at(client.me, now), goal.at ?? (goal.id === null ? null : client.sight.at(goal.id, now))];
    const far = own && at ? Math.hypot(at.x - own.x, at.y - own.y) : 0;
    const gap = thing && own && at ? gapTo(own, thing, at) : far;
    const near = thing ? 1.2 : NEAR_METRES;
    if (gap < goal.best - 0.05) Object.assign(goal, { best: gap, since: now });
    // It is gone, or in reach, or nothing gets closer.
    if (!own || !at || (goal.id !== null && !thing) || gap < near || now - goal.since > STUCK_MS) {
      this.goal = null;
      return null;
    }
    return { x: (at.x - own.x) / far, y: (at.y - own.y) / far };
  }

  /** Tells the client when the direction changes. */
  steer() {
    const { page } = this;
    if (page.client.me === null) return;
    const { x, y } = this.wanted();
    page.picture.goal = this.goal?.at ?? null;
    const turned = Math.abs(x - this.sent.x) + Math.abs(y - this.sent.y);
    const stops = x === 0 && y === 0 && (this.sent.x !== 0 || this.sent.y !== 0);
    if (turned < 0.04 && !stops) return;
    this.sent = { x, y };
    page.walk(x, y);
  }

  /** @param {PointerEvent} event */
  press(event) {
    const { page } = this;
    page.canvas.focus({ preventScroll: true });
    if (event.pointerType === 'mouse' && event.button !== 0) return;
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY, fromX: event.offsetX, fromY: event.offsetY });
    try {
      page.canvas.setPointerCapture(event.pointerId);
    } catch {
      // The pointer is gone already; there is nothing to hold.
    }
    if (this.pointers.size === 2) {
      page.tools.drop(null);
      this.spread = this.apart();
    } else if (this.pointers.size === 1) {
      page.tools.grab(event.offsetX, event.offsetY, event.pointerType === 'touch', event);
    }
  }

  apart() {
    const [a, b] = [...this.pointers.values()];
    return Math.hypot(a.x - b.x, a.y - b.y);
  }

  /** @param {PointerEvent} event */
  drag(event) {
    const { page } = this;
    const pointer = this.pointers.get(event.pointerId);
    if (!pointer) {
      page.tools.hover(event.offsetX, event.offsetY);
      if (!page.tools.busy) page.picture.hover = page.renderer.pick(event.offsetX, event.offsetY);
      page.canvas.dataset.over = page.picture.hover !== null && page.picture.hover !== page.client.me ? 'thing' : '';
      return;
    }
    Object.assign(pointer, { x: event.offsetX, y: event.offsetY });
    if (this.pointers.size === 2) {
      const spread = this.apart();
      if (this.spread > 0) page.renderer.camera.by(spread / this.spread);
      this.spread = spread;
    } else if (this.pointers.size === 1) page.tools.drag(event.offsetX, event.offsetY);
  }

  /** @param {PointerEvent} event */
  release(event) {
    const { page } = this;
    const pointer = this.pointers.get(event.pointerId);
    this.pointers.delete(event.pointerId);
    if (!pointer || event.type === 'pointercancel') return void page.tools.drop(null);
    const moved = Math.hypot(pointer.x - pointer.fromX, pointer.y - pointer.fromY) > CLICK_SLACK;
    if (page.tools.drop({ x: pointer.x, y: pointer.y, moved })) return;
    if (moved || this.pointers.size > 0) return;
    const touch = event.pointerType === 'touch';
    const id = page.renderer.pick(pointer.x, pointer.y, touch ? 14 : 3);
    if (page.group.clear() || (id !== null && id !== page.client.me)) page.select(id === page.client.me ? null : id);
    else if (page.picture.selected !== null) page.select(null);
    else if (id === null) this.walkToPlace(page.renderer.camera.ground(pointer.x, pointer.y));
  }
}

/** A stick for thumbs. @param {Input} input */
export function stick(input) {
  const knob = el('div', { class: 'stick-knob' });
  const base = el('div', { class: 'stick', role: 'application', 'aria-label': t('act.stick') }, knob);
  const move = (/** @type {PointerEvent} */ event) => {
    const box = base.getBoundingClientRect();
    const reach = box.width / 2;
    let x = (event.clientX - box.left - reach) / (reach * 0.8);
    let y = (event.clientY - box.top - reach) / (reach * 0.8);
    const length = Math.hypot(x, y);
    if (length > 1) [x, y] = [x / length, y / length];
    knob.style.transform = `translate(${x * reach * 0.55}px, ${y * reach * 0.55}px)`;
    input.goal = null;
    input.stick = { x, y: -y };
    input.steer();
  };
  const end = () => {
    knob.style.transform = '';
    base.classList.remove('held');
    input.stick = { x: 0, y: 0 };
    input.steer();
  };
  base.addEventListener('pointerdown', (/** @type {PointerEvent} */ event) => {
    event.preventDefault();
    base.setPointerCapture(event.pointerId);
    base.classList.add('held');
    move(event);
  });
  base.addEventListener('pointermove', (/** @type {PointerEvent} */ event) => base.hasPointerCapture(event.pointerId) && move(event));
  base.addEventListener('lostpointercapture', end);
  return base;
}
