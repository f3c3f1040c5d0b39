/** What the connection does, said plainly over the picture until all is well. */

import { t, why } from '../strings.js';
import { el, PagePart, put } from './dom.js';
import { isElsewhere } from './elsewhere.js';

/** Milliseconds without a turn after which that is said. */
const SLOW_MS = 2500;

export class Progress extends PagePart {
  static hears = { view: 'view' };
  element = el('div', { class: 'progress', role: 'status', 'aria-live': 'polite' });
  height = -1;
  since = performance.now();

  /** Takes down when turns come. */
  view() {
    const { height } = this.page.client.status;
    if (height !== this.height) this.since = performance.now();
    this.height = height;
  }

  update() {
    put(this.element, this.words());
    this.element.hidden = this.element.textContent === '';
  }

  words() {
    const { client, entering } = this.page;
    const { status } = client;
    if (isElsewhere(status)) return t('elsewhere.short');
    if (status.phase === 'connecting') return t(status.why ? 'phase.retrying' : 'phase.connecting', { server: status.http || location.host, why: why({ code: status.why }) });
    if (status.phase === 'moving') return t(status.alone ? 'phase.alone' : 'phase.moving', { why: why({ code: status.why }) });
    if (status.phase === 'closed') return t('phase.closed', { why: why({ code: status.why }) });
    if (client.watching) return t('phase.aged');
    if (client.told.working) return t('phase.working');
    if (entering) return t('phase.entering');
    const quiet = performance.now() - this.since;
    if (quiet > SLOW_MS && !document.hidden) return t('phase.slow', { seconds: Math.round(quiet / 1000) });
    return status.pending > 3 ? t('pending', { n: status.pending }) : '';
  }
}
