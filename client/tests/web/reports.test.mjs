// Reports: who reads which, and what is sent.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { t } from '../../web/strings.js';
import { readable, reportList } from '../../web/ui/reports.js';
import { withDialogs } from './elements.mjs';

const drained = () => new Promise((resolve) => setTimeout(resolve));

test('people read their own reports, and moderators all that are open', () => {
  const [own, other, done] = [
    { report: 1, own: true, open: false }, { report: 2, own: false, open: true }, { report: 3, own: false, open: false },
  ];
  assert.deepEqual(readable([own, other, done], false), [own]);
  assert.deepEqual(readable([own, other, done], true), [own, other]);
});

test('a ruling is shown with what it would do before it is given, and the list is asked for anew then', async () => {
  const box = withDialogs();
  const [given, asked] = [[], []];
  const client = {
    person: async () => ({ admin: true, rights: [] }), reports: async () => (asked.push('reports'), [{ report: 7, text: 'Pest shouts', own: false, open: true }]),
    would: async (order) => ({ does: `uphold report ${order.report}`, refusal: null, acts: 1 }), govern: async (order) => (given.push(order), { ok: true }),
  };
  const { element, show } = reportList({ client, toasts: { say: () => {} } });
  await show();
  const [[reason], [uphold]] = [element.all('input'), element.all('button')];
  assert.equal(uphold.textContent, t('report.uphold'));
  reason.value = ' loud ';
  uphold.click();
  await drained();
  assert.ok(box.textContent.includes(t('would.does', { does: 'uphold report 7' })), box.textContent);
  assert.deepEqual(given, []);
  box.all('form')[0].listeners.submit({ preventDefault: () => {} });
  await drained();
  assert.deepEqual([given, asked.length], [[{ verb: 'decide', report: 7, ruling: 'upheld', reason: 'loud' }], 2]);
});
