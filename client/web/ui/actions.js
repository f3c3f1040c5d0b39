/** The row of things to do now: act on what is in reach, push, gestures, talk, build. */

import GESTURES from '../draw/gestures.json' with { type: 'json' };
import { t } from '../strings.js';
import { button, el, icon, onEscape, outline, PagePart, put } from './dom.js';
import { inReach } from './near.js';

export class Actions extends PagePart {
  words = el('span', { class: 'act-words' });
  key = el('kbd', null, 'E');
  main = el('button', { type: 'button', class: 'act-button', on: { click: () => this.page.act() } }, icon('act'), this.words, this.key);
  emotes = onEscape(el('div', { class: 'emotes', role: 'group', 'aria-label': t('act.emote'), hidden: true },
    ...Object.entries(GESTURES).map(([kind, drawn], i) => el('button', {
      type: 'button', class: 'emote', 'aria-label': t(`emote.${kind}`), title: `${t(`emote.${kind}`)} (${i + 1})`,
      on: { click: () => { this.page.emote(kind); this.toggleEmotes(false); } },
    }, outline(drawn)))), () => this.toggleEmotes(false));
  emoteButton = button({ icon: 'emote', label: t('act.emote'), class: 'round-button', 'aria-expanded': 'false', click: () => this.toggleEmotes() });
  element = el('div', { class: 'actions', role: 'group', 'aria-label': t('act.emote') },
    this.emotes, this.main, this.emoteButton, this.page.chat.button,
    button({ icon: 'home', label: t('act.home'), class: 'round-button', click: () => this.page.toasts.watch('home', this.page.client.goHome()) }),
    button({ icon: 'build', label: t('act.build'), class: 'round-button build-button', click: () => this.page.dock.toggle('build') }));

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
