/** The picture on a Canvas2D: `resize`, `draw`, `pick`. */

import { moved } from './brush.js';
import { Camera } from './camera.js';
import { drawFigure, Gait, stature, TALL } from './figures.js';
import { Ground } from './ground.js';
import { drawJoints } from './joints.js';
import { Labels } from './labels.js';
import { DAY, kept, lit, lotColor, surface } from './light.js';
import { drawBorder, drawHandles, drawLamps, drawOutline, drawOwnRing, drawPortal } from './marks.js';
import { Rooms } from './rooms.js';
import { Shadows } from './shadows.js';
import { corners, lift, scaled } from './solid.js';
import { kindOf, topOf } from './things.js';

/** Milliseconds after which a thing that does not move counts as resting. */
const REST_MS = 400;

/** Sides above this many metres are drawn anew each frame; the rest is copied from sprites. */
const SPRITE_METRES = 7;
const SPRITES_MAX = 1500;

/** How much of what lets everything pass is seen, if it is higher than this. */
const [SENSOR_ALPHA, FLAT_METRES] = [0.55, 0.1];

/** Half the length in metres from which a wall encloses a place. */
const WALL_METRES = 4;

/** Things of which more sticks out from their middle, in metres, are drawn also where their middle is hidden. */
const SMALL_METRES = 1.5;

/** Lamps at dusk, those of things first. */
const LAMPS_MAX = 14;

export class Renderer {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { alpha: false }));
    this.camera = new Camera();
    this.ground = new Ground();
    this.shadows = new Shadows();
    this.labels = new Labels();
    this.rooms = new Rooms();
    this.gaits = /** @type {Map<number, Gait>} */ (new Map());
    /** @type {Map<number, {x: number, y: number, angle: number, since: number, resting: boolean, hx: number, hy: number}>} */
    this.rests = new Map();
    /** @type {Map<string, {canvas: HTMLCanvasElement, ox: number, oy: number}>} */
    this.sprites = new Map();
    this.placed = /** @type {Placed[]} */ ([]);
    /** Lots in view. @type {Lot[]} */
    this.lots = [];
    this.paved = /** @type {Area | null} */ (null);
    /** What walls of the neighbour enclose. @type {Area | null} */
    this.pavedBeyond = null;
    /** Where the own coordinates begin among those that the ground is painted in: they stay over borders. */
    this.origin = { x: 0, y: 0 };
    this.spriteScale = 0;
    this.spritePalette = DAY;
  }

  /** @param {number} width @param {number} height CSS pixels @param {number} ratio device pixels per CSS pixel */
  resize(width, height, ratio) {
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.camera.resize(width, height, ratio);
    this.shadows.resize(this.canvas.width, this.canvas.height);
  }

  /**
   * Sees the same from the sim over the border, where all places have other coordinates and all things other numbers.
   * @param {Spot} shift what is added to coordinates @param {number | null} from the own avatar before @param {number | null} to and now
   */
  goOver({ x, y }, from, to) {
    this.camera.x += x;
    this.camera.y += y;
    this.origin = { x: this.origin.x - x, y: this.origin.y - y };
    const moved = (/** @type {Area | null} */ area) => area && { west: area.west + x, south: area.south + y, east: area.east + x, north: area.north + y };
    [this.paved, this.pavedBeyond] = [moved(this.pavedBeyond), moved(this.paved)];
    const gait = this.gaits.get(from ?? 0);
    this.forget(new Map());
    if (gait && to !== null) this.gaits.set(to, gait);
  }

  /** @param {Picture} picture @param {number} now ms, as requestAnimationFrame tells it */
  draw(picture, now) {
    const { ctx, camera } = this;
    const own = picture.me === null ? null : picture.sight.at(picture.me, now);
    const look = own ?? picture.look;
    camera.follow(look.x, look.y, now, picture.calm);
    if (camera.scale !== this.spriteScale || picture.palette !== this.spritePalette) {
      this.sprites.clear();
      [this.spriteScale, this.spritePalette] = [camera.scale, picture.palette];
    }
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.imageSmoothingEnabled = true;

    this.place(picture, now);
    this.lookAround(own);
    this.ground.pave([this.paved, this.pavedBeyond], this.origin);
    this.ground.draw(ctx, camera, picture.palette);
    this.rooms.drawFloors(ctx, camera);
    if (picture.border) drawBorder(ctx, camera, picture.border);
    for (const portal of picture.portals) drawPortal(ctx, camera, portal, picture.calm ? 0 : now);
    this.castShadows(picture, now);
    if (picture.palette.glow) drawLamps(ctx, camera, this.lamps(picture));
    this.drawMarks(picture, now, own);
    for (const placed of this.placed) {
      // What stands there and lets everything pass shows what is behind it; a carpet need not.
      this.ctx.globalAlpha = placed.thing.sensor && kindOf(placed.thing).tall > FLAT_METRES ? SENSOR_ALPHA : 1;
      this.drawPlaced(placed, picture, now);
    }
    this.ctx.globalAlpha = 1;
    drawJoints(ctx, camera, picture, now, (at) => this.rooms.shows(at));
    this.rooms.drawVeil(ctx, camera);
    this.drawLabels(picture, now);
  }

  /** Finds what is in view, in the order in which it is painted: from the north to the south. */
  place(/** @type {Picture} */ picture, /** @type {number} */ now) {
    const view = this.camera.view(2);
    this.lots = picture.lots.filter(({ x, y, hx, hy }) => x + hx > view.west && x - hx < view.east && y + hy > view.south && y - hy < view.north);
    this.placed = [];
    for (const [id, thing] of picture.sight.objects) {
      const held = picture.held?.id === id ? picture.held : null;
      const at = held ? { ...held, vx: 0, vy: 0 } : picture.sight.at(id, now);
      if (!at) continue;
      const shown = held ? { ...thing, hx: held.hx, hy: held.hy } : thing;
      if (thing.kind === 'wall' && thing.owner === null && Math.max(thing.hx, thing.hy) > WALL_METRES) this.enclose(thing, at);
      const reach = thing.round ? thing.hx : Math.hypot(thing.hx, thing.hy);
      if (at.x + reach < view.west || at.x - reach > view.east) continue;
      if (at.y + reach < view.south || at.y - reach > view.north) continue;
      this.placed.push({ id, thing: shown, at, x: this.camera.sx(at.x), y: this.camera.sy(at.y) });
    }
    this.placed.sort((a, b) => b.at.y - a.at.y || a.id - b.id);
  }

  /** Leaves out what no opening shows; walls are drawn, and the veil covers what is behind them. */
  lookAround(/** @type {Spot | null} */ eye) {
    if (this.rooms.plan.sectors.length === 0) return;
    this.rooms.look(eye, this.placed.filter(({ thing }) => thing.kind === 'door'));
    const small = (/** @type {any} */ thing) => Boolean(thing.player) || Math.max(thing.hx, thing.hy) < SMALL_METRES;
    this.placed = this.placed.filter(({ thing, at }) => !small(thing) || this.rooms.shows(at));
  }

  /**
   * Long walls of the sim's own enclose what is paved; also those that are out of sight by now.
   * @param {any} wall @param {Pose} at
   */
  enclose(wall, at) {
    const [w, h] = Math.abs(Math.sin(at.angle)) > 0.7 ? [wall.hy, wall.hx] : [wall.hx, wall.hy];
    const where = wall.beyond ? 'pavedBeyond' : 'paved';
    const { west, south, east, north } = this[where] ?? { west: at.x, south: at.y, east: at.x, north: at.y };
    this[where] = {
      west: Math.min(west, at.x - w), east: Math.max(east, at.x + w),
      south: Math.min(south, at.y - h), north: Math.max(north, at.y + h),
    };
  }

  /** What was taken away leaves nothing behind, also no shadow. @param {Map<number, unknown>} objects */
  forget(objects) {
    for (const id of this.rests.keys()) {
      if (objects.has(id)) continue;
      this.rests.delete(id);
      this.gaits.delete(id);
      this.shadows.wake(id);
    }
  }

  castShadows(/** @type {Picture} */ picture, /** @type {number} */ now) {
    const moving = /** @type {Caster[]} */ ([]);
    for (const { id, thing, at } of this.placed) {
      const tall = thing.player ? TALL * 0.85 : kindOf(thing).tall * 0.9;
      const caster = { x: at.x, y: at.y, angle: at.angle, hx: thing.hx, hy: thing.hy, corners: thing.corners, round: thing.round || Boolean(thing.player), tall };
      let rest = this.rests.get(id);
      const same = rest && rest.x === at.x && rest.y === at.y && rest.angle === at.angle && rest.size === `${thing.hx} ${thing.hy} ${thing.corners}`;
      if (!rest || !same) {
        if (rest?.resting) this.shadows.wake(id);
        // What never moves need not wait.
        const since = !rest && thing.motion === 'static' ? now - REST_MS : now;
        this.rests.set(id, (rest = { x: at.x, y: at.y, angle: at.angle, size: `${thing.hx} ${thing.hy} ${thing.corners}`, since, resting: false }));
      }
      if (!rest.resting && now - rest.since >= REST_MS) {
        rest.resting = true;
        this.shadows.rest(id, caster);
      }
      if (!rest.resting) moving.push(caster);
    }
    this.forget(picture.sight.objects);
    this.shadows.begin(this.camera, picture.palette);
    for (const caster of moving) this.shadows.cast(caster);
    this.shadows.end(this.ctx);
  }

  lamps(/** @type {Picture} */ picture) {
    const [first, others] = /** @type {Lamp[][]} */ ([[], []]);
    for (const { thing, at: { x, y }, id } of this.placed) {
      if (id === picture.me) first.push({ x, y, radius: 4, strength: 0.55 });
      else if (thing.player) others.push({ x, y, radius: 2.2, strength: 0.4 });
      else if (kindOf(thing).lamp) first.push({ x, y, radius: 4.5, strength: 0.6 });
    }
    return [...first, ...others].slice(0, LAMPS_MAX);
  }

  drawMarks(/** @type {Picture} */ picture, /** @type {number} */ now, /** @type {any} */ own) {
    const { ctx, camera } = this;
    for (const lot of this.lots) drawOutline(ctx, camera, lot, { color: lotColor(lot), width: 2, margin: 0 });
    if (own) drawOwnRing(ctx, camera, own.x, own.y, 0.52);
    if (picture.goal) drawOwnRing(ctx, camera, picture.goal.x, picture.goal.y, 0.16);
    const offset = picture.calm ? 0 : (now / 60) % 20;
    for (const { id, thing, at } of this.placed) {
      const spot = { ...at, hx: thing.hx, hy: thing.hy, round: thing.round };
      if (id === picture.selected) drawOutline(ctx, camera, spot, { color: '#ffffff', width: 2.5, margin: 0.09, dash: [7, 5], offset });
      else if (picture.group.has(id)) drawOutline(ctx, camera, spot, { color: '#58c4ff', width: 2.5, margin: 0.07 });
      else if ((id === picture.hover && id !== picture.me) || id === picture.near) drawOutline(ctx, camera, spot, { color: 'rgba(255,255,255,0.85)', width: 1.5, margin: 0.06 });
    }
    if (picture.box) drawOutline(ctx, camera, { ...picture.box, angle: 0, round: false }, { color: '#58c4ff', width: 1.5, margin: 0, dash: [6, 4], offset, fill: 'rgba(88,196,255,0.16)' });
    for (const ghost of picture.ghosts) {
      drawOutline(ctx, camera, ghost, {
        color: ghost.ok ? '#7ee2a8' : '#ff8a80', width: 2, margin: 0, dash: [6, 4], offset,
        fill: ghost.ok ? 'rgba(126,226,168,0.35)' : 'rgba(255,138,128,0.35)',
      });
    }
  }

  /** @param {Placed} placed @param {Picture} picture @param {number} now */
  drawPlaced({ id, thing, at, x, y }, picture, now) {
    const { ctx, camera } = this;
    const s = camera.scale;
    const { palette, calm } = picture;
    if (thing.player) {
      const gait = kept(this.gaits, id, () => new Gait());
      gait.step(at.vx, at.vy, now);
      return moved(ctx, x, y, () => drawFigure(ctx, { thing, gait, s, palette: lit(palette), now, calm }));
    }
    const kind = kindOf(thing);
    const big = Math.max(thing.hx, thing.hy) * 2 > SPRITE_METRES;
    const light = kind.lamp ? lit(palette) : palette;
    const sitting = { ctx, thing, s, angle: at.angle, palette: light, now, calm };
    if (big || kind.lively || camera.zooming || this.rests.get(id)?.resting === false) {
      // Long walls paint only the bricks that show.
      const cut = big ? { left: Math.max(0, -(x - thing.hx * s)), right: camera.width * camera.ratio - (x - thing.hx * s) } : null;
      return moved(ctx, x, y, () => kind.paint({ ...sitting, cut }));
    }
    const grain = kind.grain ? Math.abs(id) % 8 : 0;
    const key = `${thing.kind}|${thing.look.color}|${thing.round ? 1 : 0}|${thing.hx}|${thing.hy}|${thing.corners ?? ''}|${at.angle.toFixed(3)}|${thing.text === 'ringing' ? 1 : 0}|${grain}`;
    const sprite = kept(this.sprites, key, () => {
      const reach = Math.hypot(thing.hx, thing.hy) * s * (thing.kind === 'sign' ? 2.4 : 1.1) + (kind.wide ?? 0) * s + 4;
      const up = lift(kind.tall * 1.15, s);
      const made = surface(reach * 2, reach * 2 + up);
      made.ctx.translate(Math.round(reach), Math.round(reach + up));
      kind.paint({ ...sitting, ctx: made.ctx, thing: { ...thing, id: grain } });
      return { canvas: made.canvas, ox: Math.round(reach), oy: Math.round(reach + up) };
    }, SPRITES_MAX);
    ctx.drawImage(sprite.canvas, Math.round(x) - sprite.ox, Math.round(y) - sprite.oy);
  }

  drawLabels(/** @type {Picture} */ picture, /** @type {number} */ now) {
    const { ctx, camera, labels } = this;
    labels.begin(camera.ratio, picture.palette);
    const s = camera.scale;
    const gap = 5 * camera.ratio;
    for (const lot of this.lots) {
      if (!this.rooms.shows(lot)) continue;
      const label = labels.name(`${lot.name}: ${lot.holder}`, lot.own);
      ctx.drawImage(label.canvas, Math.round(camera.sx(lot.x) - label.w / 2), Math.round(camera.sy(lot.y + lot.hy)) + gap);
    }
    for (const { id, thing, x, y } of this.placed) {
      const tall = thing.player ? stature(thing.look) + 0.22 : topOf(thing);
      let top = y - lift(tall, s) - gap;
      const chosen = id === picture.selected && !picture.handles;
      const named = thing.player ? camera.zoom > 16 : id === picture.hover || id === picture.near || chosen;
      if (named) {
        const words = thing.player || !thing.text ? thing.name : `${thing.name}: ${thing.text}`;
        const label = labels.name(thing.beyond ? `${words} (${thing.beyond})` : words, id === picture.me);
        top -= label.h;
        ctx.drawImage(label.canvas, Math.round(x - label.w / 2), Math.round(top));
      }
      if (thing.gesture) {
        const mark = labels.mark(thing.gesture);
        const bounce = picture.calm ? 0 : Math.abs(Math.sin(now / 240)) * 6 * camera.ratio;
        top -= mark.h;
        ctx.drawImage(mark.canvas, Math.round(x - mark.w / 2), Math.round(top - bounce));
      }
      const bubble = picture.bubbles.get(id);
      if (bubble && bubble.until > now) {
        const label = labels.bubble(bubble.text, bubble.everywhere);
        const fade = Math.min(1, (now - bubble.from) / 140, (bubble.until - now) / 600);
        const rise = picture.calm ? 0 : (1 - Math.min(1, (now - bubble.from) / 180)) * 8 * camera.ratio;
        ctx.globalAlpha = Math.max(0, fade);
        ctx.drawImage(label.canvas, Math.round(x - label.w / 2), Math.round(top - label.h + rise));
        ctx.globalAlpha = 1;
      }
    }
    const chosen = picture.handles && this.placed.find((placed) => placed.id === picture.selected);
    if (chosen) drawHandles(ctx, camera, { ...chosen.at, hx: chosen.thing.hx, hy: chosen.thing.hy, round: chosen.thing.round });
  }

  /**
   * The thing under a point of the picture, the frontmost one.
   * @param {number} px @param {number} py CSS pixels
   * @param {number} [slack] CSS pixels by which a finger may miss @returns {number | null}
   */
  pick(px, py, slack = 3) {
    const { camera } = this;
    const s = camera.scale;
    const [x, y] = [px * camera.ratio, py * camera.ratio];
    for (let i = this.placed.length - 1; i >= 0; i--) {
      const { id, thing, at, x: cx, y: cy } = this.placed[i];
      const up = lift(thing.player ? stature(thing.look) : kindOf(thing).tall, s);
      for (const share of [0, 0.33, 0.66, 1]) if (within(x - cx, y - cy + up * share, thing, at.angle, s, slack * camera.ratio)) return id;
    }
    return null;
  }
}

/** @param {number} x @param {number} y @param {any} thing @param {number} angle @param {number} s @param {number} slack */
function within(x, y, thing, angle, s, slack) {
  if (thing.round || thing.player) return Math.hypot(x, y) <= thing.hx * s + slack;
  return (thing.corners ?? [null]).some((/** @type {[number, number][] | null} */ part) => {
    const points = corners(thing.hx * s + slack, thing.hy * s + slack, angle, scaled(part, s));
    return points.every(([px, py], i) => {
      const [qx, qy] = points[(i + 1) % points.length];
      // The slack of a box is in its corners already.
      const most = part ? slack * Math.hypot(qx - px, qy - py) : 0;
      return (qx - px) * (y - py) - (qy - py) * (x - px) >= -most;
    });
  });
}
