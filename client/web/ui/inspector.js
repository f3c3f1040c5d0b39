/** A thing in full: what it is, whose, which scripts run on it, and what one may do with it. */

import { age, t, why } from '../strings.js';
import { button, el, facts, fill, metres, put, short, toHex, wordOf } from './dom.js';
import { askOrder, thingOrders } from './moderate.js';
import { pushable, touchable } from './near.js';
import { ownTools, refreshOwn } from './own.js';
import { report } from './reports.js';
import { authorsOf } from './source.js';
import { liveOf } from './trial.js';

/** Licences of things, as people know them. */
const SPDX = { Cc0: 'CC0-1.0', CcBy: 'CC-BY-4.0', CcBySa: 'CC-BY-SA-4.0', Reserved: '\u00A9' };

/** @param {Page} page @returns {Panel} */
export function thingPanel(page) {
  const { client, picture } = page;
  const body = el('div', { class: 'stack' });
  const about = el('div');
  const acts = el('p', { class: 'row' });
  const scripts = el('section', { class: 'stack' });
  const own = el('section', { class: 'stack' });
  let id = /** @type {number | null} */ (null);
  let [signature, person] = ['', /** @type {any} */ ({ admin: false, rights: [] })];
  /** @type {Panel} */
  const panel = { body, show, hide: () => page.picture.selected !== null && page.unselect(), update: () => refresh(false) };

  function show(/** @type {number} */ wanted) {
    id = wanted;
    signature = '';
    refresh(true);
    client.person().then((/** @type {any} */ own) => ([signature, person] = ['', own]), () => {});
  }

  function refresh(/** @type {boolean} */ again) {
    if (id === null) return;
    const thing = picture.sight.objects.get(id);
    if (!thing) return fill(body, el('p', { class: 'quiet', role: 'status' }, t('thing.gone')));
    if (body.firstChild !== about) fill(body, about, acts, own, scripts);
    panel.title = thing.name;
    const at = picture.sight.at(id, performance.now());
    const ids = thing.scripts.map((/** @type {any} */ s) => s.script).join();
    const now = `${id}|${thing.owner}|${thing.name}|${thing.text}|${thing.hx}|${thing.hy}|${thing.look.color}|${ids}|${thing.far}|${thing.travels}|${thing.sensor}|${thing.held}|${thing.seat}|${thing.changed?.height}|${client.joints.some(({ a, b }) => a === id || b === id)}`;
    if (now !== signature) {
      signature = now;
      put(page.dock.heading, thing.name);
      describe(thing);
      if (again || about.dataset.scripts !== `${id}:${ids}`) listScripts(thing);
      about.dataset.scripts = `${id}:${ids}`;
    }
    const where = about.querySelector('[data-where]');
    if (where && at) put(where, t('thing.where.value', { x: metres(at.x), y: metres(at.y) }));
    if (at && page.picture.handles) refreshOwn(own, thing, at);
  }

  function describe(/** @type {any} */ thing) {
    const swatch = el('i', { class: 'swatch' });
    swatch.style.background = toHex(thing.look.color);
    const size = thing.round ? t('thing.size.disc', { w: metres(thing.hx * 2) }) : t('thing.size.box', { w: metres(thing.hx * 2), h: metres(thing.hy * 2) });
    const rows = facts([
      [t('thing.kind'), el('span', null, swatch, thing.kind)],
      [t('thing.beyond'), thing.beyond ?? null],
      thing.player ? [t('thing.key'), short(thing.player)] : [t('thing.owner'), nameOf(page, thing.owner)],
      [t('thing.author'), thing.player || !thing.author ? null : nameOf(page, thing.author)],
      [t('thing.changed'), thing.changed ? el('span', null, nameOf(page, thing.changed.by), ' ', t('thing.changed.how', { what: thing.changed.word, age: age(Math.max(0, (Date.now() - thing.changed.time) / 1_000)), height: thing.changed.height })) : null],
      [t('thing.parent'), thing.parent ? original(page, thing.parent) : null],
      [t('thing.held'), thing.held ? picture.sight.objects.get(thing.held)?.name ?? `#${thing.held}` : null],
      [t('thing.says'), thing.text || null],
      [t('thing.where'), el('span', { 'data-where': true })],
      [t('thing.size'), size],
      [t('thing.moves'), thing.player ? null : t(`moves.${thing.sensor ? 'sensor' : thing.motion}`)],
      [t('thing.licence'), thing.licence ? SPDX[/** @type {keyof typeof SPDX} */ (thing.licence)] ?? thing.licence : null],
    ]);
    fill(about, rows, thing.far && el('p', { class: 'quiet' }, t('thing.far')), thing.far && wordOf(false));
    const other = thing.id !== client.me && !thing.beyond;
    const mine = thing.owner === page.identity?.public && !thing.player && !thing.beyond;
    fill(acts,
      touchable(thing) && button({ text: t('act.touch'), click: () => page.touch(thing.id) }),
      thing.seat && button({ text: t('act.sit'), click: () => page.toasts.watch('sit', client.sit(thing.id)) }),
      mine && pushable(thing) && button({ text: t('act.take'), click: () => page.toasts.watch('take', client.build.take(thing.id)) }),
      thing.held && thing.held === client.me && button({ text: t('act.putdown'), click: () => page.toasts.watch('putdown', client.build.putDown(thing.id)) }),
      pushable(thing) && button({ text: t('act.push'), click: () => page.push(thing.id) }),
      other && button({ text: t('near.walk'), click: () => page.input.walkTo(thing.id) }),
      other && !mine && button({ text: t('report.open'), click: () => report(page, thing.name, thing.player ? { key: thing.player } : { object: thing.id }) }),
      ...(other && !thing.player ? thingOrders(person, thing) : []).map((given) => button({ text: t(`moderate.${given.verb}`), click: () => askOrder(page, t(`moderate.${given.verb}`), [], () => given) })),
      mine && button({ icon: 'source', text: t('panel.script'), click: () => page.dock.show('script', { object: thing.id }) }));
    page.picture.handles = mine && !thing.held;
    fill(own, ...(mine ? ownTools(page, thing) : []));
  }

  async function listScripts(/** @type {any} */ thing) {
    if (thing.player || thing.beyond) return fill(scripts);
    const heading = el('h3', null, t('thing.scripts'));
    if (!thing.scripts.length) return fill(scripts, heading, el('p', { class: 'quiet' }, t('thing.noscripts')));
    fill(scripts, heading, el('p', { class: 'quiet' }, t('loading')));
    const mine = thing.owner === page.identity?.public;
    try {
      const entries = (await client.scripts()).filter((/** @type {any} */ entry) => entry.object === thing.id);
      const cards = await Promise.all(entries.map((/** @type {any} */ entry) => card(page, entry, mine)));
      if (id === thing.id) fill(scripts, heading, wordOf(entries.every((/** @type {any} */ { proven }) => proven === true)), ...cards);
    } catch (error) {
      if (id === thing.id) fill(scripts, heading, el('p', { class: 'bad' }, t('failed', { why: why(error) })));
    }
  }
  return panel;
}

/** Who a key is, as far as it can be seen. @param {Page} page @param {string | null} key */
function nameOf(page, key) {
  if (!key) return t('nobody');
  if (key === page.identity?.public) return t('you');
  for (const other of page.client.sight.objects.values()) if (other.player === key) return other.name;
  return short(key);
}

/**
 * What a thing is a copy of.
 * @param {Page} page @param {Origin} origin
 */
function original(page, origin) {
  const here = page.client.status.sim;
  const thing = page.client.sight.born(origin, here);
  if (thing) return button({ text: `${thing.name} (#${thing.id})`, class: 'small', click: () => page.select(thing.id) });
  return `#${origin.number}${origin.sim === here ? '' : `, ${t('thing.elsewhere', { sim: short(origin.sim) })}`}`;
}

/** @param {number | bigint | null | undefined} n */
const figure = (n) => (n === null || n === undefined ? null : Number(n).toLocaleString('en'));

/** One script: its package's licence, authors and parent, what it used, and the way to its source. */
async function card(/** @type {Page} */ page, /** @type {any} */ entry, /** @type {boolean} */ mine) {
  const box = el('article', { class: 'card' });
  try {
    const source = await page.client.source(entry.package);
    const { manifest } = source;
    const live = liveOf(page, entry);
    fill(box,
      el('h4', null, `${manifest.name} ${manifest.version ?? ''}`),
      el('p', { class: source.verified ? 'good' : 'bad' }, t(source.verified ? 'script.verified' : 'script.unverified')),
      facts([
        [t('script.licence'), manifest.licence],
        [t('script.authors'), authorsOf(manifest)],
        [t('script.parent'), manifest.parent ? short(manifest.parent) : t('script.noparent')],
        [t('script.gas'), figure(entry.gas_used ?? entry.gas)],
        [t('script.failures'), figure(entry.failures)],
        [t('script.failed'), entry.last_failure?.[1] ?? null],
        [t('script.package'), short(entry.package)],
      ]),
      entry.suspended !== null && el('p', { class: 'bad' }, t('script.suspended')),
      el('p', { class: 'row' },
        button({ icon: 'source', text: t('script.read'), click: () => page.dock.show('source', { source, from: entry.object }) }),
        mine && button({ text: t('script.change'), click: () => page.dock.show('script', { object: entry.object, script: entry.script }) }),
        live.button,
        button({ text: t('script.fork'), click: () => page.dock.show('script', { fork: entry.package }) }),
        mine && entry.suspended !== null && button({ text: t('script.resume'), click: () => page.toasts.watch('resume', page.client.build.resume(entry.object, entry.script)) }),
        mine && button({ text: t('own.detach'), click: () => page.toasts.watch('detach', page.client.build.detach(entry.object, entry.script)) })),
      live.element);
  } catch (error) {
    fill(box, el('h4', null, entry.name), facts([[t('script.package'), short(entry.package)]]), el('p', { class: 'bad' }, t('failed', { why: why(error) })));
  }
  return box;
}
