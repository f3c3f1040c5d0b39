/** Who is here. */

import { t } from '../strings.js';
import { may, mayModerate, moderate } from './moderate.js';
import { report } from './reports.js';
import { button, el, fill, metres, put, short, toHex, wordOf } from './dom.js';

/** @param {Page} page @returns {Panel} */
export function peoplePanel(page) {
  const { client } = page;
  const count = el('p', { class: 'quiet', role: 'status' }, t('loading'));
  const list = el('ul', { class: 'people' });
  const said = el('div');
  let drawn = '';
  /** May the person moderate here? */
  let [moderates, admin] = [false, false];

  async function load() {
    /** @type {{name: string, key: string, proven?: boolean}[]} */
    const players = await client.players();
    const [own] = await Promise.all([client.person(), page.clubs.load()]);
    [moderates, admin] = [mayModerate(own), may(own, 'administer')];
    fill(said, wordOf(players.every(({ proven }) => proven === true)));
    const seen = new Map([...client.sight.objects.values()].filter((thing) => thing.player).map((thing) => [thing.player, thing]));
    await page.profiles.learn(players.map(({ key }) => key));
    put(count, players.length === 1 ? t('people.one') : t('people.count', { n: players.length }));
    const signature = moderates + page.blocks.text + page.buddies.text + page.clubs.drawn + players.map((p) => `${p.key}${p.name}${page.profiles.of(p.key)?.version ?? ''}${seen.get(p.key)?.id ?? ''}${seen.get(p.key)?.look.color ?? ''}`).join();
    if (signature === drawn || list.contains(document.activeElement)) return;
    drawn = signature;
    const first = (/** @type {string} */ key) => Number(key === page.identity?.public) * 2 + Number(page.buddies.has(key));
    const sorted = [...players].sort((a, b) => first(b.key) - first(a.key) || a.name.localeCompare(b.name));
    fill(list, ...sorted.map((player) => row(player, seen.get(player.key))));
  }

  function row(/** @type {{name: string, key: string}} */ player, /** @type {any} */ thing) {
    const dot = el('i', { class: `face ${thing?.look.shape ?? 'round'}` });
    dot.style.background = thing ? toHex(thing.look.color) : '#8884';
    const own = page.client.me === null ? null : client.sight.at(page.client.me, performance.now());
    const at = thing && client.sight.at(thing.id, performance.now());
    const far = thing && own && at ? `${metres(Math.hypot(at.x - own.x, at.y - own.y))} m` : t('people.far');
    const self = player.key === page.identity?.public;
    const { pronouns, line, image } = (page.blocks.has(player.key) ? null : page.profiles.of(player.key)) ?? {};
    return el('li', null, image ? el('img', { class: 'portrait', src: image, alt: '' }) : dot, el('span', { class: 'grow' }, el('b', null, player.name), pronouns && ` (${pronouns})`, page.buddies.has(player.key) && ` \u2605 ${t('buddy.mark')}`, ' ', self ? el('small', null, t('you')) : el('small', null, far), el('br'), short(player.key), line && el('p', { class: 'quiet' }, line)),
      thing && !self && button({ text: t('people.show'), class: 'small', click: () => page.select(thing.id) }),
      !self && button({ text: t('chat.write'), class: 'small', click: () => page.chat.writeTo(player) }),
      !self && page.clubs.inviter(player),
      !self && button({ text: t('report.open'), class: 'small', click: () => report(page, player.name, { key: player.key }) }),
      !self && page.buddies.button(player),
      !self && page.blocks.button(player),
      moderates && !self && button({ text: t('moderate.open'), class: 'small', click: () => moderate(page, player, admin) }));
  }

  return { body: el('div', { class: 'stack' }, count, said, list, page.clubs.element, page.buddies.element, page.blocks.element), state: count, load, every: 3000 };
}
