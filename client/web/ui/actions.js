/** The row of things to do now: act on what is in reach, push, gestures, talk, build. */

import GESTURES from '../draw/gestures.json' with { type: 'json' };
import { t } from '../strings.js';
import { button, el, icon, onEscape, outline, put } from './dom.js';
import { inReach } from './near.js';

export class Actions {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.words = el('span', { class: 'act-words' });
    this.key = el('kbd', null, 'E');
    this.main = el('button', { type: 'button', class: 'act-button', on: { click: () => page.act() } }, icon('act'), this.words, this.key);
    this.emotes = el('div', { class: 'emotes', role: 'group', 'aria-label': t('act.emote'), hidden: true },
      ...Object.entries(GESTURES).map(([kind, drawn], i) => el('button', {
        type: 'button', class: 'emote', 'aria-label': t(`emote.${kind}`), title: `${t(`emote.${kind}`)} (${i + 1})`,
        on: { click: () => { page.emote(kind); this.toggleEmotes(false); } },
      }, outline(drawn))));
    this.emoteButton = button({ icon: 'emote', label: t('act.emote'), class: 'round-button', 'aria-expanded': 'false', click: () => this.toggleEmotes() });
    onEscape(this.emotes, () => this.toggleEmotes(false));
    this.element = el('div', { class: 'actions', role: 'group', 'aria-label': t('act.emote') },
      this.emotes, this.main, this.emoteButton, page.chat.button,
      button({ icon: 'home', label: t('act.home'), class: 'round-button', click: () => page.toasts.watch('home', page.client.goHome()) }),
      button({ icon: 'build', label: t('act.build'), class: 'round-button build-button', click: () => page.dock.toggle('build') }));
  }

  toggleEmotes(on = this.emotes.hidden) {
    const had = this.emotes.contains(document.activeElement);
    this.emotes.hidden = !on;
    this.emoteButton.setAttribute('aria-expanded', String(on));
    if (on) this.emotes.querySelector('button')?.focus();
    else if (had) this.page.canvas.focus({ preventScroll: true });
  }

  /** Shows what E would do now. */
  update() {
    const found = inReach(this.page);
    this.page.picture.near = found?.thing.id ?? null;
    const text = found ? t(`act.${found.act}.what`, { name: found.thing.name }) : t('act.none');
    put(this.words, text);
    this.main.disabled = !found;
    this.key.hidden = !found;
  }
}
