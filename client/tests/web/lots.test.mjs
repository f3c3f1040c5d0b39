// What the page says of the ground on which one stands, and what it offers there.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { t } from '../../web/strings.js';
import { groundHere } from '../../web/ui/lots.js';
import { emptyDocument } from './elements.mjs';

/** A lot around a place, 8 m wide and 6 m deep. */
const lot = (more) => ({ lot: 3, name: 'garden', holder: 'Bob', own: false, lets: false, x: 10, y: 0, hx: 4, hy: 3, angle: 0, round: false, ...more });

/** The section as it is for who stands there; `at` is null for who is not in the world. */
function standing(at, lots) {
  const asked = [];
  const client = {
    me: at && 1, lots, sight: { at: () => at },
    claimLot: (...fields) => asked.push(fields), returnLot: (...fields) => asked.push(fields),
  };
  const box = emptyDocument();
  const ground = groundHere({ client, toasts: { watch: (what) => asked.push(what) } });
  box.append(ground.element);
  ground.update();
  const [claim, back] = box.all('button');
  return { asked, claim, back, line: box.all('p')[0].textContent, hidden: ground.element.hidden };
}

test('ground that nobody took can be claimed', () => {
  const { asked, claim, back, line } = standing({ x: 5.5, y: 0 }, [lot()]);
  assert.equal(line, t('lot.none'));
  assert.deepEqual([claim.hidden, back.hidden], [false, true]);
  claim.click();
  assert.deepEqual(asked, [[5.5, 0, 8], 'claim']);
});

test('only an own lot can be returned', () => {
  const at = { x: 13, y: -2.5 };
  const own = standing(at, [lot({ lot: 2, x: -10 }), lot({ own: true })]);
  assert.equal(own.line, t('lot.own', { name: 'garden' }));
  assert.deepEqual([own.claim.hidden, own.back.hidden], [true, false]);
  own.back.click();
  assert.deepEqual(own.asked, [[3], 'return']);

  for (const [key, lets] of [['lot.other', false], ['lot.lets', true]]) {
    const { claim, back, line } = standing(at, [lot({ lets })]);
    assert.equal(line, t(key, { name: 'garden', holder: 'Bob' }));
    assert.deepEqual([claim.hidden, back.hidden], [true, true]);
  }
});

test('whose lot it is counts as the word of the server', () => {
  for (const key of ['lot.none', 'lot.own', 'lot.lets', 'lot.other']) assert.match(t(key), /by the server\u2019s word/);
  assert.match(t('proof.how.words'), /whose lot is where .*the server\u2019s word/);
});

test('who is not in the world stands on no ground', () => {
  const { asked, claim, hidden } = standing(null, [lot()]);
  assert.equal(hidden, true);
  claim.click();
  assert.deepEqual(asked, [[NaN, NaN, 8], 'claim']);
});
