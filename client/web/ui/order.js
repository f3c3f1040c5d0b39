/** Which script got which events in which order, turn by turn. */

import { t, why } from '../strings.js';
import { button, el, field, fill, options, put, switchOf } from './dom.js';

/** Turns behind the newest one that is asked for: those are decided and applied. */
const BEHIND = 1;
const ASK_MS = 500;

/** @param {Page} page @returns {Panel} */
export function orderPanel(page) {
  const { client } = page;
  const which = el('select', { on: { change: load } });
  const follow = el('input', { type: 'checkbox', checked: true, on: { change: () => { if (follow.checked) load(); } } });
  const turn = el('output', { class: 'turn' });
  const list = el('ol', { class: 'order' });
  const state = el('p', { class: 'quiet', role: 'status' });
  let height = 0;
  let asked = 0;
  let busy = false;
  /** Turns in which there was something, newest first. @type {HTMLElement[]} */
  let kept = [];
  let keptFor = '';

  const step = (/** @type {number} */ by) => {
    follow.checked = false;
    height = Math.max(1, Math.min(client.status.height - BEHIND, height + by));
    load();
  };

  async function scripts() {
    const entries = await client.scripts();
    const before = which.value;
    fill(which, ...options(entries.map(({ name, script }) => [script, `${name} (#${script})`])));
    if (before) which.value = before;
    load();
  }

  async function load() {
    if (!which.value || busy) return;
    busy = true;
    asked = performance.now();
    if (follow.checked) height = client.status.height - BEHIND;
    const wanted = height;
    put(turn, String(wanted));
    try {
      const entries = await client.order(wanted, Number(which.value));
      show(wanted, entries);
    } catch (/** @type {any} */ error) {
      put(state, error.code === 'Unknown' ? t('order.unknown', { height: wanted }) : t('failed', { why: why(error) }));
    }
    busy = false;
    if (!follow.checked && wanted !== height) load();
  }

  function show(/** @type {number} */ wanted, /** @type {any[]} */ entries) {
    if (keptFor !== which.value) kept = [];
    keptFor = which.value;
    put(state, entries.length ? '' : t('order.none', { height: wanted }));
    const rows = entries.map((entry) => el('li', null, el('span', { class: 'tick' }, `${wanted}/${entry.tick}`), el('code', null, entry.event), el('small', null, sender(entry.sender))));
    if (!follow.checked) return fill(list, ...rows);
    if (!rows.length || kept[0]?.dataset.height === String(wanted)) return;
    for (const row of rows) row.dataset.height = String(wanted);
    kept = [...rows, ...kept].slice(0, 60);
    fill(list, ...kept);
  }

  const sender = (/** @type {number} */ id) =>
    (id === 0 ? t('order.core') : client.sight.objects.get(id)?.name ?? `#${id}`);

  const body = el('div', { class: 'stack' }, el('p', { class: 'quiet' }, t('order.intro')),
    field(t('order.script'), which),
    el('p', { class: 'row' },
      button({ icon: 'back', label: t('order.earlier'), class: 'icon-button', click: () => step(-1) }),
      el('span', null, `${t('order.turn')} `, turn),
      button({ icon: 'back', label: t('order.later'), class: 'icon-button flip', click: () => step(1) }),
      switchOf(follow, t('order.follow'))),
    state, list);
  return { body, state, load: scripts, update: () => follow.checked && performance.now() - asked > ASK_MS && load() };
}
