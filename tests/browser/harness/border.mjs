// @ts-check
/** A border between two sims, one east of the other: the world around it, who walks over it, and what frames show of her. */

/** What stands on both sides of the line, as each sim has it on both of its edges: trees along it, and a lamp post. */
const GROVES = [-1, 1].map((side) => `
[[object]]
kind = "tree"
name = "poplar"
places = [${[-9, -5, 5, 9].map((y) => `[${side * 122}, ${y}]`).join(', ')}]
disc = "0.7"
color = "5c8a45"

[[object]]
kind = "sign"
name = "milestone"
places = [[${side * 121}, 3]]
disc = "0.25"
color = "f5f0e6"
text = "To the border."
`).join('');

/** Two sims side by side, in which people come in some 60 m before the line. */
export const SIDE_BY_SIDE = {
  servers: 1, grid: '2x1', template: 'meadow', rule: 'work',
  place: (/** @type {string} */ text) => `${text.replace('spawn = [0, 0]', 'spawn = [68, 0]').replace('spawn_radius = 4', 'spawn_radius = 1')}${GROVES}`,
};

/** Milliseconds for the way to the line, 60 m at the pace of avatars, and a rest. */
const WAY = 60_000;

/** Views come later by at most so many milliseconds. */
const LATER_MAX = 800;

/** Looks at each frame from now on. @param {import('./tab.mjs').Tab} tab */
const film = (tab) => tab.read((page) => {
  page.film = [];
  const look = (/** @type {number} */ now) => {
    requestAnimationFrame(look);
    const { client, renderer } = page;
    const at = client.me === null ? null : client.sight.at(client.me, now);
    const ahead = page.border.ahead;
    const lantern = [...page.picture.sight.objects.values()].find(({ name }) => name === 'lantern');
    page.film.push({
      now, at: performance.timeOrigin + now, sim: client.sim, off: client.sight.predictor.offset, gap: ahead?.border.gap ?? null,
      // The same on both sides: what the ground is painted in.
      x: at && at.x + renderer.origin.x, vx: at?.vx ?? 0,
      drawn: renderer.placed.some((/** @type {any} */ { id }) => id === client.me),
      lantern: lantern !== undefined && renderer.placed.some((/** @type {any} */ { id }) => id === lantern.id),
      beyond: [...page.picture.sight.objects.keys()].filter((id) => id < 0).length,
      proved: ahead?.engine.proof.level === 'green',
    });
  };
  requestAnimationFrame(look);
});

/** Looks in each frame from now on where this tab draws somebody. @param {import('./tab.mjs').Tab} tab @param {string} key */
const filmOther = (tab, key) => tab.read((page, who) => {
  page.film = [];
  const look = (/** @type {number} */ now) => {
    requestAnimationFrame(look);
    const drawn = page.renderer.placed.filter((/** @type {any} */ { thing }) => thing.player === who);
    page.film.push({ at: performance.timeOrigin + now, times: drawn.length, x: drawn.length ? drawn[0].at.x + page.renderer.origin.x : null });
  };
  requestAnimationFrame(look);
}, key);

/**
 * Holds what another one sees against what she sees herself.
 * @param {any[]} own her frames @param {any[]} others frames of the other one
 * @returns {{frames: number, nowhere: number, twice: number, later: number, p95: number, most: number, found: number[]}} by how many milliseconds views come later, and metres, also of each frame
 */
export function compared(own, others) {
  const frames = others.filter(({ at }) => at >= own[0].at + LATER_MAX && at <= own[own.length - 1].at);
  // Where she saw herself then, between two frames.
  const was = (/** @type {number} */ time) => {
    const i = own.findIndex(({ at }) => at >= time);
    const [a, b] = [own[i - 1], own[i]];
    return a.x + (b.x - a.x) * (time - a.at) / (b.at - a.at);
  };
  const errors = (/** @type {number} */ later) => frames.filter(({ x }) => x !== null).map(({ at, x }) => Math.abs(x - was(at - later))).sort((a, b) => a - b);
  const of = (/** @type {number[]} */ sorted, /** @type {number} */ percent) => sorted[Math.ceil(sorted.length * percent / 100) - 1];
  const tries = Array.from({ length: LATER_MAX / 10 }, (_, n) => n * 10);
  const total = (/** @type {number} */ later) => errors(later).reduce((sum, error) => sum + error, 0);
  const later = tries.map((time) => ({ time, sum: total(time) })).sort((a, b) => a.sum - b.sum)[0].time;
  const found = errors(later);
  return { frames: frames.length, nowhere: frames.filter(({ times }) => times === 0).length, twice: frames.filter(({ times }) => times > 1).length, later, p95: of(found, 95), most: of(found, 100), found };
}

/**
 * What the frames since the last look show.
 * @param {import('./tab.mjs').Tab} tab
 */
export async function developed(tab) {
  const frames = /** @type {any[]} */ (await tab.read((page) => page.film.splice(0)));
  const switched = frames.findIndex((frame, i) => i > 0 && frame.sim !== frames[i - 1].sim);
  const jumps = frames.slice(1).map((frame, i) => {
    const before = frames[i];
    const way = (before.vx + frame.vx) / 2 * ((frame.now - before.now) / 1_000);
    return frame.x === null || before.x === null ? Infinity : Math.abs(frame.x - before.x - way);
  });
  const proved = frames.find(({ proved, beyond }) => proved && beyond > 0);
  return {
    all: frames, frames: frames.length, missing: frames.filter(({ drawn }) => !drawn).length,
    dark: frames.filter(({ lantern }) => !lantern).length,
    off: switched < 0 ? null : Math.hypot(frames[switched].off.x, frames[switched].off.y),
    jump: Math.max(...jumps.slice(Math.max(0, switched - 60), switched + 60)),
    gap: proved?.gap ?? null,
  };
}

/** Walks over the line. @param {import('./tab.mjs').Tab} tab @param {string} key @param {string} sim where to */
export async function over(tab, key, sim) {
  await tab.page.keyboard.down(key);
  await tab.until(`she is in ${sim}`, (page, wanted) => page.client.sim === wanted, sim, WAY);
  await tab.until('she walks on', (page) => Math.abs(page.client.sight.at(page.client.me, performance.now()).x) < 122);
  await tab.page.keyboard.up(key);
}

/** Walks to the east until she is so far from the middle of her sim. @param {import('./tab.mjs').Tab} tab @param {number} metres */
async function ahead(tab, metres) {
  await tab.page.keyboard.down('d');
  await tab.until('near the border', (page, wanted) => page.client.sight.at(page.client.me, performance.now()).x > wanted, metres, WAY);
  await tab.page.keyboard.up('d');
}

/** Goes ahead, and looks on from beside the way of who comes. @param {import('./tab.mjs').Tab} tab */
export async function stand(tab) {
  await ahead(tab, 119);
  await tab.page.keyboard.down('s');
  await tab.until('he stands aside', (page) => page.client.sight.at(page.client.me, performance.now()).y < -3, undefined, WAY);
  await tab.page.keyboard.up('s');
}

/** Makes a lantern and takes it in hand; is it there? @param {import('./tab.mjs').Tab} tab @returns {Promise<boolean>} */
export const light = (tab) => tab.read(async (page) => {
  const at = page.client.sight.at(page.client.me, performance.now());
  // Somebody or something may stand at the first places that she tries.
  const around = [[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, -1]];
  let made;
  for (const [x, y] of around) {
    const spec = { kind: 'lantern', name: 'lantern', color: 0xffc857, round: true, w: 0.3, x: at.x + x, y: at.y + y };
    if (!made) made = (await page.client.build.place(spec)).made;
  }
  await page.client.build.letTravel(made, true);
  return (await page.client.build.take(made)).ok;
});

/** Comes near the line, with every frame looked at. @param {import('./tab.mjs').Tab} tab */
export async function approach(tab) {
  await film(tab);
  await ahead(tab, 124);
  await tab.page.getByText('m to the east: sim-1-0').waitFor();
}

/** Has another one look at each frame too, from now on. @param {import('./tab.mjs').Tab} tab who walks @param {import('./tab.mjs').Tab} other who looks on */
export async function filmBoth(tab, other) {
  await filmOther(other, /** @type {string} */ (await tab.read((page) => page.identity.public)));
  // So long that the first of the other's frames have one of hers before them.
  await tab.until('both are filmed', (page, most) => page.film.length > 0 && page.film[page.film.length - 1].at - page.film[0].at > 2 * most, LATER_MAX);
}
