// @ts-check
/** Lots: the one on which one stands, what can be done about it, and whose lot one points at. */

import { t } from '../strings.js';
import { button, el, put } from './dom.js';

/** The side of what is claimed, in metres. */
const SIDE = 8;

/** @typedef {import('../core/engine.js').Lot} Lot */

/** The lot at a place, if there is one. @param {Lot[]} lots @param {{x: number, y: number} | null} at */
const lotAt = (lots, at) => lots.find(({ x, y, hx, hy }) => at && Math.abs(at.x - x) <= hx && Math.abs(at.y - y) <= hy);

/** What is said of a lot, by whose it is: one's own, a friend's who lets one build there, or another's. @param {Lot} lot @param {string[]} keys */
const said = (lot, [own, lets, other]) => t(lot.own ? own : lot.lets ? lets : other, /** @type {any} */ (lot));

/** Has the small map say whose lot one points at. @param {import('../main.js').Page} page */
export function pointOutLots(page) {
  const words = (/** @type {MouseEvent} */ { offsetX, offsetY }) => {
    const lot = lotAt(page.client.lots, page.minimap.ground(offsetX, offsetY));
    return lot ? said(lot, ['map.lot.own', 'map.lot.lets', 'map.lot.other']) : '';
  };
  page.map.addEventListener('pointermove', (/** @type {PointerEvent} */ event) => (page.map.title = words(event)));
  page.map.addEventListener('click', (/** @type {MouseEvent} */ event) => words(event) && page.toasts.say(words(event)));
}

/** @param {import('../main.js').Page} page */
export function groundHere({ client, toasts }) {
  const line = el('p', { class: 'quiet', role: 'status' });
  const own = () => (client.me === null ? null : client.sight.at(client.me, performance.now()));
  // Who stands nowhere claims nothing: the core says so.
  const feet = () => own() ?? { x: NaN, y: NaN };
  const claim = button({ text: t('lot.claim', { side: SIDE }), click: () => toasts.watch('claim', client.claimLot(feet().x, feet().y, SIDE)) });
  const back = button({ text: t('lot.return'), class: 'button danger', click: () => toasts.watch('return', client.returnLot(lotAt(client.lots, own())?.lot ?? 0)) });
  const element = el('section', { class: 'stack' }, line, el('p', { class: 'row' }, claim, back));
  function update() {
    const [at, lot] = [own(), lotAt(client.lots, own())];
    element.hidden = !at;
    put(line, lot ? said(lot, ['lot.own', 'lot.lets', 'lot.other']) : t('lot.none'));
    [claim.hidden, back.hidden] = [Boolean(lot), !lot?.own];
  }
  return { element, update };
}
