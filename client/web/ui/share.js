/** The address of where one stands, as text and as a QR code. */

import { fragmentOf } from '../core/fragment.js';
import { t } from '../strings.js';
import { button, el } from './dom.js';
import { qr } from './qr.js';
import { copied } from './source.js';

/** `/w/SIM?node=..&at=x,y#at=CHECKPOINT` at a server. @param {Page} page @param {string} origin */
export function joinAddress(page, origin) {
  const { client, picture } = page;
  const own = client.me === null ? picture.look : client.sight.at(client.me, performance.now()) ?? picture.look;
  const round = (/** @type {number} */ n) => Math.round(n * 10) / 10;
  const base = origin.replace(/\/$/, '');
  return `${base}/w/${client.status.sim}?node=${encodeURIComponent(base)}&at=${round(own.x)},${round(own.y)}${fragmentOf(client.checkpoint)}`;
}

/** @param {Page} page @returns {Panel} */
export const sharePanel = (page) => ({ parts() {
  const { status } = page.client;
  const origin = status.http || location.origin;
  const address = joinAddress(page, origin);
  const text = el('input', { type: 'text', readonly: true, value: address, 'aria-label': t('panel.share'), on: { focus: () => text.select() } });
  const { hostname } = new URL(origin, location.href);
  const local = hostname === 'localhost' || hostname.startsWith('127.') || hostname === '[::1]';
  const hand = () => navigator.share({ title: t('title', { sim: status.simName ?? '' }), url: address }).catch(() => {});
  return [
    el('p', { class: 'quiet' }, t('share.intro')), qr(address, t('share.qr')), text,
    el('p', { class: 'row' }, button({ icon: 'copy', text: t('copy'), click: () => copied(page, address) }),
      'share' in navigator && button({ icon: 'share', text: t('share.button'), click: hand })),
    local && el('p', { class: 'quiet' }, t('share.local')),
  ];
} });
