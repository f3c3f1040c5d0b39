// @ts-check
/** The lot on which one stands, and what can be done about it. */

import { t } from '../strings.js';
import { button, el, put } from './dom.js';

/** The side of what is claimed, in metres. */
const SIDE = 8;

/** @param {import('../main.js').Page} page */
export function groundHere({ client, toasts }) {
  const line = el('p', { class: 'quiet', role: 'status' });
  const own = () => (client.me === null ? null : client.sight.at(client.me, performance.now()));
  // Who stands nowhere claims nothing: the core says so.
  const feet = () => own() ?? { x: NaN, y: NaN };
  const lotAt = (/** @type {any} */ at) => client.lots.find((lot) => at && Math.abs(at.x - lot.x) <= lot.hx && Math.abs(at.y - lot.y) <= lot.hy);
  const claim = button({ text: t('lot.claim', { side: SIDE }), click: () => toasts.watch('claim', client.claimLot(feet().x, feet().y, SIDE)) });
  const back = button({ text: t('lot.return'), class: 'button danger', click: () => toasts.watch('return', client.returnLot(lotAt(own())?.lot ?? 0)) });
  const element = el('section', { class: 'stack' }, line, el('p', { class: 'row' }, claim, back));
  function update() {
    const [at, lot] = [own(), lotAt(own())];
    element.hidden = !at;
    put(line, lot ? t(lot.own ? 'lot.own' : lot.lets ? 'lot.lets' : 'lot.other', lot) : t('lot.none'));
    [claim.hidden, back.hidden] = [Boolean(lot), !lot?.own];
  }
  return { element, update };
}
