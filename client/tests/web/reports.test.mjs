// Reports: who reads which, and what is sent.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readable } from '../../web/ui/reports.js';

test('people read their own reports, and moderators all that are open', () => {
  const [own, other, done] = [
    { report: 1, own: true, open: false }, { report: 2, own: false, open: true }, { report: 3, own: false, open: false },
  ];
  assert.deepEqual(readable([own, other, done], false), [own]);
  assert.deepEqual(readable([own, other, done], true), [own, other]);
});
