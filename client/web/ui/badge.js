/** The badge: what has been checked, always in sight, and an alarm when it does not hold. */

import { reason, t } from '../strings.js';
import { button, el, icon, PagePart, put } from './dom.js';

/** The key of the badge's words. @param {string} level @param {string | null} code the reason */
export function badgeKey(level, code) {
  // What was proven long ago is not "not proven yet".
  return level === 'amber' && (code === 'old' || code === 'untrusted-age') ? 'badge.old' : `badge.${level}`;
}

export class Badge extends PagePart {
  long = el('span', { class: 'badge-long' });
  brief = el('span', { class: 'badge-brief', 'aria-hidden': 'true' });
  element = el('button', { type: 'button', class: 'badge', 'data-level': 'amber', title: t('badge.open'), on: { click: () => this.page.dock.toggle('proof') } },
    icon('proof'), this.long, this.brief);
  alarmText = el('p', { class: 'alarm-detail' });
  alarm = el('div', { class: 'alarm', role: 'alert', hidden: true },
    el('strong', null, t('alarm.title')), this.alarmText, el('p', null, t('alarm.next')),
    el('p', { class: 'row' },
      button({ text: t('alarm.servers'), click: () => this.page.dock.show('servers') }),
      button({ text: t('alarm.details'), click: () => this.page.dock.show('proof') })));
  level = '';

  update() {
    const { proof, status } = this.page.client;
    const closed = status.phase !== 'open';
    const level = proof.level !== 'red' && closed ? 'amber' : proof.level;
    const values = {
      height: proof.of ?? status.height ?? 0, signed: proof.signed, members: proof.members,
      reason: closed && level !== 'red' ? t('reason.connecting') : reason(proof),
    };
    this.element.dataset.level = level;
    const key = badgeKey(level, closed ? null : proof.reason);
    const said = { long: t(key, values), brief: t(`${key}.short`, values) };
    const { stale } = this.page;
    this.element.toggleAttribute('data-stale', stale);
    put(this.long, stale ? t('badge.stale', { said: said.long }) : said.long);
    put(this.brief, stale ? t('badge.stale.short', { said: said.brief }) : said.brief);
    if (level === 'red') put(this.alarmText, [reason(proof), proof.detail].filter(Boolean).join(': '));
    if (level !== this.level) {
      this.level = level;
      this.alarm.hidden = level !== 'red';
      document.body.classList.toggle('alarmed', level === 'red');
      document.body.style.setProperty('--alarm', `${this.alarm.offsetHeight}px`);
    }
  }
}
