/** Several things of one's own that are changed together. */

import { refusal, t, why } from '../strings.js';
import { PagePart, save } from './dom.js';

/** Things of one group. */
export const GROUP_MAX = 64;

/** Acts that are on their way at once: servers take eight building steps of one builder in a turn. */
const ACTS_AT_ONCE = 6;

/** Steps that the servers can take back. */
const UNDO_MAX = 16;

/** Acts that are steps to be taken back. */
const STEPS = new Set(['place', 'copy', 'remove', 'move', 'rotate', 'resize', 'color', 'rename', 'write', 'attach', 'detach', 'give', 'join', 'unjoin', 'travel', 'material', 'sensor', 'unite']);

/** Event: 'changed', other things are chosen. */
export class Group extends PagePart {
  ids = /** @type {Set<number>} */ (new Set());
  /** Whether a tap chooses one thing more, for who has no Shift. */
  picking = false;
  /** The steps that the last deed took. */
  steps = 1;

  /** @param {Page} page */
  constructor(page) {
    super(page);
    page.toasts.addEventListener('done', (/** @type {any} */ { detail }) => STEPS.has(detail) && (this.steps = 1));
  }

  /** Whether a thing may be chosen. @param {any} thing */
  owns = (thing) => Boolean(thing) && !thing.player && thing.owner === this.page.identity.public;

  /** The chosen things that are in sight. @param {Iterable<number>} [ids] @returns {Chosen[]} */
  placed(ids = this.ids) {
    const { sight } = this.page.client;
    const now = performance.now();
    const found = [...ids].map((id) => ({ id, thing: sight.objects.get(id), at: sight.at(id, now) }));
    return found.filter(({ thing, at }) => this.owns(thing) && at);
  }

  /** Chooses things besides those that are. @param {Iterable<number>} ids */
  add(ids) {
    for (const { id } of this.placed(ids)) {
      if (this.ids.size >= GROUP_MAX && !this.ids.has(id)) {
        this.page.toasts.say(t('group.full', { most: GROUP_MAX }), 'bad');
        break;
      }
      this.ids.add(id);
    }
    this.#changed();
  }

  /** Chooses a thing, or no more. Whatever was selected alone belongs to it. @param {number} id */
  toggle(id) {
    const { picture, dock } = this.page;
    const before = picture.handles && picture.selected !== id && this.ids.size === 0 ? picture.selected : null;
    if (dock.open === 'thing') dock.close();
    if (before !== null) this.ids.add(before);
    if (this.ids.delete(id)) this.#changed();
    else this.add([id]);
  }

  /** Chooses all of one's own within a box. @param {{x: number, y: number, hx: number, hy: number}} box */
  within({ x, y, hx, hy }) {
    const { objects } = this.page.client.sight;
    const inside = this.placed(objects.keys()).filter(({ at }) => Math.abs(at.x - x) <= hx && Math.abs(at.y - y) <= hy);
    this.add(inside.map(({ id }) => id));
  }

  /** Chooses nothing. @returns {boolean} whether anything was chosen */
  clear() {
    const had = this.ids.size > 0 || this.picking;
    this.picking = false;
    this.ids.clear();
    if (had) this.#changed();
    return had;
  }

  #changed() {
    this.page.picture.group = new Set(this.ids);
    this.dispatchEvent(new Event('changed'));
  }

  /**
   * Does the same to several things, and tells once what was refused.
   * @template T
   * @param {string} what @param {T[]} list @param {(one: T) => Promise<any>} act
   * @returns {Promise<any[]>} the outcomes of those that were let pass
   */
  async each(what, list, act) {
    const done = [];
    const refused = [];
    for (let from = 0; from < list.length; from += ACTS_AT_ONCE) {
      const outcomes = await Promise.allSettled(list.slice(from, from + ACTS_AT_ONCE).map(act));
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') refused.push(why(outcome.reason));
        else if (outcome.value?.ok) done.push(outcome.value);
        else refused.push(refusal(outcome.value?.refusal));
      }
    }
    if (refused.length) this.page.toasts.say(t('group.refused', { what: t(`what.${what}`), n: refused.length, all: list.length, why: refused[0] }), 'bad');
    if (done.length) {
      this.page.toasts.dispatchEvent(new CustomEvent('done', { detail: what }));
      this.steps = done.length;
    }
    return done;
  }

  /** @param {number} dx @param {number} dy metres @param {Iterable<number>} [ids] */
  move(dx, dy, ids = this.ids) {
    const { build } = this.page.client;
    // The foremost first: nothing is put where another one of them still is.
    const order = this.placed(ids).sort((a, b) => (b.at.x - a.at.x) * dx + (b.at.y - a.at.y) * dy);
    return this.each('move', order, ({ id, at }) => build.move(id, at.x + dx, at.y + dy));
  }

  /** Makes copies, and chooses them. @param {number} dx @param {number} dy metres @param {Iterable<number>} [ids] */
  async copy(dx, dy, ids = this.ids) {
    const { build } = this.page.client;
    const made = await this.each('copy', this.placed(ids), ({ id, at }) => build.copy(id, at.x + dx, at.y + dy));
    if (made.length < 2) return;
    this.ids = new Set(made.map((outcome) => outcome.made));
    this.#changed();
  }

  /** @param {number} color */
  color = (color) => this.each('color', this.placed(), ({ id }) => this.page.client.build.color(id, color));

  async remove() {
    await this.each('remove', this.placed(), ({ id }) => this.page.client.build.remove(id));
    this.clear();
  }

  /** Lets a thing of one's own leave over borders with all that joints hold to it, or has them stay. @param {number} id @param {boolean} travels */
  travel(id, travels) {
    const { build, joints } = this.page.client;
    const whole = new Set([id]);
    // What is joined to the ground is at its end alone.
    for (const one of whole) for (const { a, b } of joints) if (a && (a === one || b === one)) whole.add(a).add(b);
    return this.each('travel', this.placed(whole).filter(({ thing }) => thing.travels !== travels), (each) => build.letTravel(each.id, travels));
  }

  /** Makes one thing of those that are chosen. */
  async unite() {
    const ids = this.placed().map(({ id }) => id);
    const outcome = await this.page.toasts.watch('unite', this.page.client.build.unite(ids));
    if (outcome?.ok) this.clear();
  }

  /** Hands the chosen things out as a file. @param {string} name */
  async save(name) {
    const { client, toasts } = this.page;
    const made = await client.groupFile(name, this.placed().map(({ id }) => id)).catch((error) => toasts.say(why(error), 'bad'));
    if (!made) return;
    const file = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-|-$/g, '') || 'group';
    save(new Blob([made.text], { type: 'application/json' }), `${file}.json`);
  }

  /** Takes the last deed back: all of its steps, as far as the servers remember them. */
  async undo() {
    const { toasts, client } = this.page;
    const steps = Math.min(this.steps, UNDO_MAX);
    if (this.steps > UNDO_MAX) toasts.say(t('group.undo.most', { n: UNDO_MAX }));
    this.steps = 1;
    for (let step = 0; step < steps; step++) {
      const outcome = await toasts.watch('undo', client.build.undo());
      if (!outcome?.ok) return;
    }
  }
}
