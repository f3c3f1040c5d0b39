/** A newcomer's first steps: five things to try, each with a star. */

import { keep, recall } from '../core/store.js';
import { t } from '../strings.js';
import { button, el, PagePart } from './dom.js';
import { TONES } from './sounds.js';

/** Where it is kept which steps were taken. */
const KEPT = 'metatopia.steps';

/** The words of each step, and the acts or panels that take it. */
const STEPS = {
  'step.walk': ['walk'], 'step.push': ['push', 'touch'], 'step.talk': ['say', 'emote'], 'step.build': ['place'], 'step.read': ['source'],
};

/** Metres that are a walk. */
const WALK = 3;

/** Milliseconds for which the last star is shown. */
const LAST_MS = 8000;

export class Steps extends PagePart {
  /** The steps that were taken; null for somebody who is no newcomer. @type {string[] | null} */
  taken = recall(KEPT);
  /** Where one was first. @type {Spot | null} */
  from = null;

  /** @param {Page} page */
  constructor(page) {
    super(page);
    const thumbs = matchMedia('(pointer: coarse)').matches;
    this.rows = new Map(Object.keys(STEPS).map((step) => [step, el('li', null, step === 'step.walk' && thumbs ? t('step.walk.touch') : t(step))]));
    this.title = el('h2', null, t('steps'));
    this.element = el('section', { class: 'steps', 'aria-label': t('steps'), 'aria-live': 'polite', hidden: true },
      el('header', null, this.title, button({ icon: 'close', label: t('close'), class: 'icon-button', click: () => this.end() })),
      el('ol', null, ...this.rows.values()));
    page.toasts.addEventListener('done', (/** @type {any} */ event) => this.take(event.detail));
    this.show();
  }

  /** Somebody is here for the first time. */
  begin() {
    this.taken = [];
    this.show();
  }

  end() {
    this.taken = Object.keys(STEPS);
    keep(KEPT, this.taken);
    this.show();
  }

  show() {
    const { taken, rows } = this;
    this.element.hidden = taken === null || taken.length === rows.size;
    const next = [...rows.keys()].find((step) => !taken?.includes(step));
    for (const [step, row] of rows) row.className = taken?.includes(step) ? 'taken' : step === next ? 'next' : '';
  }

  /** Looks whether one walked, or reads a source. */
  update() {
    const { client, dock } = this.page;
    if (this.element.hidden || client.me === null) return;
    const at = client.sight.known(client.me);
    this.from ??= at;
    if (at && this.from && Math.hypot(at.x - this.from.x, at.y - this.from.y) > WALK) this.take('walk');
    if (dock.open !== null) this.take(dock.open);
  }

  /** @param {string} what an act that was let pass, or a panel that is open */
  take(what) {
    const step = Object.entries(STEPS).find(([, ways]) => ways.includes(what))?.[0];
    if (!this.taken || !step || this.taken.includes(step)) return;
    this.taken.push(step);
    keep(KEPT, this.taken);
    const all = this.taken.length === this.rows.size;
    const { ambience, sounds } = this.page;
    if (ambience.on) sounds.play(ambience.context(), all ? TONES.fanfare : TONES.chime, 2 * this.taken.length, 0, 0);
    this.show();
    if (!all) return;
    this.title.textContent = t('steps.all');
    this.element.hidden = false;
    setTimeout(() => this.show(), LAST_MS);
  }
}
