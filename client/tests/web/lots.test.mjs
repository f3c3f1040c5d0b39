// What the page says of the ground on which one stands, and what it offers there.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { t } from '../../web/strings.js';
import { Minimap } from '../../web/draw/minimap.js';
import { DAY } from '../../web/draw/light.js';
import { groundHere, pointOutLots } from '../../web/ui/lots.js';
import { emptyDocument } from './elements.mjs';

/** A lot around a place, 8 m wide and 6 m deep. */
const lot = (more) => ({ lot: 3, name: 'garden', holder: 'Bob', own: false, lets: false, friends: [], x: 10, y: 0, hx: 4, hy: 3, angle: 0, round: false, ...more });

/** The section as it is for who stands there; `at` is null for who is not in the world. */
function standing(at, lots, things = []) {
  const asked = [];
  const client = {
    me: at && 1, lots, sight: { at: () => at, objects: new Map(things.map((thing) => [thing.id, thing])) },
    players: async () => [{ key: 'me', name: 'Ada' }, { key: 'bob', name: 'Bob' }],
    clubs: async () => [{ club: 5, name: 'Rowers', invited: null }, { club: 6, name: 'Choir', invited: { name: 'Bob' } }],
    orderLot: (...fields) => asked.push(fields), claimLot: (...fields) => asked.push(fields), returnLot: (...fields) => asked.push(fields),
  };
  const box = emptyDocument();
  const ground = groundHere({ client, identity: { public: 'me' }, toasts: { watch: (what) => asked.push(what) } });
  box.append(ground.element);
  ground.update();
  const [claim, back] = box.all('button');
  return { asked, claim, back, line: box.all('p')[0].textContent, hidden: ground.element.hidden, orders: box.all('details')[0] };
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

test('a holder names a lot, lets people or a club build or gives it to them, and sends things home', async () => {
  const stranger = { id: 8, name: 'wall', owner: 'bob' };
  const things = [stranger, { id: 9, name: 'mine', owner: 'me' }, { id: 1, name: 'Bob', player: 'bob', owner: 'bob' }];
  const at = { x: 13, y: -2.5 };
  const { asked, orders } = standing(at, [lot({ own: true, friends: [{ key: 'eve', name: 'Eve' }] })], things);
  assert.equal(orders.hidden, false);
  const [verb, whom] = orders.all('select');
  const [name] = orders.all('input');
  const [give] = orders.all('button');
  for (const [word, choices, order] of [
    ['name', [], { verb: 'name', name: 'yard' }], ['open', ['bob'], { verb: 'open', to: 'bob' }], ['give', ['bob'], { verb: 'give', to: 'bob' }],
    ['shut', ['eve'], { verb: 'shut', to: 'eve' }], ['send_home', ['8'], { verb: 'send_home', object: 8 }],
    ['open_club', ['5'], { verb: 'open_club', club: 5 }], ['shut_club', [], { verb: 'shut_club' }],
  ]) {
    verb.choose(word);
    await new Promise((resolve) => setTimeout(resolve));
    assert.deepEqual(whom.children.map(({ value }) => value), choices, word);
    [whom.value, name.value] = [choices[0], ' yard '];
    asked.length = 0;
    give.click();
    assert.deepEqual(asked, [[3, order], 'lot']);
  }
  assert.equal(standing(at, [lot()]).orders.hidden, true, 'another one\u2019s lot');
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

test('the small map shows lots in the colour of whose they are, and says whose one points at', () => {
  const painted = [];
  const ctx = {
    setTransform: () => {}, strokeRect: () => {},
    fillRect(...place) {
      painted.push([this.fillStyle, ...place]);
    },
  };
  const [told, listeners] = [[], {}];
  const canvas = { clientWidth: 58, getContext: () => ctx, addEventListener: (type, call) => (listeners[type] = call) };
  const minimap = new Minimap(canvas);
  const lots = [lot({ own: true }), lot({ lot: 4, name: 'yard', x: 0, lets: true }), lot({ lot: 5, name: 'field', x: -10 })];
  pointOutLots({ map: canvas, minimap, client: { lots }, toasts: { say: (text) => told.push(text) } });
  const picture = { palette: DAY, lots, me: null, sight: { objects: new Map() } };
  minimap.draw(picture, { x: 2, y: 1, ratio: 1, view: () => ({ west: 0, south: 0, east: 1, north: 1 }) }, null, 0);
  assert.deepEqual(painted.slice(1), [['#7ee2a866', 6, -3, 8, 6], ['#58c4ff66', -4, -3, 8, 6], ['#e9c46a66', -14, -3, 8, 6]]);
  // A metre is a pixel here, and (2, 1) is in the middle of the map.
  const at = (x, y) => ({ offsetX: 29 + x - 2, offsetY: 29 - y + 1 });
  listeners.pointermove(at(10, 0));
  assert.equal(canvas.title, t('map.lot.own', { name: 'garden' }));
  listeners.pointermove(at(10, 3.5));
  assert.equal(canvas.title, '', 'nobody has that ground');
  for (const x of [0, -10, 20]) listeners.click(at(x, -2.5));
  assert.deepEqual(told, [t('map.lot.lets', { name: 'yard', holder: 'Bob' }), t('map.lot.other', { name: 'field', holder: 'Bob' })]);
});
