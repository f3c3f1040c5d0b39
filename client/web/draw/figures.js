/** Avatars: soft bodies with eyes that look where they walk, feet that step, arms that wave, and what they wear. */

import WARDROBE from './wardrobe.json' with { type: 'json' };
import { along, arc, disc, fade, moved, oval, patch, slab } from './brush.js';
import { kept, surface, tone } from './light.js';
import { lift } from './solid.js';

/** What the picture remembers of a figure between frames. */
export class Gait {
  face = -Math.PI / 2;
  phase = 0;
  stride = 0;
  last = 0;
  seed = Math.random() * 9000;

  /** @param {number} vx @param {number} vy @param {number} now ms */
  step(vx, vy, now) {
    const dt = this.last ? Math.min(0.1, (now - this.last) / 1000) : 0;
    this.last = now;
    const speed = Math.hypot(vx, vy);
    if (speed > 0.3) {
      let turn = Math.atan2(vy, vx) - this.face;
      turn -= Math.round(turn / (Math.PI * 2)) * Math.PI * 2;
      this.face += turn * (1 - Math.exp(-dt * 14));
    }
    const goal = Math.min(1, speed / 2.5);
    this.stride += (goal - this.stride) * (1 - Math.exp(-dt * 12));
    this.phase += dt * (4 + speed * 2.2);
  }
}

/** Height in metres of the body's top; below a head it is lower. */
export const TALL = 1.02;
const TALL_BELOW_HEAD = 0.72;

/** Height in metres of all that somebody wears. @param {Look} look */
export const stature = ({ head, hat }) => TALL + (head ? 0.36 : 0) + (hat ? 0.34 : 0);

/** What was painted before. @type {Map<string, {canvas: HTMLCanvasElement, ox: number, oy: number}>} */
const sprites = new Map();
const SPRITES_MAX = 1200;

/**
 * Draws what is worn at a place: its strokes are ovals and polygons in units of `size`, y down. Those of the face
 * lie aside by `turn` units, and whoever walks away shows none.
 * @param {CanvasRenderingContext2D} ctx @param {'head' | 'hands' | 'hat'} part @param {Wearable} worn
 * @param {{x: number, y: number, size: number, palette: Palette, turn?: number | null, side?: number}} at
 */
function wear(ctx, part, { shape, color }, { x, y, size, palette, turn = 0, side = 1 }) {
  const aside = turn === null ? null : Math.round(turn * 12) / 12;
  const key = `${part}|${shape}|${color}|${size.toFixed(1)}|${palette.name}|${aside}|${side}`;
  const found = kept(sprites, key, () => {
    const reach = size * 2.4 + 2;
    const { canvas, ctx: paper } = surface(reach * 2, reach * 2);
    paper.translate(reach, reach);
    paper.scale(side * size, size);
    for (const [kind, shade, ...at] of /** @type {Record<string, any>} */ (WARDROBE[part])[shape] ?? []) {
      const ofFace = kind === 'O' || kind === 'P';
      if (ofFace && aside === null) continue;
      const shift = ofFace ? aside ?? 0 : 0;
      const paint = typeof shade === 'string' ? shade : tone(color, shade, palette);
      if (kind === 'o' || kind === 'O') oval(paper, paint, at[0] + shift, at[1], at[2], at[3]);
      else patch(paper, paint, Array.from({ length: at.length / 2 }, (_, i) => [at[2 * i] + shift, at[2 * i + 1]]));
    }
    return { canvas, ox: reach, oy: reach };
  }, SPRITES_MAX);
  ctx.drawImage(found.canvas, x - found.ox, y - found.oy);
}

/** Makes the outline of a body the path, y down, by which way and how far its corners are. @param {CanvasRenderingContext2D} ctx @param {string} shape @param {number} face @param {number} r */
function outline(ctx, shape, face, r) {
  const points = /** @type {Record<string, number[][]>} */ (WARDROBE.body)[shape] ?? [];
  ctx.beginPath();
  along(ctx, points.map(([turn, far]) => [Math.cos(turn - face) * r * far, Math.sin(turn - face) * r * far]));
  if (points.length > 0) ctx.closePath();
  else ctx.arc(0, 0, r, 0, 7);
}

/** How wide a body is at a share of its height: narrow feet, a belly, a soft crown. @param {number} t */
function girth(t) {
  const low = Math.min(1, 0.72 + t * 0.9);
  const crown = t < 0.5 ? 1 : Math.sqrt(Math.max(0, 1 - ((t - 0.5) / 0.56) ** 2));
  return low * crown;
}

/**
 * The body without face and limbs, painted once per look and direction.
 * @param {Look} look @param {number} face @param {number} r pixels
 * @param {number} s pixels a metre @param {Palette} palette
 */
function body({ shape, color, head }, face, r, s, palette) {
  const steps = shape === 'round' ? 1 : 48;
  const bucket = ((Math.round((face / (Math.PI * 2)) * steps) % steps) + steps) % steps;
  const tall = head ? TALL_BELOW_HEAD : TALL;
  const key = `${shape}|${color}|${bucket}|${r.toFixed(1)}|${palette.name}|${tall}`;
  return kept(sprites, key, () => {
    const turned = (bucket / steps) * Math.PI * 2;
    const bottom = lift(0.1, s);
    const up = lift(tall, s) - bottom;
    const reach = r * 1.3 + 2;
    const { canvas, ctx } = surface(reach * 2, reach * 2 + up + bottom);
    ctx.translate(reach, reach + up);
    ctx.lineJoin = 'round';
    const soft = shape === 'round' ? 0 : r * 0.4;
    const layers = Math.max(8, Math.ceil(up / 1.4));
    for (let i = 0; i <= layers; i++) {
      const t = i / layers;
      const wide = girth(t);
      const light = 0.6 + 0.46 * t ** 0.8;
      const [near, far] = [tone(color, light * 1.12, palette), tone(color, light * 0.82, palette)];
      const paint = fade(ctx.createLinearGradient(-r, 0, r, 0), [0, near], [1, far]);
      [ctx.fillStyle, ctx.strokeStyle, ctx.lineWidth] = [paint, paint, soft * wide || 1];
      moved(ctx, 0, -t * up, () => {
        outline(ctx, shape, turned, Math.max(0.5, (r - soft / 2) * wide));
        ctx.fill();
        if (soft) ctx.stroke();
      });
    }
    const gloss = ctx.createRadialGradient(-r * 0.3, -up * 0.98, 0, -r * 0.3, -up * 0.98, r * 0.6);
    ctx.globalCompositeOperation = 'source-atop';
    fade(gloss, [0, `rgba(255,255,255,${palette.glow ? 0.22 : 0.45})`], [1, 'rgba(255,255,255,0)']);
    slab(ctx, gloss, -reach, -up - reach, reach * 2, reach * 2 + up);
    return { canvas, ox: reach, oy: reach + up + bottom };
  }, SPRITES_MAX);
}

/**
 * Draws a figure; the context stands at its place on the ground.
 * @param {CanvasRenderingContext2D} ctx
 * @param {{thing: any, gait: Gait, s: number, palette: Palette, now: number, calm: boolean}} sitting
 */
export function drawFigure(ctx, { thing, gait, s, palette, now, calm }) {
  const r = Math.max(thing.hx, 0.3) * s * 1.08;
  const { color, head, hat } = thing.look;
  const swing = Math.sin(gait.phase);
  const pose = { ...STILL, ...(calm ? null : POSES[thing.gesture]?.(now, s)) };
  const face = gait.face + pose.turn;
  const bob = calm ? 0 : Math.abs(Math.cos(gait.phase)) * gait.stride * 0.07 * s;
  const [fx, fy] = [Math.cos(face), -Math.sin(face)];

  for (const side of [-1, 1]) {
    const ahead = calm ? 0 : swing * side * gait.stride * r * 0.42;
    const raise = calm ? 0 : Math.max(0, Math.cos(gait.phase) * side) * gait.stride * 0.06 * s;
    const x = fx * ahead - fy * side * r * 0.4;
    const y = fy * ahead + fx * side * r * 0.4 - raise - pose.hop;
    oval(ctx, tone(color, 0.42, palette), x, y - 0.03 * s, r * 0.3, r * 0.24);
  }

  ctx.save();
  ctx.translate(pose.shake, -bob - pose.hop);
  ctx.scale(1 + pose.squash, 1 - pose.squash);
  const back = -fy > 0.35;
  if (back) arms(ctx, thing, r, s, face, pose, swing * gait.stride, palette);
  const torso = body(thing.look, face, r, s, palette);
  ctx.drawImage(torso.canvas, -torso.ox, -torso.oy);
  // A head nods and bows on its own, and the hat with it.
  const size = head ? r * 0.8 : r * 0.76;
  const at = { x: fx * r * 0.14, y: -lift(head ? 1 : TALL + 0.06, s) + pose.dip * r - (head ? r * 0.1 : 0) };
  const turn = fy < -0.72 ? null : fx * 0.3;
  if (head) wear(ctx, 'head', head, { ...at, size, palette, turn });
  const open = calm || (now + gait.seed) % 3700 >= 120 ? 1 : 0.12;
  eyes(ctx, head ? { x: at.x, y: at.y, r: size } : { x: 0, y: -lift(0.7, s), r }, face, open, pose);
  if (hat) wear(ctx, 'hat', hat, { x: at.x, y: at.y - (head ? size * 0.78 : 0), size, palette, turn });
  if (!back) arms(ctx, thing, r, s, face, pose, swing * gait.stride, palette);
  ctx.restore();
}

const sine = (/** @type {number} */ now, /** @type {number} */ ms) => Math.sin(now / ms);

/** Bent by so much of these. @param {number} much @param {number} squash @param {number} dip */
const bent = (much, squash, dip) => ({ squash: squash * much, dip: dip * much });

/** What gestures do with the body at a moment. @type {Record<string, (now: number, s: number) => object>} */
const POSES = {
  wave: (now) => ({ wave: 1 + sine(now, 90) * 0.4 }),
  nod: (now) => bent(1 + sine(now, 110), 0.04, 0.14),
  bow: (now) => bent(sine((now % 2000) * Math.PI, 2000), 0.14, 0.5),
  laugh: (now, s) => ({ shake: sine(now, 35) * 0.025 * s, squash: 0.03 * sine(now, 60), joy: true }),
  dance: (now, s) => ({
    turn: sine(now, 260) * 1.2, hop: Math.abs(sine(now, 170)) * 0.22 * s,
    shake: sine(now, 260) * 0.1 * s, joy: true,
  }),
};
const STILL = { turn: 0, hop: 0, shake: 0, squash: 0, wave: 0, dip: 0, joy: false };

/** @param {CanvasRenderingContext2D} ctx @param {any} thing @param {number} r @param {number} s
 *  @param {number} face @param {{wave: number, joy: boolean}} pose @param {number} swing @param {Palette} palette */
function arms(ctx, thing, r, s, face, pose, swing, palette) {
  for (const side of [-1, 1]) {
    const a = face + side * (Math.PI / 2);
    const raised = pose.joy || (pose.wave && side < 0);
    let x = Math.cos(a) * r * 1.02 + Math.cos(face) * swing * side * r * 0.3;
    let y = -Math.sin(a) * r * 0.9 - lift(raised ? 0.95 : 0.42, s);
    if (pose.wave && side < 0) x += (pose.wave - 1) * r * 0.5;
    if (pose.joy) y -= Math.abs(pose.wave) * r * 0.1;
    if (thing.look.hands) wear(ctx, 'hands', thing.look.hands, { x, y, size: r * 0.27, palette, side });
    else disc(ctx, tone(thing.look.color, 0.92, palette), x, y, r * 0.24);
  }
}

/** @param {CanvasRenderingContext2D} ctx @param {{x: number, y: number, r: number}} on what has the face
 *  @param {number} face @param {number} open @param {{joy: boolean}} pose */
function eyes(ctx, { x: left, y: top, r }, face, open, pose) {
  const south = -Math.sin(face);
  // Seen from the south: whoever walks away shows no eyes.
  if (south < -0.72) return;
  const side = Math.cos(face);
  const gap = r * 0.3 * (0.45 + 0.55 * Math.max(0, south));
  const x = left + side * r * 0.52;
  const y = top + Math.max(-0.4, south) * r * 0.26;
  const wide = 0.55 + 0.45 * Math.max(0, Math.min(1, south + 0.6));
  for (const which of [-1, 1]) {
    const ex = x + which * gap + side * Math.abs(which) * r * 0.02;
    oval(ctx, '#fff', ex, y, r * 0.19 * wide, r * 0.25 * open);
    if (open < 0.5) continue;
    oval(ctx, '#171a2b', ex + side * r * 0.07, y + r * 0.03 + south * r * 0.03, r * 0.105 * wide, r * 0.14);
    disc(ctx, '#fff', ex + side * r * 0.07 - r * 0.04, y - r * 0.03, r * 0.04);
  }
  if (south > 0.1) {
    const mouth = [x + side * r * 0.05, y + r * 0.26, r * (pose.joy ? 0.17 : 0.12), 0.3, Math.PI - 0.3];
    ctx.lineCap = 'round';
    arc(ctx, 'rgba(23,26,43,0.75)', Math.max(1, r * 0.07), mouth);
  }
}
