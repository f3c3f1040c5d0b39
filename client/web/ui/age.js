/**
 * The question whether a state is believed that was signed long ago. Who has a newer checkpoint of a
 * friend needs no such belief.
 */

import { checkpointOf } from '../core/fragment.js';
import { t } from '../strings.js';
import { button, el, openDialog, put } from './dom.js';

const DAY_SECONDS = 86_400;

/**
 * Asks once; the answer is told to the client.
 * @param {Page} page @param {number} seconds since the newest signed header
 */
export function askAge(page, seconds) {
  const { client } = page;
  const days = Math.round(seconds / DAY_SECONDS);
  const link = el('input', { type: 'url', value: checkpointOf(location.hash) ? location.href : '', placeholder: t('age.paste'), 'aria-label': t('age.paste') });
  const bad = el('p', { class: 'bad', role: 'alert' });
  const answer = (/** @type {boolean} */ accept) => {
    client.trust(accept);
    dialog.close();
  };
  const follow = async () => {
    const checkpoint = checkpointOf(link.value.split('#')[1] ?? '');
    if (checkpoint === null || !link.value.includes(client.status.sim)) return put(bad, t('age.bad'));
    await page.store.put(`checkpoint/${client.status.sim}`, checkpoint);
    location.reload();
  };
  const dialog = openDialog('age', t('age.title', { days }), [
    el('p', null, t('age.what', { days })), el('p', null, t('age.friend')), link, bad,
    el('p', { class: 'row' },
      button({ text: t('age.use'), class: 'button primary', click: follow }),
      button({ text: t('age.accept'), click: () => answer(true) }),
      button({ text: t('age.refuse'), click: () => answer(false) })),
  ], (event) => event.preventDefault());
  // Whoever answers nothing is asked again: acts wait for it.
  dialog.addEventListener('cancel', (/** @type {Event} */ event) => event.preventDefault());
}
