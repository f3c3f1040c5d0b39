// @ts-check
/** Walking around a point where four sims meet: she is in one place in each frame, and nothing holds her. */

import assert from 'node:assert/strict';

import { setting } from '../harness/journey.mjs';

/** Metres from the middle of a sim to each of its edges. */
const EDGE = 128;

const journey = setting({
  servers: 1, grid: '2x2', template: 'meadow',
  place: (text) => text.replace('spawn = [0, 0]', 'spawn = [124, 124]').replace('spawn_radius = 4', 'spawn_radius = 1'),
});

/** Rounds around the point. */
const ROUNDS = 3;
/** Milliseconds after which she is looked at although she is not around. */
const WALK_MAX = 20_000;
/** Milliseconds that she may stay where she is although she walks. */
const STUCK_MAX = 1_000;
/** Who moved so many metres does not stay where she is. */
const MOVED = 0.25;

/**
 * Walks around the point by the keys, at a distance of a metre, and looks at each frame.
 * @param {import('../harness/tab.mjs').Tab} tab @param {number} rounds
 */
const walkAround = (tab, rounds) => tab.read((page, [edge, rounds]) => {
  page.film = [];
  const held = new Set();
  const press = (/** @type {string} */ kind, /** @type {string} */ code) => page.canvas.dispatchEvent(new KeyboardEvent(kind, { code, bubbles: true }));
  /** Holds these keys and no others. @param {string[]} keys */
  const hold = (keys) => {
    for (const code of [...held].filter((code) => !keys.includes(code))) held.delete(code) && press('keyup', code);
    for (const code of keys.filter((code) => !held.has(code))) held.add(code) && press('keydown', code);
  };
  /** Keys for the one of eight directions that is next to this one. @param {number} x @param {number} y */
  const keys = (x, y) => {
    const eighth = Math.round(Math.atan2(y, x) / (Math.PI / 4));
    const [east, north] = [Math.cos(eighth * Math.PI / 4), Math.sin(eighth * Math.PI / 4)];
    return [Math.abs(east) < 0.1 ? '' : east > 0 ? 'KeyD' : 'KeyA', Math.abs(north) < 0.1 ? '' : north > 0 ? 'KeyW' : 'KeyS'].filter(Boolean);
  };
  let [turned, last] = [0, /** @type {number | null} */ (null)];
  const look = (/** @type {number} */ now) => {
    const { client, renderer } = page;
    const at = client.me === null ? null : client.sight.at(client.me, now);
    // From the point, on whatever side of it she is: what the ground is painted in is the same everywhere.
    const place = at && { x: at.x + renderer.origin.x - edge, y: at.y + renderer.origin.y - edge };
    const drawn = renderer.placed.filter((/** @type {any} */ { thing }) => thing.player === page.identity.public);
    page.film.push({ now, sim: client.sim, place, times: drawn.length });
    if (place) {
      const far = Math.hypot(place.x, place.y);
      const angle = Math.atan2(place.y, place.x);
      const step = last === null ? 0 : angle - last;
      // Near the point the angle says nothing.
      if (far > 0.3) [turned, last] = [turned + Math.atan2(Math.sin(step), Math.cos(step)), angle];
      page.walked = turned / (2 * Math.PI);
      if (page.walked >= rounds) return hold([]);
      const [x, y] = far > 0.25 ? [place.x / far, place.y / far] : [0, -1];
      const off = Math.max(-1, Math.min(2, far - 1));
      hold(keys(-y - x * off, x - y * off));
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}, /** @type {[number, number]} */ ([EDGE, rounds]));

/** What the frames show. @param {any[]} frames */
function developed(frames) {
  let anchor = frames[0];
  let stuck = 0;
  let where = anchor;
  for (const frame of frames.filter(({ place }) => place)) {
    const moved = Math.hypot(frame.place.x - anchor.place.x, frame.place.y - anchor.place.y);
    if (moved > MOVED) anchor = frame;
    if (frame.now - anchor.now > stuck) [stuck, where] = [frame.now - anchor.now, anchor];
  }
  const sims = frames.filter(({ sim }, i) => i === 0 || sim !== frames[i - 1].sim).map(({ sim }) => sim);
  const far = frames.filter(({ place }) => place).map(({ place }) => Math.hypot(place.x, place.y));
  return {
    frames: frames.length, nowhere: frames.filter(({ place, times }) => !place || times === 0).length, twice: frames.filter(({ times }) => times > 1).length,
    stuck, where: where.place, sims, seconds: (frames[frames.length - 1].now - frames[0].now) / 1_000, far: Math.max(...far.slice(far.findIndex((metres) => metres < 1.2))),
  };
}

/** What the node of a sim says of her: is she known there, and present? @param {import('../harness/tab.mjs').Tab} tab @param {{sim: string, http: string}} place */
const told = (tab, place) => tab.read(async (page, { sim, http }) => {
  const open = [page.client, page.border.ahead?.engine].find((engine) => engine?.sim === sim);
  const engine = open ?? page.border.parts.open({ neighbour: sim, nodes: [http], lookout: null });
  if (!open) engine.start();
  while (engine.status.phase !== 'open') await new Promise(requestAnimationFrame);
  const key = page.identity.public;
  const [{ name }, players] = [await engine.person(key), await engine.players()];
  if (!open) engine.stop();
  return { name, present: players.some((/** @type {any} */ player) => player.key === key) };
}, place);

journey('Ada walks around a point where four sims meet, in one place all the time, and nothing holds her', async ({ plaza, open }) => {
  const ada = await open(plaza.sims[0].http, { name: 'Ada' });
  await ada.page.getByText(/m to the (east|north): sim-/).waitFor();
  await walkAround(ada, ROUNDS);
  await ada.until('she is half around', (page) => page.walked > 0.5);
  await ada.picture('corner');
  await ada.until('she is around, or held', (page, [rounds, most]) => page.walked >= rounds || page.film[page.film.length - 1].now - page.film[0].now > most, [ROUNDS, WALK_MAX]);
  const seen = developed(/** @type {any[]} */ (await ada.read((page) => page.film)));
  const names = seen.sims.map((/** @type {string} */ sim) => plaza.sims.findIndex((place) => place.sim === sim));
  console.log(`${seen.seconds.toFixed(1)} s, ${seen.frames} frames, ${seen.nowhere} without the avatar, ${seen.twice} with two, ${seen.far.toFixed(2)} m from the point at most, through sims ${names}, for ${Math.round(seen.stuck)} ms at ${JSON.stringify(seen.where)}`);
  assert.deepEqual([seen.nowhere, seen.twice], [0, 0]);
  assert.ok(seen.stuck < STUCK_MAX, `she is held for ${Math.round(seen.stuck)} ms at ${JSON.stringify(seen.where)}`);
  assert.ok(names.length > 4 * (ROUNDS - 1) && new Set(names).size === 4, `she was in sims ${names}`);
  for (const [n, sim] of names.slice(1).entries()) assert.notEqual(sim + names[n], 3, 'nobody goes to the sim across the point');

  const last = await ada.read((page) => page.client.sim);
  await ada.until('she is settled', (page) => !page.client.sight.objects.get(page.client.me)?.departed);
  for (const place of plaza.sims) assert.deepEqual(await told(ada, place), { name: 'Ada', present: place.sim === last }, place.sim);
});
