// Several things at once: how they are chosen, changed together, and kept as files.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { PALETTE } from '../../web/ui/palette.js';
import { kindOf } from '../../web/draw/things.js';
import { has, t } from '../../web/strings.js';
import { GROUP_MAX, Group } from '../../web/ui/group.js';
import { Tools } from '../../web/ui/tools.js';
import { emptyDocument } from './elements.mjs';

const ME = 'ada';

/** A page with these things, whose acts are let pass unless a test says otherwise. */
function stage(things, { grid = 0.1, outcome = () => ({ ok: true }) } = {}) {
  emptyDocument();
  const objects = new Map(things.map(({ id, owner = ME, ...thing }) => [id, {
    id, owner, kind: 'block', name: `thing ${id}`, text: '', look: { color: 0x112233 }, round: false, hx: 0.5, hy: 0.5, movable: false, licence: 'CcBySa', ...thing,
  }]));
  const asked = [];
  const said = [];
  const act = (what) => async (...fields) => {
    asked.push([what, ...fields]);
    return outcome(what, ...fields);
  };
  const page = {
    identity: { public: ME }, settings: { grid }, dock: { open: null, close: () => {} },
    picture: { ghosts: [], held: null, box: null, group: new Set(), handles: false, selected: null, look: { x: 0, y: 0 } },
    toasts: Object.assign(new EventTarget(), { say: (text) => said.push(text), watch: async (what, done) => done }),
    client: {
      me: null, sight: { objects, at: (id) => (objects.has(id) ? { x: 0, y: 0, angle: 0, ...things.find((thing) => thing.id === id).at } : null) },
      build: Object.fromEntries(['move', 'copy', 'color', 'remove', 'place', 'undo', 'unite', 'letTravel', 'rotate', 'resize'].map((what) => [what, act(what)])),
    },
    renderer: { camera: { zoom: 40, ground: (px, py) => ({ x: px, y: py }) }, pick: (px, py) => things.find(({ at }) => Math.hypot(at.x - px, at.y - py) < 0.6)?.id ?? null },
    select: () => {},
  };
  page.group = new Group(page);
  page.tools = new Tools(page);
  return Object.assign(page, { asked, said });
}

const row = (count) => Array.from({ length: count }, (_, i) => ({ id: i + 1, at: { x: i * 2, y: 0, angle: 0 } }));
const drained = () => new Promise((resolve) => setImmediate(resolve));

/** A drag with these keys. */
async function dragged(page, from, to, keys = {}) {
  page.tools.grab(...from, false, keys);
  page.tools.drag(...to);
  const whole = page.tools.drop({ x: to[0], y: to[1], moved: true });
  await drained();
  return whole;
}

test('a click with Shift and a box choose things of one\u2019s own, and nobody else\u2019s', async () => {
  const page = stage([...row(3), { id: 9, owner: 'bob', at: { x: 4, y: 2, angle: 0 } }]);
  page.tools.grab(0, 0, false, { shiftKey: true });
  assert.ok(page.tools.drop({ x: 0, y: 0, moved: false }), 'the click is for nothing else');
  assert.deepEqual([...page.group.ids], [1]);
  await dragged(page, [1, -2], [5, 5], { shiftKey: true });
  assert.deepEqual([...page.group.ids], [1, 2, 3]);
  assert.deepEqual(page.picture.group, new Set([1, 2, 3]));
  page.tools.grab(2, 0, false, { shiftKey: true });
  page.tools.drop({ x: 2, y: 0, moved: false });
  assert.deepEqual([...page.group.ids], [1, 3]);
  assert.ok(page.tools.cancel() && page.group.ids.size === 0, 'Escape chooses none');
  assert.ok(!page.tools.cancel());
});

test('what was selected alone belongs to the group that Shift begins', () => {
  const page = stage(row(2));
  Object.assign(page.picture, { handles: true, selected: 1 });
  page.group.toggle(2);
  assert.deepEqual([...page.group.ids].sort(), [1, 2]);
});

test('a drag moves all that is chosen to the grid, the foremost first, and with Alt makes copies', async () => {
  const page = stage(row(2), { grid: 0.5, outcome: (what) => ({ ok: true, made: what === 'copy' ? 7 : null }) });
  page.group.add([1, 2]);
  await dragged(page, [0.1, 0], [3.2, 0.9]);
  assert.deepEqual(page.asked, [['move', 2, 5, 1], ['move', 1, 3, 1]]);
  page.asked.length = 0;
  await dragged(page, [0, 0], [0, 2], { altKey: true });
  assert.deepEqual(page.asked, [['copy', 1, 0, 2], ['copy', 2, 2, 2]]);
  assert.deepEqual(page.picture.ghosts, []);

  const one = stage(row(1));
  await dragged(one, [0, 0], [1.04, 0], { altKey: true });
  assert.deepEqual(one.asked, [['copy', 1, 1, 0]], 'one thing as well, without choosing it first');
});

test('Shift and an arrow move what is chosen by the grid; without Shift one walks', async () => {
  const page = stage(row(2), { grid: 1 });
  page.group.add([1]);
  assert.equal(page.tools.arrows({ code: 'ArrowUp', shiftKey: false }), false);
  assert.equal(page.tools.arrows({ code: 'ArrowUp', shiftKey: true }), true);
  await drained();
  assert.deepEqual(page.asked, [['move', 1, 0, 1]]);
});

test('acts are sent few at a time, what was refused is told once, and an undo takes all steps of a deed back', async () => {
  const page = stage(row(20), { outcome: (what, id) => (what === 'color' && id === 3 ? { ok: false, refusal: 'OutOfReach' } : { ok: true }) });
  page.group.add(page.client.sight.objects.keys());
  let under = 0;
  let most = 0;
  const { color } = page.client.build;
  page.client.build.color = async (...fields) => {
    under += 1;
    most = Math.max(most, under);
    await drained();
    under -= 1;
    return color(...fields);
  };
  const done = await page.group.color(0xff0000);
  assert.deepEqual([done.length, most], [19, 6]);
  assert.deepEqual(page.said, [t('group.refused', { what: t('what.color'), n: 1, all: 20, why: t('no.OutOfReach') })]);
  page.asked.length = 0;
  await page.group.undo();
  assert.equal(page.asked.length, 16, 'as many as servers remember');
  assert.ok(page.said.includes(t('group.undo.most', { n: 16 })));
  page.asked.length = 0;
  await page.group.undo();
  assert.equal(page.asked.length, 1);
});

test('a group has a most, and what is gone or somebody else\u2019s is in none', () => {
  const page = stage([...row(GROUP_MAX + 5), { id: 900, owner: 'bob', at: { x: 0, y: 9, angle: 0 } }]);
  page.group.add([900, 901]);
  assert.equal(page.group.ids.size, 0);
  page.group.add(page.client.sight.objects.keys());
  assert.equal(page.group.ids.size, GROUP_MAX);
  assert.deepEqual(page.said, [t('group.full', { most: GROUP_MAX })]);
});

test('things become one, and one undo takes them apart', async () => {
  const page = stage(row(3));
  page.group.add([3, 1, 2]);
  await page.group.unite();
  assert.deepEqual(page.asked, [['unite', [3, 1, 2]]]);
  assert.equal(page.group.ids.size, 0);
  page.asked.length = 0;
  await page.group.undo();
  assert.deepEqual(page.asked.map(([what]) => what), ['undo']);
});

test('a thing travels with all of one\u2019s own that is joined to it, and an undo takes all of it back', async () => {
  const page = stage([...row(4), { id: 9, owner: 'bob', at: { x: 0, y: 9, angle: 0 } }]);
  page.client.joints = [{ a: 2, b: 1 }, { a: null, b: 2 }, { a: 3, b: 2 }, { a: 3, b: 9 }, { a: null, b: 4 }];
  await page.group.travel(1, true);
  assert.deepEqual(page.asked, [[1, true], [2, true], [3, true]].map((fields) => ['letTravel', ...fields]));
  page.asked.length = 0;
  await page.group.undo();
  assert.equal(page.asked.length, 3);
});

test('a group is saved as the core writes it, under its name', async () => {
  const page = stage(row(2));
  page.group.add([1, 2]);
  page.client.groupFile = async (name, ids) => ({ text: `${name}: ${ids}` });
  /** @type {Blob[]} */ const files = [];
  const links = [];
  const { createObjectURL } = URL;
  URL.createObjectURL = (file) => (files.push(file), 'data:,');
  // The link that a browser follows to save the file.
  document.body = document.createElement('body');
  document.body.append = (link) => links.push(link) && link.addEventListener('click', () => {});
  try {
    await page.group.save('My Corner!');
  } finally {
    URL.createObjectURL = createObjectURL;
  }
  assert.deepEqual([await files[0].text(), links[0].attributes.download], ['My Corner!: 1,2', 'my-corner.json']);
});

test('there are more than thirty parts with words, each of a kind that is drawn', () => {
  assert.equal(PALETTE.length, 35);
  assert.equal(new Set(PALETTE.map(({ id }) => id)).size, 35);
  for (const { id, kind, w, h, round } of PALETTE) {
    assert.ok(has(`kind.${id}`), id);
    assert.ok(w >= 0.2 && h >= 0.2 && (!round || w === h), id);
    const thing = { kind, hx: w / 2, hy: h / 2, round };
    assert.ok(kind === 'block' || kindOf(thing) === kindOf({ ...thing, hx: 9, hy: 9 }), `${kind} is drawn as anything`);
  }
});

test('what is to be placed begins where nobody stands', () => {
  const crate = { id: 'crate', w: 0.8, h: 0.8, round: false, color: 1 };
  const alone = stage([]);
  alone.tools.begin(crate, () => {});
  assert.deepEqual(alone.tools.spot, { x: 0, y: 1.5 });

  const near = stage([{ id: 3, player: 'bob', hx: 0.3, at: { x: 0.2, y: 1.6, angle: 0 } }]);
  near.tools.begin(crate, () => {});
  assert.deepEqual(near.tools.spot, { x: 0, y: -1.5 });
  assert.deepEqual(near.picture.ghosts.map(({ ok }) => ok), [true]);
});
