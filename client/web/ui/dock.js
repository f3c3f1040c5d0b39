/**
 * Where panels live: a column of buttons and one panel beside it on wide screens, a menu and a sheet
 * from below on phones. A panel is made when it is first opened.
 */

import { t } from '../strings.js';
import { button, el, fill, icon, onEscape, put } from './dom.js';
import { telling } from './toast.js';

export class Dock {
  /** @param {Page} page @param {Record<string, (page: any) => Panel>} makers */
  constructor(page, makers) {
    [this.page, this.makers] = [page, makers];
    this.panels = /** @type {Map<string, Panel>} */ (new Map());
    this.open = /** @type {string | null} */ (null);
    this.buttons = /** @type {Map<string, HTMLElement>} */ (new Map());
    this.cause = /** @type {HTMLElement | null} */ (null);

    this.bar = el('div', { class: 'dock-bar', role: 'toolbar', 'aria-label': t('panels') });
    for (const id of ['near', 'people', 'map', 'build', 'order', 'proof', 'servers', 'governance', 'share', 'settings', 'about']) {
      const name = t(`panel.${id}`);
      const made = el('button', {
        type: 'button', class: 'dock-button', 'aria-label': name, 'aria-expanded': 'false', 'aria-controls': 'panel', title: name,
        on: { click: () => this.toggle(id) },
      }, icon(id), el('span', { class: 'dock-name' }, name));
      this.buttons.set(id, made);
      this.bar.append(made);
    }
    this.menu = button({ icon: 'menu', label: t('menu'), class: 'round-button dock-menu', 'aria-expanded': 'false', click: () => this.toggleMenu() });
    this.heading = el('h2', { id: 'panel-title', tabindex: '-1' });
    // Where there is nothing in it to go to, keys scroll it themselves.
    this.content = el('div', { class: 'panel-content', role: 'group', 'aria-label': t('panel.content') });
    this.panel = el('section', { id: 'panel', class: 'panel', 'aria-labelledby': 'panel-title', hidden: true },
      el('header', { class: 'panel-head' }, this.heading, button({ icon: 'close', label: t('close'), class: 'icon-button', click: () => this.close() })),
      this.content);
    onEscape(this.panel, () => this.close());
    this.panel.addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => this.scroll(event));
    setInterval(() => this.update(), 300);
  }

  /** Leaves out a panel that has nothing to show here. @param {string} id @param {boolean} hidden */
  hide(id, hidden) {
    const made = this.buttons.get(id);
    if (made) made.hidden = hidden;
  }

  toggleMenu(on = !this.bar.classList.contains('shown')) {
    this.bar.classList.toggle('shown', on);
    this.menu.setAttribute('aria-expanded', String(on));
    if (on) this.bar.querySelector('button')?.focus();
  }

  /** @param {string} id */
  toggle(id) {
    if (this.open === id) this.close();
    else this.show(id);
  }

  /** @param {string} id @param {any} [detail] */
  show(id, detail) {
    const same = this.open === id;
    if (!same) {
      if (this.open === null) this.cause = /** @type {HTMLElement | null} */ (document.activeElement);
      this.hideOpen();
    }
    let panel = this.panels.get(id);
    if (!panel) this.panels.set(id, (panel = this.makers[id](this.page)));
    this.open = id;
    document.body.dataset.panel = id;
    this.toggleMenu(false);
    this.buttons.get(id)?.setAttribute('aria-expanded', 'true');
    panel.show?.(detail);
    if (panel.parts) fill(panel.body ??= el('div', { class: 'stack' }), ...panel.parts());
    this.load(panel);
    put(this.heading, panel.title ?? t(`panel.${id}`));
    if (!same) {
      fill(this.content, panel.body);
      this.content.scrollTop = 0;
      this.panel.hidden = false;
      document.body.classList.add('with-panel');
      this.heading.focus({ preventScroll: true });
    }
    this.page.layout();
  }

  /** @param {Panel} panel */
  load(panel) {
    panel.asked = performance.now();
    return panel.load && telling(/** @type {HTMLElement} */ (panel.state), panel.load);
  }

  hideOpen() {
    if (this.open === null) return;
    this.buttons.get(this.open)?.setAttribute('aria-expanded', 'false');
    const panel = this.panels.get(this.open);
    this.open = null;
    panel?.hide?.();
    // What is drawn anew keeps nothing, such as a key that was shown.
    if (panel?.parts) panel.body?.replaceChildren();
  }

  close() {
    this.hideOpen();
    this.panel.hidden = true;
    document.body.dataset.panel = '';
    document.body.classList.remove('with-panel');
    this.page.layout();
    if (this.cause?.isConnected && this.cause !== document.body) this.cause.focus({ preventScroll: true });
    else this.page.canvas.focus({ preventScroll: true });
  }

  /** A panel that was just opened has the focus in its heading, above what scrolls. @param {KeyboardEvent} event */
  scroll(event) {
    const { content } = this;
    if (event.target !== this.heading) return;
    const page = content.clientHeight * 0.9;
    const by = { ArrowDown: 40, ArrowUp: -40, PageDown: page, PageUp: -page, End: content.scrollHeight, Home: -content.scrollHeight }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    content.scrollBy({ top: by });
  }

  update() {
    if (!this.open || document.hidden) return;
    const panel = this.panels.get(this.open);
    panel?.update?.();
    if (panel?.every && performance.now() - (panel.asked ?? 0) > panel.every) this.load(panel);
    const { content } = this;
    // A place to stop at only where there is more than fits, and not while somebody is there.
    const scrolls = content.scrollHeight > content.clientHeight || content === document.activeElement;
    if (scrolls) content.tabIndex = 0;
    else content.removeAttribute('tabindex');
  }
}
