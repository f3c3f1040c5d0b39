// What the page offers at a thing of one's own.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { t } from '../../web/strings.js';
import { ownTools } from '../../web/ui/own.js';
import { emptyDocument } from './elements.mjs';

/** The tools of a thing, and what was asked of the core by them. */
function toolsOf(more) {
  const asked = [];
  const page = {
    group: { travel: (...fields) => asked.push(fields) },
    client: { joints: more.joints ?? [], sight: { at: () => ({ x: 1, y: 2, angle: 0 }) }, build: { unjoin: (...fields) => asked.push(fields) } },
    toasts: { watch: (what) => asked.push(what) },
  };
  const thing = { id: 7, name: 'lantern', text: '', look: { color: 1 }, round: true, hx: 0.2, hy: 0.2, movable: true, travels: false, ...more };
  const box = emptyDocument();
  box.append(...ownTools(page, thing));
  return { asked, named: (key) => box.all('button').find((button) => button.textContent === t(key)) };
}

test('a thing that can be pushed is let travel, and kept again', () => {
  const stays = toolsOf({ travels: false });
  stays.named('own.travel').click();
  assert.deepEqual(stays.asked, [[7, true]]);
  assert.equal(stays.named('own.stay'), undefined);

  const travels = toolsOf({ travels: true });
  travels.named('own.stay').click();
  assert.deepEqual(travels.asked, [[7, false]]);
  assert.equal(travels.named('own.travel'), undefined);
});

test('nothing is said of travelling at a thing that cannot be pushed', () => {
  const { named } = toolsOf({ movable: false });
  assert.equal(named('own.travel') ?? named('own.stay'), undefined);
});

test('what a joint holds is freed, and nothing else', () => {
  const joined = toolsOf({ joints: [{ a: 7, b: 9, kind: 'hinge' }] });
  joined.named('own.unjoin').click();
  assert.deepEqual(joined.asked, [[7], 'unjoin']);
  assert.equal(toolsOf({ joints: [{ a: null, b: 9, kind: 'hinge' }] }).named('own.unjoin'), undefined);
});
