// Orders about the sim: what is sent, and that nothing is before it was shown.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

import { has, t } from '../../web/strings.js';
import { areaOf, governOf, sanctionList } from '../../web/ui/govern.js';
import { askOrder } from '../../web/ui/moderate.js';
import { emptyDocument, withDialogs } from './elements.mjs';

const ORDERS = JSON.parse(await readFile(new URL('../../web/ui/orders.json', import.meta.url), 'utf8'));
const drained = () => new Promise((resolve) => setTimeout(resolve));

test('every order about the sim is one that the core knows, with words for it and for its fields', async () => {
  const core = await readFile(new URL('../../wasm/src/core/governing.rs', import.meta.url), 'utf8');
  const [, body] = /enum PageOrder \{(.*?)\n\}/s.exec(core);
  const known = [...body.matchAll(/^ {4}([A-Z]\w+) \{/gm)].map(([, name]) => name.replaceAll(/(?<=.)[A-Z]/g, (letter) => `_${letter}`).toLowerCase());
  for (const [verb, fields] of Object.entries(ORDERS)) {
    assert.ok(known.includes(verb) || governOf(verb, { switch: 'fair', from: '' }).verb === 'set', verb);
    assert.ok(has(`govern.${verb}`), verb);
    for (const name of fields) assert.ok(has(`govern.${name}`) && has(`govern.${name}.hint`) || ['right', 'time', 'value'].includes(name), name);
  }
});

test('what stands in the fields becomes an order in the words of the core', () => {
  assert.deepEqual(areaOf('4 -20, 16 x 8'), { x: 4, y: -20, width: 16, depth: 8 });
  assert.equal(areaOf(' '), null);
  assert.deepEqual(governOf('appoint', { key: ' ab ' }), { verb: 'appoint', key: 'ab' });
  assert.deepEqual(governOf('undo', { key: 'ab', since: '1.5' }), { verb: 'undo', key: 'ab', seconds: 5_400 });
  assert.deepEqual(governOf('grant', { key: 'ab', right: 'land', time: 'ever', area: '' }), { verb: 'grant', key: 'ab', rights: ['land'], seconds: null, area: null });
  assert.deepEqual(governOf('set', { value: 'objects_max', text: ' 4000 ' }), { verb: 'set', name: 'objects_max', value: '4000' });
  assert.deepEqual(governOf('house_rules', { rules: ' Be kind.\n' }), { verb: 'house_rules', text: 'Be kind.' });
  const flag = (from) => governOf('flag', { switch: ' night_market ', from });
  assert.deepEqual(flag(''), { verb: 'set', name: 'flags', value: '+night_market:0' });
  assert.deepEqual(flag(' 90000 '), { verb: 'set', name: 'flags', value: '+night_market:90000' });
  assert.deepEqual(flag('off'), { verb: 'set', name: 'flags', value: '-night_market' });
  assert.throws(() => flag('soon'), { message: t('govern.from.hint') });
  const area = { x: 0, y: 1, width: 2, depth: 3 };
  assert.deepEqual(governOf('land_set', { name: 'market', area: '0 1 2 3', title: 'open' }), { verb: 'land_set', name: 'market', area, title: 'open' });
});

test('an order is shown with what it would do before it is given, and anew once it was changed', async () => {
  const box = withDialogs();
  const [asked, given] = [[], []];
  const client = {
    would: async (order) => (asked.push(order), { does: `kick ${order.key}`, refusal: order.key === 'ada' ? 'Outranked' : null, acts: 2 }),
    govern: async (order) => (given.push(order), { ok: true }),
  };
  let key = 'ada';
  askOrder({ client, toasts: { say: () => {} } }, 'Kick', ['whom'], () => ({ verb: 'kick', key }));
  const [[dialog], [form]] = [box.all('dialog'), box.all('form')];
  const [go] = form.all('button');
  const submit = async () => {
    form.listeners.submit({ preventDefault: () => {} });
    await drained();
  };
  await submit();
  assert.match(form.all('p')[0].textContent, /It would be refused: .*\(It would kick ada\.\)/);
  assert.equal(go.textContent, t('would.show'), 'what is refused is not offered');
  key = 'bob';
  dialog.listeners.input();
  await submit();
  assert.deepEqual([go.textContent, form.all('p')[0].textContent, given], [t('moderate.do'), t('would.does', { does: 'kick bob' }), []]);
  dialog.listeners.change();
  assert.equal(go.textContent, t('would.show'), 'another order is another matter');
  await submit();
  await submit();
  assert.deepEqual(given, [{ verb: 'kick', key }, { verb: 'kick', key }], 'by as many acts as it takes');
  assert.equal(asked.length, 3);
  assert.equal(box.all('dialog').length, 0);
});

test('roles, bans and mutes are listed, each with how long it holds, and moderators end them once it is shown what that does', async () => {
  const box = withDialogs();
  const given = [];
  const person = { key: 'ab'.repeat(32), name: 'Eve', rights: [], areas: [{ right: 'build', area: '2 m x 3 m at 0, 1', left: null }], ban: { left: 7_200_000, reason: 'spam' }, mute: null };
  const client = { people: async () => [person], person: async () => ({ admin: true, rights: [] }), govern: async (order) => (given.push(order), { ok: true }), would: async ({ verb }) => ({ does: `${verb} Eve`, refusal: null, acts: 1 }) };
  const list = sanctionList({ client, toasts: { say: () => {} } });
  await list.show();
  const rows = list.element.all('li').map((row) => row.textContent);
  assert.equal(rows.length, 2);
  assert.match(rows[0], /change things of others, 2 m x 3 m at 0, 1, for good/);
  assert.match(rows[1], /2 h left, spam/);
  list.element.all('button')[0].click();
  await drained();
  assert.ok(box.textContent.includes(t('would.does', { does: 'unban Eve' })), box.textContent);
  assert.deepEqual(given, [], 'it is only shown');
  box.all('form')[0].listeners.submit({ preventDefault: () => {} });
  await drained();
  assert.deepEqual(given, [{ verb: 'unban', key: person.key }]);
});
