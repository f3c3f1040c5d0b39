// @ts-check
/** Things ask people, whisper to them and make sounds. */

import assert from 'node:assert/strict';

import { setting } from '../harness/journey.mjs';
import { t } from '../harness/tab.mjs';

const journey = setting({ servers: 1, template: 'meadow' });

/** Touches a thing, and gives the card on which it asks. @param {import('../harness/tab.mjs').Tab} tab @param {number} thing @param {string} name */
async function asked(tab, thing, name) {
  await tab.read((page, id) => page.touch(id), thing);
  const card = tab.page.getByRole('region', { name: t('ask.from', { name }), exact: true });
  await card.waitFor();
  return card;
}

journey('a vote is asked for in a line, and given with a button', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada' });
  const box = await ada.thing('vote box');
  const shows = (/** @type {string} */ words) => ada.until(`the box shows ${words}`,
    (page, [id, text]) => page.client.sight.objects.get(id)?.text === text, /** @type {const} */ ([box.id, words]));
  await ada.walkTo(box.id);

  const question = await asked(ada, box.id, 'vote box');
  await question.getByRole('button', { name: t('ask.send'), exact: true }).click();
  await ada.page.getByText(t('ask.empty', { field: 'The question' })).waitFor();
  await question.getByRole('textbox', { name: 'The question', exact: true }).fill('More trees?');
  await ada.picture('ask-line');
  await question.getByRole('button', { name: t('ask.send'), exact: true }).click();
  await shows('More trees? yes 0, no 0');

  const vote = await asked(ada, box.id, 'vote box');
  await ada.picture('ask-choices');
  await vote.getByRole('button', { name: 'Yes', exact: true }).click();
  await shows('More trees? yes 1, no 0');
  assert.equal(await vote.count(), 0);

  // Whoever does not want to be asked is asked no more.
  await (await asked(ada, box.id, 'vote box')).getByRole('button', { name: t('ask.mute'), exact: true }).click();
  await ada.read((page, id) => page.touch(id), box.id);
  await ada.read((page) => page.client.say('a line after the touch'));
  await ada.page.getByText('a line after the touch').first().waitFor();
  assert.equal(await vote.count(), 0);
});

journey('the shepherd speaks first, to the newcomer alone', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada' });
  const bo = await open(plaza.address(0), { name: 'Bo' });
  await ada.walkTo((await ada.thing('shepherd')).id);
  const line = ada.page.getByRole('log').getByText(`Welcome, ${ada.name}!`);
  await line.waitFor();
  assert.match((await line.textContent()) ?? '', new RegExp(t('chat.you')));
  assert.equal(await bo.page.getByText(`Welcome, ${ada.name}!`).count(), 0);
});

journey('a thing that makes a sound is heard where sounds are on, and shows a note elsewhere', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada' });
  const bed = await ada.thing('flower bed');
  await ada.walkTo(bed.id);
  await ada.read((page) => page.picture.bubbles.clear());
  // Over the thanks of the bed no note would be seen.
  await ada.read((page, id) => page.touch(id), bed.id);
  await ada.until('the bed says thanks', (page, id) => page.picture.bubbles.get(id)?.text.startsWith('Thank you'), bed.id);
  await ada.read((page) => page.picture.bubbles.clear());
  await ada.read((page, id) => page.touch(id), bed.id);
  await ada.until('a note is over the bed', (page, id) => page.picture.bubbles.get(id)?.text === '\u266a', bed.id);

  await ada.read((page) => page.set('sounds', true));
  await ada.read((page, id) => page.touch(id), bed.id);
  await ada.until('the water splashes', (page) => page.sounds.playing > 0);
  await ada.until('the sound has ended', (page) => page.sounds.playing === 0);
});

journey('a newcomer takes five first steps, and is not shown them again', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada' });
  const card = ada.page.getByRole('region', { name: t('steps'), exact: true });
  const taken = (/** @type {number} */ n) => ada.until(`${n} stars`, (_, many) => document.querySelectorAll('.steps li.taken').length === many, n);
  await card.waitFor();
  await ada.picture('steps');
  const oak = await ada.thing('old oak');
  await ada.walkTo(oak.id);
  await taken(1);
  const bed = await ada.thing('flower bed');
  await ada.walkTo(bed.id);
  await ada.read((page, id) => page.touch(id), bed.id);
  await taken(2);
  await ada.read((page) => page.emote('wave'));
  await taken(3);
  // What was taken is kept.
  await ada.page.reload();
  await ada.here();
  await taken(3);

  const sign = await ada.thing('vote box');
  await ada.read((page, id) => page.select(id), sign.id);
  await ada.page.getByRole('button', { name: t('script.read'), exact: true }).first().click();
  await taken(4);
  await ada.read((page) => page.toasts.watch('place', page.client.build.place({ kind: 'block', name: 'block', w: 1, color: 0xc8964b, movable: false, x: 3, y: -6 })));
  await ada.page.getByText(t('steps.all')).waitFor();
  await card.waitFor({ state: 'hidden' });
  await ada.page.reload();
  await ada.here();
  assert.ok(await card.isHidden());
});
