// What is seen of rooms from where one stands.
import assert from 'node:assert/strict';
import test from 'node:test';

import { OUTSIDE, Rooms } from '../../web/draw/rooms.js';

const square = (name, west, south, side) => ({
  name, floor: 0x808080, light: 100, sound: 'silent',
  corners: [[0, 0], [side, 0], [side, side], [0, side]].map(([x, y]) => ({ x: west + x, y: south + y })),
});
const at = (x, y) => ({ x, y });

/** Two rooms side by side with a gap between them, a front door in the south of the first, and a third without any. */
function house() {
  const rooms = new Rooms();
  rooms.plan = {
    sectors: [square('hall', 0, 0, 10), square('study', 10, 0, 10), square('cellar', 0, 20, 10)],
    openings: [
      { from: at(10, 4), to: at(10, 6), joins: [0, 1] },
      { from: at(4, 0), to: at(6, 0), joins: [0] },
    ],
  };
  return rooms;
}

test('from inside a room one sees that room, and others only through openings', () => {
  const rooms = house();
  rooms.look(at(5, 5), []);
  assert.equal(rooms.own, 0);
  assert.ok(rooms.shows(at(1, 9)), 'a corner of the own room');
  assert.ok(rooms.shows(at(15, 5)), 'straight through the gap');
  assert.ok(!rooms.shows(at(11, 9)), 'beside the gap');
  assert.ok(rooms.shows(at(5, -5)), 'outside, through the front door');
  assert.ok(!rooms.shows(at(-5, 5)), 'outside, behind a wall');
  assert.ok(!rooms.shows(at(5, 25)), 'a room that nothing opens');
});

test('from outside one sees outside, and into rooms only through openings', () => {
  const rooms = house();
  rooms.look(at(5, -5), []);
  assert.equal(rooms.own, OUTSIDE);
  assert.ok(rooms.shows(at(30, 30)));
  assert.ok(rooms.shows(at(5, 5)), 'through the front door');
  assert.ok(!rooms.shows(at(1, 1)), 'beside the front door');
  assert.ok(!rooms.shows(at(5, 25)));
  rooms.look(at(5, 15), []);
  assert.ok(!rooms.shows(at(5, 5)), 'behind the far wall there is no door');
});

test('one sees through two openings behind one another, and no more than both show', () => {
  const rooms = house();
  rooms.look(at(0.5, -5), []);
  assert.ok(rooms.shows(at(5.2, 1)), 'in the hall');
  assert.ok(rooms.shows(at(10.4, 5)), 'in the study');
  assert.ok(!rooms.shows(at(10.4, 4.1)), 'in the study, behind the wall beside the gap');
});

test('a door in an opening closes the view until it has gone aside', () => {
  const rooms = house();
  const door = (y) => [{ thing: { hx: 1.2, hy: 0.1 }, at: { x: 10, y, angle: Math.PI / 2 } }];
  rooms.look(at(5, 5), door(5));
  assert.ok(!rooms.shows(at(15, 5)));
  rooms.look(at(5, 5), door(7.5));
  assert.ok(rooms.shows(at(15, 5)));
});

test('a place with very many openings behind one another is looked at in bounded time', () => {
  const rooms = new Rooms();
  const row = [0, 1, 2, 3, 4, 5, 6].map((n) => square(`cell ${n}`, n * 10, 0, 10));
  const gaps = row.slice(1).flatMap((_, n) => Array.from({ length: 21 }, () => ({ from: at(n * 10 + 10, 2), to: at(n * 10 + 10, 8), joins: [n, n + 1] })));
  rooms.plan = { sectors: row, openings: gaps };
  rooms.look(at(5, 5), []);
  assert.ok(rooms.pieces && rooms.pieces.length <= 257, `${rooms.pieces?.length} pieces`);
});

test('without an avatar, or without rooms, everything is seen', () => {
  const rooms = house();
  rooms.look(null, []);
  assert.ok(rooms.shows(at(5, 25)));
  const none = new Rooms();
  none.look(at(0, 0), []);
  assert.ok(none.shows(at(5, 25)));
});
