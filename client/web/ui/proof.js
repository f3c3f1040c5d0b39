/** The panel behind the badge: headers as they arrive, who signed them, the line, replica mode. */

import { t, why } from '../strings.js';
import { button, el, fill, put, save, short, switchOf } from './dom.js';
import { attempt } from './toast.js';

/** @param {Page} page @returns {Panel} */
export function proofPanel(page) {
  const { client } = page;
  const state = el('p', { class: 'proof-state' });
  const detail = el('p', { class: 'proof-detail', hidden: true });
  const how = el('p', { class: 'quiet proof-how' });
  const figures = {
    'proof.height': el('dd'), 'proof.turns': el('dd'), 'proof.rtt': el('dd'), 'proof.carrier': el('dd'), 'proof.bytes': el('dd'),
  };
  const list = el('dl', { class: 'facts figures' });
  for (const [key, value] of Object.entries(figures)) list.append(el('dt', null, t(key)), value);
  const strip = el('ol', { class: 'headers', 'aria-label': t('proof.headers') });
  const replica = replicaBox(page);

  const body = el('div', { class: 'stack' }, state, detail, how, list,
    el('h3', null, t('proof.headers')), strip, replica.element);
  let newest = -1;

  function update() {
    const { proof, status } = client;
    state.dataset.level = page.badge.level;
    state.toggleAttribute('data-stale', page.stale);
    put(state, page.badge.long.textContent);
    put(how, checking(page.stale));
    // The age of a header is a figure in the reason's own words.
    const facts = proof.reason === 'old' || proof.reason === 'untrusted-age' ? null : proof.detail;
    detail.hidden = !facts;
    put(detail, facts ?? '');
    put(figures['proof.height'], String(status.height ?? 0));
    put(figures['proof.turns'], (status.turnsPerSecond ?? 0).toFixed(1));
    put(figures['proof.rtt'], status.rtt === null ? t('unknown') : t('ms', { n: Math.round(status.rtt) }));
    put(figures['proof.carrier'], { webtransport: 'WebTransport', websocket: 'WebSocket' }[/** @type {string} */ (status.carrier)] ?? t('unknown'));
    put(figures['proof.bytes'], t('proof.bytes.value', { in: bytes(status.bytesIn), out: bytes(status.bytesOut) }));
    const first = proof.headers[0]?.height ?? -1;
    if (first !== newest) {
      newest = first;
      fill(strip, ...proof.headers.slice(0, 16).map((/** @type {any} */ header) => row(header, proof.members)));
    }
    replica.update();
  }
  return { body, show: update, update };
}

/**
 * What this tab does about the truth of what it shows: nothing that it does not do.
 * @param {boolean} stale its module is of other sources
 */
export function checking(stale) {
  const checks = ['proof.how', 'proof.how.checks', 'proof.how.words'];
  if (stale) checks.push('proof.how.stale');
  return checks.map((key) => t(key)).join(' ');
}

/** @param {any} header @param {number} members */
function row(header, members) {
  const dots = el('span', { class: 'dots', 'aria-hidden': 'true' },
    ...Array.from({ length: Math.max(members, header.signers.length) }, (_, i) =>
      el('i', { class: i < header.signers.length ? 'on' : '', title: header.signers[i] ?? '' })));
  const checked = t('proof.checked');
  return el('li', { title: header.signers.join('\n'), 'aria-label': t('proof.header', { height: header.height, signed: header.signers.length, round: header.round, verified: checked }) },
    el('b', null, String(header.height)), dots, short(header.proposer), el('small', null, checked));
}

/** @param {number} n */
const bytes = (n) => (n >= 1000 ? `${(n / 1000).toFixed(1)} kB` : `${Math.round(n ?? 0)} B`);

/** @param {Page} page */
function replicaBox(page) {
  const { client } = page;
  const toggle = el('input', { type: 'checkbox', role: 'switch', on: { change: () => attempt(page.toasts, async () => client.setReplica(toggle.checked)) } });
  const phase = el('p', { class: 'replica-phase', role: 'status' });
  const height = el('dd');
  const own = el('dd', { class: 'hex' });
  const certified = el('dd', { class: 'hex' });
  const roots = el('dl', { class: 'facts', hidden: true },
    el('dt', null, t('replica.height')), height, el('dt', null, t('replica.own')), own, el('dt', null, t('replica.certified')), certified);
  const capsule = button({ icon: 'download', text: t('replica.capsule'), click: () => client.replica.capsule && save(client.replica.capsule, `capsule-${client.replica.height}.bin`) });
  capsule.hidden = true;
  const element = el('section', { class: 'card' }, el('h3', null, t('replica.title')),
    switchOf(toggle, t('replica.switch')), el('p', { class: 'quiet' }, t('replica.how')), phase, roots, capsule);
  return {
    element,
    update() {
      const { replica } = client;
      toggle.checked = replica.on;
      element.dataset.phase = replica.phase;
      const share = replica.bytes ? Math.floor((100 * replica.received) / replica.bytes) : 0;
      const words = t(`replica.${replica.phase}`, { behind: replica.behind, share, equal: replica.equal ?? 0 });
      put(phase, replica.why ? `${words} ${why({ code: replica.why })}` : words);
      roots.hidden = !replica.ownRoot;
      put(height, String(replica.height));
      put(own, replica.ownRoot ?? '');
      put(certified, replica.certifiedRoot ?? '');
      capsule.hidden = !replica.capsule;
    },
  };
}
