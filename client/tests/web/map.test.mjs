// The map of a world: what is proved, what its servers say, and the way to another sim.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';

import { addressOf, askMap, askOwner, fastest } from '../../web/core/world-map.js';

const SIM = '5e'.repeat(32);
const WORLD = '0f'.repeat(32);
const real = globalThis.fetch;
afterEach(() => (globalThis.fetch = real));

/** Answers by the beginning of a path; a text is an error. @param {Record<string, any>} answers */
function serve(answers) {
  const asked = [];
  globalThis.fetch = async (url) => {
    const path = String(url);
    asked.push(path);
    const found = Object.entries(answers).find(([start]) => path.startsWith(start));
    if (!found || typeof found[1] === 'string') throw new TypeError(found?.[1] ?? 'nobody is there');
    return { ok: true, json: async () => found[1] };
  };
  return asked;
}

const square = { x: 0, y: 0, side: 256, sim: SIM, holder: 'ab'.repeat(32), shown: 9 };
const about = { world: WORLD, office: '00', links: '11' };

/** A module that proves this. @param {any} proved */
const proving = (proved) => ({ proveMap: (/** @type {any} */ told) => ({ ...proved, told }) });

test('squares come from the proofs alone, and only words from what the servers say', async () => {
  const site = { sim: SIM, label: 'garden', people: 3, licence: 'MIT', met: true, x: 99, holder: 'me', endpoints: [{ http: 'http://a:1/w/x' }, { http: 'http://a:1' }, { http: null }, { http: 'no address' }] };
  const other = { ...site, sim: 'cc'.repeat(32), label: 'invented' };
  const asked = serve({ 'http://n/api/world/map': { sites: [site, other], proofs: ['aa'], one_door: true }, 'http://n/api/world': about });
  const { sites, oldest, door } = await askMap('http://n', { sim: SIM, world: WORLD, module: proving({ squares: [square], oldest: 7 }) });
  assert.deepEqual([oldest, door], [7, true]);
  assert.deepEqual(sites, [{ ...square, label: 'garden', people: 3, licence: 'MIT', met: true, at: ['http://a:1'] }]);
  assert.ok(asked.every((path) => path.endsWith(`?sim=${SIM}`)), String(asked));
});

test('a node of another world than the genesis names is refused', async () => {
  serve({ 'http://n/api/world/map': { sites: [], proofs: [] }, 'http://n/api/world': { ...about, world: SIM } });
  await assert.rejects(askMap('http://n', { sim: SIM, world: WORLD, module: proving({ squares: [], oldest: null }) }), { code: 'other-map' });
});

// The page went where the map of some minutes ago had told it, to servers that had moved, or to land of another sim.
test('who goes somewhere looks the owner up, with its proof, and takes the servers of now', async () => {
  const site = { ...square, x: -8, label: 'garden', people: 3, licence: 'MIT', met: true, at: ['http://old'] };
  const asked = serve({ 'http://n/api/world/find': { proof: 'aa', endpoints: [{ http: 'http://a:1/w/x' }] }, 'http://n/api/world': about });
  const owner = (/** @type {any} */ squares, seen = 7) => {
    /** @type {any} */
    const module = { proveMap: ({ proofs }) => (assert.deepEqual(proofs, ['aa']), { squares, oldest: 7 }) };
    return askOwner('http://n', site, { sim: WORLD, world: WORLD, module }, seen);
  };
  const now = { ...square, x: -8, holder: 'cd'.repeat(32) };
  assert.deepEqual(await owner([square, now]), { ...site, holder: now.holder, at: ['http://a:1'] });
  assert.ok(asked.includes(`http://n/api/world/find?x=-8&y=0&sim=${WORLD}`), String(asked));
  await assert.rejects(owner([now], 8), { code: 'old-owner' }, 'a node that hides the last change is asked in vain');
  for (const squares of [[], [square], [{ ...now, sim: WORLD }]]) await assert.rejects(owner(squares), { code: 'not-owner' });
});

test('of at most four servers the first that answers is taken', async () => {
  const asked = serve({ 'http://b': { sim: SIM }, 'http://a': 'away' });
  const at = ['http://a', 'http://b', 'http://c', 'http://d', 'http://e'];
  assert.deepEqual(await fastest({ sim: SIM, at }), { origin: 'http://b', lets: true });
  assert.ok(!asked.some((path) => path.startsWith('http://e')));
});

test('a server that has no room is the last that is taken: it may make room', async () => {
  serve({ 'http://a': { sim: SIM, room: false }, 'http://b': { sim: SIM, room: true } });
  assert.deepEqual(await fastest({ sim: SIM, at: ['http://a', 'http://b'] }), { origin: 'http://b', lets: true });
  assert.deepEqual(await fastest({ sim: SIM, at: ['http://a', 'http://c'] }), { origin: 'http://a', lets: true });
});

test('a server that lets no pages of this origin in is entered by its own page', async () => {
  globalThis.fetch = async (url, { mode }) => {
    if (mode !== 'no-cors') throw new TypeError('blocked');
    return { ok: false };
  };
  assert.deepEqual(await fastest({ sim: SIM, at: ['http://a'] }), { origin: 'http://a', lets: false });
  serve({});
  await assert.rejects(fastest({ sim: SIM, at: ['http://a'] }), { code: 'no-answer' });
});

test('the own page goes along where it may, so that the person keeps the key', () => {
  const [here, there] = ['http://a', 'http://b'];
  const to = (/** @type {any} */ change, folder = false) => addressOf({ sim: SIM, origin: there, lets: true, ...change }, here, folder);
  assert.equal(to({ origin: here }), `/w/${SIM}`);
  assert.equal(to({}), `/w/${SIM}?node=${encodeURIComponent(there)}`);
  assert.equal(to({ lets: false }), `${there}/w/${SIM}`);
  assert.equal(to({}, true), `${there}/w/${SIM}`);
});
