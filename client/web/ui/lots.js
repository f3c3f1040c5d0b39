/** Lots: the one on which one stands, what can be done about it, and whose lot one points at. */

import { t } from '../strings.js';
import { button, choice, el, field, fill, options, part, put } from './dom.js';

/** The side of what is claimed, in metres. */
const SIDE = 8;

/** The lot at a place, if there is one. @param {Lot[]} lots @param {Spot | null} at */
const lotAt = (lots, at) => lots.find(({ x, y, hx, hy }) => at && Math.abs(at.x - x) <= hx && Math.abs(at.y - y) <= hy);

/** What is said of a lot, by whose it is: one's own, a friend's who lets one build there, or another's. @param {Lot} lot @param {string[]} keys */
const said = (lot, [own, lets, other]) => [t(lot.own ? own : lot.lets ? lets : other, /** @type {any} */ (lot)), lot.club && t('lot.club', { club: lot.club })].filter(Boolean).join(' ');

/** Has the small map say whose lot one points at. @param {Page} page */
export function pointOutLots(page) {
  const words = (/** @type {MouseEvent} */ { offsetX, offsetY }) => {
    const lot = lotAt(page.client.lots, page.minimap.ground(offsetX, offsetY));
    return lot ? said(lot, ['map.lot.own', 'map.lot.lets', 'map.lot.other']) : '';
  };
  page.map.addEventListener('pointermove', (/** @type {PointerEvent} */ event) => (page.map.title = words(event)));
  page.map.addEventListener('click', (/** @type {MouseEvent} */ event) => words(event) && page.toasts.say(words(event)));
}

/**
 * What the holder of a lot may order about it: the field of the order that says whom or what it is about,
 * and who or what there is to choose.
 * @type {Record<string, [field?: string, of?: 'people' | 'friends' | 'clubs' | 'strangers']>}
 */
const ORDERS = {
  name: ['name'], open: ['to', 'people'], shut: ['to', 'friends'], open_club: ['club', 'clubs'],
  shut_club: [], give: ['to', 'people'], send_home: ['object', 'strangers'],
};

/** What is ordered about one's own lot. @param {Page} page @param {() => Lot | undefined} here */
function lotOrders({ client, identity, toasts }, here) {
  const verb = choice(t('lot.order'), Object.keys(ORDERS).map((word) => [word, t(`lot.do.${word}`)]));
  const name = el('input', { type: 'text', maxlength: '32' });
  const whom = choice(t('lot.whom'), []);
  const named = field(t('lot.name'), name);
  const others = (/** @type {{key: string, name: string}[]} */ all) =>
    all.filter(({ key }) => key !== identity.public).map(({ key, name }) => [key, name]);
  /** Things of others that stand on the lot. */
  const strangers = () => [...client.sight.objects.values()]
    .filter((thing) => !thing.player && thing.owner && thing.owner !== identity.public && lotAt(client.lots, client.sight.at(thing.id, performance.now())) === here())
    .map((thing) => [String(thing.id), `${thing.name} (#${thing.id})`]);
  /** What there is to choose. @type {Record<string, () => any>} */
  const choices = {
    people: async () => others(await client.players()), friends: () => others(here()?.friends ?? []),
    clubs: async () => (await client.clubs()).filter(({ invited }) => !invited)
      .map(({ club, name }) => [String(club), name]),
    strangers,
  };
  async function fit() {
    const [word, [about, of]] = [verb.select.value, ORDERS[verb.select.value]];
    [named.hidden, whom.element.hidden] = [about !== 'name', of === undefined];
    const found = of ? await Promise.resolve().then(choices[of]).catch(() => []) : [];
    if (word === verb.select.value) fill(whom.select, ...options(found));
  }
  const give = () => {
    const [word, chosen] = [verb.select.value, whom.select.value];
    const [about] = ORDERS[word];
    const value = about === 'name' ? name.value.trim() : about === 'to' ? chosen : Number(chosen);
    return toasts.watch('lot', client.orderLot(here()?.lot ?? 0, { verb: word, ...(about && { [about]: value }) }));
  };
  verb.select.addEventListener('change', fit);
  return part(t('lot.orders'), { toggle: fit }, verb.element, named, whom.element, button({ text: t('moderate.do'), click: give }));
}

/** @param {Page} page */
export function groundHere(page) {
  const { client, toasts } = page;
  const line = el('p', { class: 'quiet', role: 'status' });
  const own = () => (client.me === null ? null : client.sight.at(client.me, performance.now()));
  // Who stands nowhere claims nothing: the core says so.
  const feet = () => own() ?? { x: NaN, y: NaN };
  const claim = button({ text: t('lot.claim', { side: SIDE }), click: () => toasts.watch('claim', client.claimLot(feet().x, feet().y, SIDE)) });
  const back = button({ text: t('lot.return'), class: 'button danger', click: () => toasts.watch('return', client.returnLot(lotAt(client.lots, own())?.lot ?? 0)) });
  const orders = lotOrders(page, () => lotAt(client.lots, own()));
  const element = el('section', { class: 'stack' }, line, el('p', { class: 'row' }, claim, back), orders);
  function update() {
    const [at, lot] = [own(), lotAt(client.lots, own())];
    element.hidden = !at;
    put(line, lot ? said(lot, ['lot.own', 'lot.lets', 'lot.other']) : t('lot.none'));
    [claim.hidden, back.hidden, orders.hidden] = [Boolean(lot), !lot?.own, !lot?.own];
  }
  return { element, update };
}
