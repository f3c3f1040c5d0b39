/** What people say of themselves: a line, pronouns and a picture. One's own is kept by this browser, signed by the core. */

import { keep, recall } from '../core/store.js';
import { t } from '../strings.js';
import { button, el, field, fileButton, fill, PagePart, save } from './dom.js';
import { settle } from './moderate.js';

const KEPT = 'metatopia.profile';
/** Points of a side of the picture, and what it may take; people of one question, and how long answers are good. */
const [SIDE, BYTES_MAX, ASKED_MAX, GOOD_MS] = [96, 8192, 32, 60_000];

/** The middle of an image as a small JPEG, in base 64. @param {Blob} file */
async function scaled(file) {
  const image = await createImageBitmap(file);
  const side = Math.min(image.width, image.height);
  const canvas = el('canvas', { width: SIDE, height: SIDE });
  canvas.getContext('2d').drawImage(image, (image.width - side) / 2, (image.height - side) / 2, side, side, 0, 0, SIDE, SIDE);
  return [0.9, 0.7, 0.4, 0.1].map((quality) => canvas.toDataURL('image/jpeg', quality).split(',')[1]).find((text) => text.length * 3 <= BYTES_MAX * 4) ?? '';
}

export class Profiles extends PagePart {
  static hears = { profile: 'take' };
  text = recall(KEPT) ?? '';
  own = /** @type {Profile | null} */ (null);
  /** What people say, and when it was asked. @type {Map<string, {at: number, profile: Profile | null}>} */
  known = new Map();
  editor = el('div', { class: 'stack' });

  /** @param {{profile: Profile}} told one's own, as it is from now on */
  take({ profile }) {
    [this.own, this.text] = [profile, profile.text ?? ''];
    this.known.delete(profile.key);
    keep(KEPT, this.text);
    if (this.editor.isConnected) this.edit();
  }

  /** Shows a sim that one comes into what one says of oneself, if it knows none or an older one. */
  greet = () => this.page.client.setProfile(this.text, {}).catch(() => {});
  /** @param {{line?: string, pronouns?: string, picture?: string}} change */
  set = (change) => settle(this.page, this.page.client.setProfile(this.text, change).then((result) => result ?? { ok: true }), t('profile.done'));

  /** Takes a profile from a file: one's own, from another browser. @param {Blob} file */
  async #open(file) {
    const found = await this.page.client.readProfile(await file.text()).catch(() => null);
    if (!found?.own) return this.page.toasts.say(t('profile.bad'), 'bad');
    this.take({ profile: found });
    this.greet();
  }

  /** Fills the editor with what one says of oneself. */
  async edit() {
    // One that another key signed is nobody's here.
    const kept = this.text && !this.own ? await this.page.client.readProfile(this.text).catch(() => null) : null;
    if (kept?.own) this.own = kept;
    const { own } = this;
    const [line, pronouns] = [[160, own?.line], [32, own?.pronouns]].map(([maxlength, value]) => el('input', { type: 'text', maxlength, value: value ?? '' }));
    const show = (/** @type {Blob} */ file) => scaled(file).then((picture) => this.set({ picture }), () => this.page.toasts.say(t('profile.picture.bad'), 'bad'));
    fill(this.editor, el('p', { class: 'quiet' }, t('profile.how')), field(t('profile.line'), line), field(t('profile.pronouns'), pronouns),
      button({ text: t('profile.set'), class: 'button primary', click: () => this.set({ line: line.value, pronouns: pronouns.value }) }),
      el('p', { class: 'row' }, own?.image && el('img', { class: 'portrait', src: own.image, alt: t('profile.own') }), fileButton(t('profile.picture'), 'image/*', show),
        own?.picture && button({ text: t('profile.picture.none'), click: () => this.set({ picture: '' }) })),
      el('p', { class: 'row' }, own && button({ icon: 'download', text: t('profile.save'), click: () => save(new Blob([this.text], { type: 'text/plain' }), KEPT) }),
        fileButton(t('profile.open'), '', (file) => this.#open(file)),
        own && button({ text: t('profile.clear'), class: 'button danger', click: () => this.set({ line: '', pronouns: '', picture: '' }) })));
  }

  /** Learns what these people say, once a minute, and what their pictures show. @param {string[]} keys */
  async learn(keys) {
    const asked = keys.filter((key) => !(performance.now() - (this.known.get(key)?.at ?? -GOOD_MS) < GOOD_MS)).slice(0, ASKED_MAX);
    const found = /** @type {Profile[]} */ (asked.length === 0 ? [] : await this.page.client.profiles(asked).catch(() => []));
    for (const key of asked) {
      const [profile, before] = [found.find((each) => each.key === key) ?? null, this.of(key)];
      if (profile?.picture) profile.image = (before?.picture === profile.picture && before.image) || (await this.page.client.portrait(key, profile.picture).catch(() => null));
      this.known.set(key, { at: performance.now(), profile });
    }
  }

  /** What is known of somebody. @param {string} key */
  of = (key) => this.known.get(key)?.profile ?? null;
}
