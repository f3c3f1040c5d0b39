/** The map of the world: squares with their sims, who holds them, and the way there. */

import { addressOf, askMap, askOwner, fastest, OLD_MS } from '../core/world-map.js';
import { age, t } from '../strings.js';
import { button, el, facts, fill, put, shape, short, word } from './dom.js';
import { telling } from './toast.js';

/** Units of the picture for a tile of 32 m. */
const TILE = 16;
/** Letters of a name that fit on a square, for each tile of its side. */
const LETTERS = 2;

/** What a site is called. @param {Site} site */
const called = (site) => site.label || t('map.unnamed', { sim: site.sim.slice(0, 8) });

/**
 * Draws the squares; north is up.
 * @param {Site[]} sites @param {string} here the sim where one is
 * @param {(site: Site) => void} pick
 */
export function drawn(sites, here, pick) {
  const tiles = (/** @type {Site} */ site) => site.side / 32;
  const [west, south] = [Math.min(...sites.map(({ x }) => x)) - 1, Math.min(...sites.map(({ y }) => y)) - 1];
  const [east, north] = [Math.max(...sites.map((site) => site.x + tiles(site))) + 1, Math.max(...sites.map((site) => site.y + tiles(site))) + 1];
  const squares = sites.map((site) => {
    const side = tiles(site) * TILE;
    const [x, y] = [(site.x - west) * TILE, (north - site.y) * TILE - side];
    const letters = Math.max(3, Math.floor(tiles(site) * LETTERS));
    const name = called(site);
    const kind = `map-site${site.sim === here ? ' here' : ''}${site.met ? '' : ' unmet'}`;
    const square = shape('g', { class: kind }, shape('title', {}, name),
      shape('rect', { x, y, width: side, height: side, rx: 4 }),
      shape('text', { x: x + side / 2, y: y + side / 2 }, name.length > letters ? `${name.slice(0, letters - 1)}\u2026` : name));
    if (site.people) square.append(shape('text', { class: 'people', x: x + side / 2, y: y + side / 2 + TILE }, t('map.people', { n: site.people })));
    square.addEventListener('click', () => pick(site));
    return square;
  });
  return shape('svg', { class: 'world-map', role: 'img', 'aria-label': t('map.picture', { n: sites.length }), viewBox: `0 0 ${(east - west) * TILE} ${(north - south) * TILE}` }, ...squares);
}

/** @param {Page} page @returns {Panel} */
export function mapPanel(page) {
  const { client } = page;
  const state = el('p', { class: 'quiet', role: 'status' }, t('loading'));
  const picture = el('div', { class: 'map-frame' });
  const list = el('ul', { class: 'servers sites' });
  const body = el('div', { class: 'stack' }, el('p', { class: 'quiet' }, t('map.intro')), state, picture, list);
  const cards = /** @type {Map<string, HTMLElement>} */ (new Map());
  let seen = 0;
  const parts = () => ({ sim: client.status.sim, world: client.genesis?.introduction?.world ?? '', module: page.loaded.module });
  async function load() {
    if (!parts().world) return put(state, t('map.none'));
    const { sites, oldest, door } = await askMap(client.status.http, parts());
    const old = Date.now() - (seen = oldest ?? 0) > OLD_MS;
    state.classList.toggle('amber', old || door);
    put(state, [t(old ? 'map.old' : 'map.proved', { n: sites.length, age: age((Date.now() - seen) / 1_000) }), door && t('map.door')].filter(Boolean).join(' '));
    if (list.contains(document.activeElement)) return;
    cards.clear();
    for (const site of sites) cards.set(site.sim, card(site));
    fill(list, ...cards.values());
    fill(picture, sites.length > 0 && drawn(sites, client.status.sim, show));
  }

  /** @param {Site} site */
  function show(site) {
    const element = cards.get(site.sim);
    element?.scrollIntoView({ block: 'nearest' });
    element?.querySelector('button')?.focus({ preventScroll: true });
  }

  /** @param {Site} site */
  function card(site) {
    const here = site.sim === client.status.sim;
    const said = [site.people !== null && t('map.people', { n: site.people }), site.licence, t(site.met ? 'map.met' : 'map.unmet')].filter(Boolean).join(' \u00B7 ');
    return el('li', { class: `card${here ? ' here' : ''}` },
      el('span', { class: 'grow' }, el('b', null, called(site)), site.label && word(), el('br'),
        el('small', null, said),
        facts([[t('map.square'), t('map.at', { x: site.x, y: site.y, side: site.side })], [t('map.sim'), short(site.sim)], [t('map.holder'), short(site.holder)]])),
      here ? el('span', { class: 'good' }, t('servers.here')) : site.at.length > 0 && button({ text: t('servers.go'), class: 'small', label: t('map.go', { name: called(site) }), click: () => telling(state, () => go(site)) }));
  }

  /** @param {Site} site */
  async function go(site) {
    put(state, t('map.asking', { name: called(site) }));
    const { origin, lets } = await fastest(await askOwner(client.status.http, site, parts(), seen));
    await Promise.race([client.leave().catch(() => null), new Promise((done) => setTimeout(done, 2_000))]); // A sim that stands still keeps nobody.
    location.assign(addressOf({ sim: site.sim, origin, lets }, location.origin, page.inFolder));
  }
  return { body, state, load, every: 15_000 };
}
