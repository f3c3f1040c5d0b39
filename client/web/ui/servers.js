/** The servers of the sim, and who governs it. */

import { t } from '../strings.js';
import { button, el, facts, fill, put, short, wordOf } from './dom.js';
import { governTool, sanctionList } from './govern.js';
import { motdTool, orderList } from './moderate.js';
import { reportList } from './reports.js';

/** @param {Page} page @returns {Panel} */
export function serversPanel(page) {
  const { client } = page;
  const list = el('ul', { class: 'servers' });
  const state = el('p', { class: 'quiet', role: 'status' }, t('loading'));
  const body = el('div', { class: 'stack' }, el('p', { class: 'quiet' }, t('servers.intro')), state, list);
  const panel = /** @type {Panel} */ ({ body, state, load, every: 4000 });

  async function load() {
    const servers = await client.servers();
    put(state, servers.length ? '' : t('nothing'));
    if (!list.contains(document.activeElement)) fill(list, ...servers.map(row));
  }

  function row(/** @type {any} */ server) {
    const marks = [server.voting === true && t('servers.voting'), server.voting === false && t('servers.follows'), server.rtt !== null && server.rtt !== undefined && t('ms', { n: Math.round(server.rtt) })].filter(Boolean);
    return el('li', { class: `card${server.here ? ' here' : ''}` },
      el('span', { class: 'grow' }, el('b', null, server.http || server.quic), el('br'), short(server.server), ' ', el('small', null, marks.join(' \u00B7 '))),
      server.here ? el('span', { class: 'good' }, t('servers.here')) : server.http && button({ text: t('servers.go'), class: 'small', click: () => { client.moveTo(server.http); page.canvas.focus({ preventScroll: true }); panel.asked = 0; } }));
  }
  return panel;
}

/** Milliseconds as days and hours. @param {number} ms */
function span(ms) {
  const hours = Math.floor(ms / 3_600_000);
  return t('governance.span', { days: Math.floor(hours / 24), hours: hours % 24 });
}

/** A change of who votes that waits, in a line. @param {{ change: Record<string, { key: string }>, left: number }} each */
function waiting({ change, left }) {
  const [kind, { key }] = Object.entries(change)[0];
  return t(`governance.delayed.${kind}`, { who: key.slice(0, 8), span: span(left) });
}

/** @param {Page} page @returns {Panel} */
export function governancePanel(page) {
  const [state, all] = [el('p', { class: 'quiet', role: 'status' }, t('loading')), el('div', { class: 'stack' })];
  const [log, reports, tool, orders, sanctions] = [orderList(page), reportList(page), motdTool(page), governTool(page), sanctionList(page)];
  async function load() {
    const rules = (await page.client.governance()) ?? {};
    const { validators = [], admins = [], candidates = [], exposed = [], delayed = [] } = rules;
    put(state, '');
    fill(all,
      rules.motd && el('p', { class: 'card' }, t('governance.motd', { text: rules.motd })), tool.element, orders.element,
      el('h3', null, t('governance.validators')),
      facts(validators.map((/** @type {any} */ v) => [t('governance.power', { n: v.power }), short(v.key)])),
      wordOf(rules.proven === true),
      el('h3', null, t('governance.admins')),
      admins.length ? el('ul', null, ...admins.map((/** @type {string} */ key) => el('li', null, short(key)))) : el('p', { class: 'quiet' }, t('governance.noadmins')),
      el('h3', null, t('governance.temp')),
      rules.admin_days !== undefined && el('p', { class: 'quiet' }, t('governance.rule', { x: rules.admin_days, y: rules.player_days, z: rules.seen_days })),
      rules.away && el('p', null, rules.away),
      facts([
        [t('governance.temp.now'), rules.temp_admin ? short(rules.temp_admin) : t('governance.temp.none')],
        [t('governance.countdown'), rules.countdown === undefined ? null : span(rules.countdown)],
        [t('governance.ends'), rules.time_left == null ? null : span(Math.max(0, rules.time_left))],
        [t('governance.players'), rules.players === undefined ? null : String(rules.players)],
        ...candidates.map((/** @type {any} */ each, /** @type {number} */ i) => [t('governance.candidate', { n: i + 1 }), el('span', null, `${each.name} `, short(each.key))]),
      ]),
      delayed.length > 0 && el('h3', null, t('governance.delayed')),
      delayed.length > 0 && el('ul', null, ...delayed.map((/** @type {any} */ each) => el('li', null, waiting(each)))),
      exposed.length > 0 && el('h3', null, t('governance.exposed')),
      exposed.length > 0 && facts(exposed.map((/** @type {any} */ [key, height]) => [t('governance.exposed.at', { height }), short(key)])),
      sanctions.element,
      el('h3', null, t('report.list')), reports.element, wordOf(false),
      el('h3', null, t('governance.acts')), el('p', { class: 'quiet' }, t('governance.acts.proved')), log.element);
    await Promise.all([reports.show(), log.show(), tool.show(rules.motd), orders.show(), sanctions.show()]);
  }
  return { body: el('div', { class: 'stack' }, state, all), state, load };
}
