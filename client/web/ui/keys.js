/** One's key: shown, taken from elsewhere, sealed, given up for another one, and got back by friends. */

import { Identity, randomSecret } from '../core/keys.js';
import { sealing } from '../core/work.js';
import { t } from '../strings.js';
import { button, el, field, fill, part, put, save, word } from './dom.js';
import { keyTaker } from './entry.js';
import { settle } from './moderate.js';
import { qr } from './qr.js';
import { copied } from './source.js';
import { telling } from './toast.js';

/** Random bytes that a seal takes. */
const SEAL_RANDOM = 40;

const line = (/** @type {string} */ label, more = {}) => {
  const input = el('input', { type: 'text', ...more });
  return { input, element: field(t(label), input) };
};
const secretField = (/** @type {string} */ label) => line(label, { type: 'password', maxlength: '1024', autocomplete: 'off' });

/** A button for something that may fail, and where it says so. @param {string} label @param {() => Promise<unknown>} act */
function doing(label, act) {
  const bad = el('p', { class: 'bad', role: 'alert' });
  return el('div', { class: 'stack' }, bad, button({ text: t(label), click: () => (put(bad, ''), telling(bad, act)) }));
}

/** @param {Page} page */
export function keyBox(page) {
  const { identity } = page;
  const shown = el('div', { class: 'stack' });
  const toggle = button({
    text: t('settings.key.show'),
    click: async () => {
      const hide = shown.firstChild !== null;
      put(toggle, t(hide ? 'settings.key.show' : 'settings.key.hide'));
      if (hide) return fill(shown);
      const text = identity.export();
      fill(shown, qr(text, t('settings.key.qr')), el('code', { class: 'key' }, text), button({ icon: 'copy', text: t('copy'), click: () => copied(page, text) }));
    },
  });
  return el('section', { class: 'stack' }, el('h3', null, t('settings.key')), el('p', { class: 'quiet' }, t('settings.key.how')),
    el('p', null, identity?.kept === false ? t('phase.key', { why: t(`store.${identity.why}`) }) : t('settings.key.kept')),
    toggle, shown, part(t('settings.key.import'), {}, keyTaker((text, passphrase) => page.useKey(text, passphrase))), sealed(page), givenUp(page), ownFriends(page), ofFriends(page));
}

/** Writes the key into a file that a passphrase opens. @param {Page} page */
function sealed({ identity, loaded }) {
  const [passphrase, again] = [secretField('key.passphrase'), secretField('key.passphrase.again')];
  return part(t('key.seal'), {}, el('p', { class: 'quiet' }, t('key.seal.how')), passphrase.element, again.element, doing('key.seal.do', async () => {
    if (!passphrase.input.value || passphrase.input.value !== again.input.value) throw new Error(t('key.passphrase.differ'));
    const { secret, rotation } = identity;
    const { text } = await sealing(loaded.compiled, { do: 'seal', secret, rotation, passphrase: passphrase.input.value, random: randomSecret(SEAL_RANDOM) });
    save(new Blob([text], { type: 'text/plain' }), `metatopia-${identity.public.slice(0, 8)}.sealed`);
  }));
}

/** Gives the key up for a new one. @param {Page} page */
function givenUp({ identity, store }) {
  return part(t('key.rotate'), {}, el('p', { class: 'quiet' }, t('key.rotate.how')), doing('key.rotate.do', async () => {
    if (!store.kept) throw new Error(t('key.rotate.unkept'));
    // The old key shows its own document to sims that have not seen it.
    save(new Blob([identity.export()], { type: 'text/plain' }), `metatopia-${identity.public.slice(0, 8)}.old-key`);
    await Identity.keep(store, identity.desk('rotate', { rotation: identity.rotation, random: randomSecret() }));
    location.reload();
  }));
}

/** Names friends who get the key back if it is lost. @param {Page} page */
function ownFriends(page) {
  const { client, identity } = page;
  const [told, people] = [el('ul'), el('div')];
  const [more, need] = [line('key.friends.more'), line('key.friends.need', { type: 'number', min: '1', max: '8', value: '2' })];
  async function show() {
    const [{ lines }, players] = await Promise.all([client.friends(), client.players()]).catch(() => [{ lines: [] }, []]);
    fill(told, ...lines.map((text) => el('li', null, text)));
    fill(people, ...players.filter(({ key }) => key !== identity.public).map(({ key, name }) => el('label', { class: 'switch' }, el('input', { type: 'checkbox', value: key }), el('span', null, name))));
  }
  return part(t('key.friends'), { toggle: show }, el('p', { class: 'quiet' }, t('key.friends.how')), told, word(), people, more.element, need.element, doing('key.friends.do', async () => {
    const checked = [...people.querySelectorAll('input')].filter(({ checked }) => checked).map(({ value }) => value);
    const keys = [...checked, ...more.input.value.split(/[\s,]+/).filter(Boolean)];
    if (keys.length === 0) throw new Error(t('key.friends.none'));
    await settle(page, client.nameFriends(keys, Number(need.input.value)), t('key.friends.done')).then(show);
  }), button({ text: t('key.friends.stop'), class: 'small danger', click: () => settle(page, client.nameFriends([], 0), t('key.friends.stopped')).then(show) }));
}

/** Vouches for a friend's new key, or asks friends to vouch for one's own. @param {Page} page */
function ofFriends(page) {
  const [old, text, lost] = [line('key.vouch.old'), line('key.vouch.text'), line('key.ask.old')];
  const shown = el('div', { class: 'stack' });
  return part(t('key.lost'), {},
    el('p', { class: 'quiet' }, t('key.vouch.how')), old.element, text.element,
    doing('key.vouch.do', () => settle(page, page.client.vouch(old.input.value, text.input.value), t('key.vouch.done'))),
    el('p', { class: 'quiet' }, t('key.ask.how')), lost.element, doing('key.ask.do', async () => {
      const { text: asked } = page.identity.desk('ask', { old: lost.input.value });
      fill(shown, el('code', { class: 'key' }, asked), button({ icon: 'copy', text: t('copy'), click: () => copied(page, asked) }));
    }), shown);
}
