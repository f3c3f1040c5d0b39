/**
 * The code of the page: who served it, whether this browser keeps it (`sw.js` does), and other code
 * that the server offers. Offered code runs only when a person takes it.
 */

import { keep, recall } from '../core/store.js';
import { t } from '../strings.js';
import { button, el, facts, fill, put } from './dom.js';

/** Where it is noted which offered code was refused. */
const REFUSED = 'metatopia.code.refused';

/** A digest with all its digits. @param {string} code */
const digest = (code) => el('code', { class: 'hex' }, code);

/** Asks a browser's worker to use a code from now on. @param {ServiceWorker} worker @param {string} code @returns {Promise<{ok: boolean, why?: string}>} */
function use(worker, code) {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = (event) => resolve(event.data);
    worker.postMessage({ do: 'use', code }, [port2]);
  });
}

/** Once for each page: the worker, the offer, and what About says of them. */
export class Code {
  /** @param {any} config what the page was told @param {import('./toast.js').Toasts} toasts */
  constructor(config, toasts) {
    this.toasts = toasts;
    [this.assets, this.code, this.version] = [config.assets ?? '', config.code ?? '', config.version ?? ''];
    /** @type {'keeping' | 'kept' | 'past' | 'folder' | 'insecure' | 'unable'} */
    this.state = config.folder ? 'folder' : globalThis.isSecureContext && 'serviceWorker' in navigator ? 'keeping' : 'insecure';
    /** What the worker put into the page; nothing where the page came straight from its server. */
    this.kept = config.kept ?? null;
    this.offered = /** @type {CodeOffer | null} */ (this.kept?.offered ?? null);
    this.busy = false;
    /** A browser that installs pages as apps says so by this event. @type {any} */
    this.prompt = null;
    this.notice = el('section', { class: 'offer', 'aria-labelledby': 'offer-title', hidden: true });
    this.about = el('section', { class: 'stack', 'aria-labelledby': 'code-title' });
    window.addEventListener('beforeinstallprompt', (event) => {
      event.preventDefault();
      this.prompt = event;
      this.show();
    });
    if (this.offered && recall(REFUSED) !== this.offered.code) this.#offer(this.offered);
    this.show();
  }

  /** Lets the worker keep the code, once the page itself is there. */
  start() {
    if (this.state !== 'keeping') return;
    setTimeout(() => this.#keep().catch((error) => this.#become('unable', String(error?.message ?? error))), 500);
  }

  async #keep() {
    const container = navigator.serviceWorker;
    const script = new URL(`${this.assets}/sw.js`, location.href).href;
    const known = await container.getRegistration();
    const register = () => container.register(script, { scope: '/', updateViaCache: 'all' });
    if (known?.active) {
      this.#become(this.kept ? 'kept' : 'past');
      // The worker of the very code that runs, and not one of a code that nobody took. Until it is there
      // the one before does the same.
      const renew = this.kept?.answered && !this.offered && known.active.scriptURL !== script;
      if (renew) register().catch(() => {});
      return;
    }
    const registration = await register();
    const coming = registration.installing;
    coming?.addEventListener('statechange', () => coming.state === 'redundant' && this.#become('unable', t('code.incomplete')));
    await container.ready;
    this.#become('kept');
  }

  /** @param {Code['state']} state @param {string} [why] */
  #become(state, why = '') {
    [this.state, this.why] = [state, why];
    this.show();
  }

  /** @param {CodeOffer} offer */
  #offer(offer) {
    const keeps = button({ text: t('code.keep'), class: 'button primary', click: () => this.refuse() });
    fill(this.notice, el('h2', { id: 'offer-title' }, t('code.offer')), el('p', null, t('code.offer.how')),
      ...this.#choice(offer, [[t('code.used'), digest(this.code)]], keeps));
    this.notice.hidden = false;
  }

  /** Says what is offered, how taking it goes, and has it taken. @param {CodeOffer} offer @param {[string, Node][]} known before @param {...Node} others buttons before */
  #choice(offer, known = [], ...others) {
    const work = el('p', { class: 'quiet', role: 'status' });
    return [facts([...known, [t('code.offered'), digest(offer.code)], [t('code.version'), offer.version]]), work,
      el('p', { class: 'row' }, ...others, button({ text: t('code.take'), click: () => this.take(work) }))];
  }

  /** Goes on with the code that is used. */
  refuse() {
    // Without storage it is asked again at the next load.
    keep(REFUSED, this.offered?.code);
    this.notice.hidden = true;
    this.toasts.say(t('code.refused'));
    this.show();
  }

  /** Uses the offered code, once all of it is here and is what its digest says. @param {HTMLElement} work says how it goes */
  async take(work) {
    const worker = (await navigator.serviceWorker.getRegistration())?.active;
    if (this.busy || !this.offered || !worker) return;
    this.busy = true;
    put(work, t('code.taking'));
    const { ok, why } = await use(worker, this.offered.code);
    this.busy = false;
    if (ok) return location.reload();
    put(work, t('code.wrong', { why: why ?? '' }));
  }

  /** Fills what About says. */
  show() {
    const { origin } = location;
    fill(this.about,
      el('h3', { id: 'code-title' }, t('code.title')),
      el('p', null, t('code.who', { origin })),
      facts([[t('code.digest'), digest(this.code)], [t('code.version'), this.version]]),
      el('p', null, t(`code.state.${this.state}`, { why: this.why ?? '' })),
      this.kept?.answered === false && el('p', null, t('code.alone', { origin })),
      this.offered && el('div', { class: 'card' }, el('p', null, t('code.other')), ...this.#choice(this.offered)),
      el('p', null, el('a', { href: `${this.assets}/files.txt`, target: '_blank', rel: 'noopener' }, t('code.list')), ' ', t('code.check')),
      el('p', null, t('code.folder')), el('code', { class: 'key' }, `metatopia page export DIR --node ${origin}`),
      this.prompt && el('p', null, button({ icon: 'download', text: t('code.install'), click: () => this.#install() })));
  }

  async #install() {
    const { prompt } = this;
    this.prompt = null;
    await prompt.prompt();
    this.show();
  }
}
