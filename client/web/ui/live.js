/** A script as it runs in the sim: what it logs and uses, and where it fails, while one looks. */

import { t, why } from '../strings.js';
import { button, el, fill, put } from './dom.js';
import { newsOf, waiting } from './trial.js';

/** The watch that is under way: the replica has room for one. */
let stop = () => {};

/** @param {import('../main.js').Page} page @param {{object: number, script: number}} entry */
export function liveOf(page, { object, script }) {
  const state = el('p', { class: 'quiet', role: 'status' });
  const news = newsOf(t('live.lines'));
  const element = el('section', { class: 'stack live', hidden: true }, state, news.lines, news.gas);
  const go = button({ text: t('live'), click: () => (element.hidden ? begin() : stop()) });

  function begin() {
    stop();
    for (const part of [news.lines, news.gas]) fill(part);
    element.hidden = false;
    element.scrollIntoView?.({ block: 'nearest' });
    put(go, t('live.end'));
    put(state, t('try.begins'));
    const trial = page.client.watchScript(object, script, { waits: (replica) => put(state, waiting(replica)), told, failed });
    stop = () => {
      trial.end();
      element.hidden = true;
      put(go, t('live'));
      stop = () => {};
    };
  }

  /** @param {import('../../shapes.js').TrialReport} report */
  function told(report) {
    // Its panel shows another thing by now.
    if (!element.isConnected) return stop();
    put(state, t(report.over ? 'live.over' : 'live.runs', { at: report.at.toFixed(0) }));
    news.take(report, (_, text) => el('span', null, text));
  }

  const failed = (/** @type {any} */ error) => put(state, t('live.lost', { why: why(error) }));
  return { element, button: go };
}
