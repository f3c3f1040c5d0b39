/** What is near, in words: for screen readers, keyboards, and whoever likes lists. */

import { t } from '../strings.js';
import { button, el, fill, metres, PagePart, put } from './dom.js';

/** Metres within which a thing is near, and how many are listed. */
const NEAR_METRES = 14;
const ITEMS_MAX = 40;

/** Reach of a hand from the avatar's middle, metres; a little less than the rules allow. */
export const REACH = 1.45;

/** Metres from the own avatar's middle to a thing's edge. @param {Spot} own @param {any} thing @param {Pose} at */
export function gapTo(own, thing, at) {
  const [dx, dy] = [own.x - at.x, own.y - at.y];
  if (thing.round) return Math.max(0, Math.hypot(dx, dy) - thing.hx);
  const [cos, sin] = [Math.cos(at.angle), Math.sin(at.angle)];
  const u = Math.abs(dx * cos + dy * sin) - thing.hx;
  const v = Math.abs(dy * cos - dx * sin) - thing.hy;
  return Math.hypot(Math.max(0, u), Math.max(0, v));
}

/** What can be touched: a thing with scripts. */
export const touchable = (/** @type {any} */ thing) => thing.scripts.length > 0;
/** What can be pushed: nothing that somebody has in hand. */
export const pushable = (/** @type {any} */ thing) => thing.movable && !thing.held;

/** Things around the own avatar, nearest first; `kept` is near while it is in sight. @param {Page} page @param {number} [kept] @returns {{thing: any, gap: number, at: any}[]} */
export function around(page, kept) {
  const { client } = page;
  const now = performance.now();
  const own = client.me === null ? page.picture.look : client.sight.at(client.me, now);
  if (!own) return [];
  const others = [...client.sight.objects.values()].filter(({ id }) => id !== client.me);
  const placed = others.flatMap((thing) => {
    const at = client.sight.at(thing.id, now);
    return at ? [{ thing, at, gap: gapTo(own, thing, at) }] : [];
  });
  return placed.filter(({ thing, gap }) => gap <= NEAR_METRES || thing.id === kept).sort((a, b) => a.gap - b.gap || a.thing.id - b.thing.id);
}

/** The nearest thing that a hand can do something with. @param {Page} page */
export function inReach(page) {
  if (page.client.me === null) return null;
  const can = (/** @type {any} */ thing) => !thing.player && (touchable(thing) || pushable(thing));
  const thing = around(page).find((each) => each.gap <= REACH && can(each.thing))?.thing;
  return thing ? { thing, act: touchable(thing) ? 'touch' : 'push' } : null;
}

/** @param {Page} page @param {any} thing @param {any} at @param {number} gap */
function words(page, thing, at, gap) {
  const own = page.client.me === null ? page.picture.look : page.client.sight.at(page.client.me, performance.now()) ?? page.picture.look;
  const name = thing.text && !thing.player ? `${thing.name} (${thing.text})` : thing.name;
  if (gap < 0.5) return t('near.here', { name });
  const eighth = Math.round(Math.atan2(at.y - own.y, at.x - own.x) / (Math.PI / 4));
  return t('near.item', { name, distance: metres(gap), direction: t(`dir.${(eighth + 8) % 8}`) });
}

/** @param {Page} page @returns {Panel} */
export function nearPanel(page) {
  const list = el('ol', { class: 'near', 'aria-label': t('panel.near') });
  const empty = el('p', { class: 'quiet' }, t('near.empty'));
  const hint = el('p', { class: 'quiet' }, t('near.hint'));
  const rows = /** @type {Map<number, {row: HTMLElement, words: HTMLElement}>} */ (new Map());

  function make(/** @type {any} */ thing) {
    const label = el('span', { class: 'near-words' });
    const { id } = thing;
    const row = el('li', { 'data-id': id }, label, el('span', { class: 'near-acts' },
      touchable(thing) && button({ text: t('act.touch'), class: 'small', 'aria-label': t('act.touch.what', { name: thing.name }), click: () => page.touch(id) }),
      pushable(thing) && button({ text: t('act.push'), class: 'small', 'aria-label': t('act.push.what', { name: thing.name }), click: () => page.push(id) }),
      button({ text: t('near.walk'), class: 'small', 'aria-label': `${t('near.walk')}: ${thing.name}`, click: () => page.input.walkTo(id) }),
      button({ text: t('near.details'), class: 'small', 'aria-label': `${t('near.details')}: ${thing.name}`, click: () => page.select(id) })));
    return { row, words: label };
  }

  function update() {
    // The row with the focus stays: a walk to its thing may lead away from it at first.
    const kept = [...rows].find(([, { row }]) => row.contains(document.activeElement))?.[0];
    const items = around(page, kept).filter(({ thing }) => thing.kind !== 'wall').slice(0, ITEMS_MAX);
    const order = items.map(({ thing, at, gap }) => {
      let entry = rows.get(thing.id);
      if (!entry) rows.set(thing.id, (entry = make(thing)));
      put(entry.words, words(page, thing, at, gap));
      return entry.row;
    });
    const keep = new Set(items.map(({ thing }) => thing.id));
    for (const id of rows.keys()) if (!keep.has(id)) rows.delete(id);
    // Whoever is in the list with the keyboard keeps their place, and is told so.
    const still = list.querySelector(':focus-visible') !== null;
    put(hint, t(still ? 'near.hint.still' : 'near.hint'));
    if (still) {
      for (const row of [...list.children]) if (!order.includes(row) && !row.contains(document.activeElement)) row.remove();
      for (const row of order) if (!row.isConnected) list.append(row);
    } else arrange(list, order);
    empty.hidden = order.length > 0;
  }
  return { body: el('div', { class: 'stack' }, hint, empty, list), show: update, update };
}

/** Puts rows in this order, around the one that has the focus: to move that would take it away. @param {Element} list @param {Element[]} order */
function arrange(list, order) {
  if (order.length === list.children.length && order.every((row, i) => row === list.children[i])) return;
  const at = order.findIndex((row) => row.contains(document.activeElement));
  if (at < 0) return fill(list, ...order);
  for (const row of [...list.children]) if (!order.includes(row)) row.remove();
  order[at].before(...order.slice(0, at));
  order[at].after(...order.slice(at + 1));
}

/** Says politely who comes, goes, and what changes its words; for those who do not see it. */
export class Announcer extends PagePart {
  element = el('div', { class: 'hidden', role: 'status', 'aria-live': 'polite' });
  known = /** @type {Map<number, {name: string, text: string, player: boolean}>} */ (new Map());
  timer = setInterval(() => this.update(), 2000);

  /** @param {string} text */
  say = (text) => void (this.element.textContent = text);

  update() {
    if (document.hidden || this.page.client.status.phase !== 'open') return;
    const news = [];
    const now = new Map();
    for (const { thing, gap } of around(this.page)) {
      if (gap > 8) break;
      now.set(thing.id, { name: thing.name, text: thing.text, player: Boolean(thing.player) });
      const before = this.known.get(thing.id);
      if (!before && thing.player) news.push(t('near.came', { name: thing.name }));
      else if (before && thing.text && before.text !== thing.text) news.push(t('near.says', { name: thing.name, text: thing.text }));
    }
    for (const [id, { name, player }] of this.known) {
      if (player && !now.has(id) && !this.page.client.sight.objects.has(id)) news.push(t('near.went', { name }));
    }
    this.known = now;
    if (news.length) this.say(`${news.slice(0, 3).join('. ')}.`);
  }
}
