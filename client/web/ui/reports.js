/** Reports: what people tell moderators of a person or a thing, and what moderators decide. */

import { t } from '../strings.js';
import { button, el, field, fill } from './dom.js';
import { ask, askOrder, mayModerate, settle } from './moderate.js';

/** Asks what is wrong with a person or a thing, and tells moderators. @param {Page} page @param {string} name @param {{object?: number, key?: string, private?: number}} about */
export function report(page, name, about) {
  const words = el('input', { type: 'text', maxlength: '200', required: true });
  ask(t('report.title', { name }), [field(t('report.words'), words, t('report.words.hint'))], () => settle(page, page.client.fileReport(about.object, about.key, about.private, words.value.trim()), t('report.filed')));
}

/** The reports that somebody may read: one's own, and for moderators all that are open. @param {any[]} all @param {boolean} moderates */
export const readable = (all, moderates) => all.filter(({ own, open }) => own || moderates && open);

/** The list of reports, with what may be done about them. @param {Page} page */
export function reportList(page) {
  const list = el('ul', { class: 'order' });

  /** @param {any} each @param {boolean} moderates */
  function row({ report: number, text, own, open }, moderates) {
    const reason = el('input', { type: 'text', maxlength: '120', 'aria-label': t('moderate.reason'), placeholder: t('moderate.reason') });
    const decide = (/** @type {string} */ label, /** @type {string} */ ruling) => moderates && button({ text: label, class: 'small', click: () => askOrder(page, label, [], () => ({ verb: 'decide', report: number, ruling, reason: reason.value.trim() }), show) });
    return el('li', null, text, open && el('p', { class: 'row' },
      moderates && reason, decide(t('report.uphold'), 'upheld'), decide(t('report.dismiss'), 'dismissed'),
      own && button({ text: t('report.withdraw'), class: 'small', click: () => settle(page, page.client.withdrawReport(number), t('moderate.done')).then(show) })));
  }

  async function show() {
    const moderates = mayModerate(await page.client.person());
    const rows = readable(await page.client.reports(), moderates).map((each) => row(each, moderates));
    fill(list, ...(rows.length ? rows : [el('li', { class: 'quiet' }, t('report.none'))]));
  }
  return { element: list, show };
}
