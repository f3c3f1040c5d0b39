// @ts-check
/** The badge: what has been checked, always in sight, and an alarm when it does not hold. */

import { reason, t } from '../strings.js';
import { button, el, icon, put } from './dom.js';

export class Badge {
  /** @param {import('../main.js').Page} page */
  constructor(page) {
    this.page = page;
    this.long = el('span', { class: 'badge-long' });
    this.brief = el('span', { class: 'badge-brief', 'aria-hidden': 'true' });
    this.element = el('button', { type: 'button', class: 'badge', 'data-level': 'amber', title: t('badge.open'), on: { click: () => page.dock.toggle('proof') } },
      icon('proof'), this.long, this.brief);
    this.alarmText = el('p', { class: 'alarm-detail' });
    this.alarm = el('div', { class: 'alarm', role: 'alert', hidden: true },
      el('strong', null, t('alarm.title')), this.alarmText, el('p', null, t('alarm.next')),
      el('p', { class: 'row' },
        button({ text: t('alarm.servers'), click: () => page.dock.show('servers') }),
        button({ text: t('alarm.details'), click: () => page.dock.show('proof') })));
    this.level = '';
  }

  update() {
    const { proof, status } = this.page.client;
    const closed = status.phase !== 'open';
    const level = proof.level !== 'red' && closed ? 'amber' : proof.level;
    const values = {
      height: proof.of ?? status.height ?? 0, signed: proof.signed, members: proof.members,
      reason: closed && level !== 'red' ? t('reason.connecting') : reason(proof),
    };
    this.element.dataset.level = level;
    const said = { long: t(`badge.${level}`, values), brief: t(`badge.${level}.short`, values) };
    const stale = this.page.stale && level !== 'reduced';
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
