/** The map of the world that a sim lies in: a node tells it, the module proves it. And the way to a sim on it. */
import { askHttp, askSession } from './carriers.js';

/** Servers of a sim that are asked before one is taken. */
const ASKED_MAX = 4;
/** The time after which a map may have changed, in milliseconds. */
export const OLD_MS = 24 * 3_600_000;

/** Asks a node of this world, and has its proofs opened. @param {string} http @param {string} path @param {MapParts} parts */
async function proved(http, path, { sim, world, module }) {
  const [about, told] = await Promise.all(['/api/world?', path].map(async (of) => (await askHttp(http, `${of}sim=${sim}`)).json()));
  if (about.world !== world) throw Object.assign(new Error('another world'), { code: 'other-map' });
  return { ...module.proveMap({ world, office: about.office, links: about.links, proofs: told.proofs ?? [told.proof] }), told };
}

/** Asks a node for the map as far as it knows it. @param {string} http @param {MapParts} parts @returns {Promise<{sites: Site[], oldest: number|null, door: boolean}>} `door`: all members that the node knows are in one network */
export async function askMap(http, parts) {
  const { told, squares, oldest } = await proved(http, '/api/world/map?', parts);
  const said = new Map(told.sites.map((/** @type {any} */ site) => [site.sim, site]));
  return { oldest, door: told.one_door === true, sites: squares.map((/** @type {any} */ square) => withWords(square, said.get(square.sim) ?? {})) };
}

/** Looks up who owns a site's ground now, and where: rejects where another sim does, and a proof from before the map. @param {string} http @param {Site} site @param {MapParts} parts @param {number} seen the time of the map */
export async function askOwner(http, site, parts, seen) {
  const { told, squares, oldest } = await proved(http, `/api/world/find?x=${site.x}&y=${site.y}&`, parts);
  const own = squares.find((/** @type {Site} */ { x, y, sim }) => sim === site.sim && x === site.x && y === site.y);
  if (!own || (oldest ?? 0) < seen) throw Object.assign(new Error('another sim is there'), { code: own ? 'old-owner' : 'not-owner' });
  return withWords(own, { ...site, endpoints: told.endpoints });
}

/** @param {any} square @param {any} words what its servers say @returns {Site} */
function withWords(square, { label = null, people = null, licence = null, met = false, endpoints = [] }) {
  const at = endpoints.flatMap((/** @type {{http: string|null}} */ { http }) => (http && URL.canParse(http) ? [new URL(http).origin] : []));
  return { ...square, label, people, licence, met, at: [...new Set(at)] };
}

/**
 * Finds the server of a site that answers first and has room; one without is the last that is taken.
 * @param {Pick<Site, 'sim' | 'at'>} site
 * @returns {Promise<{origin: string, lets: boolean}>} whether it lets pages of this origin in; rejects where none answers
 */
export async function fastest({ sim, at }) {
  const [some, full] = [at.slice(0, ASKED_MAX), new Set()];
  try {
    return await Promise.any(some.map(async (origin) => {
      if ((await askSession(origin, sim)).room === false) throw full.add(origin);
      return { origin, lets: true };
    }));
  } catch {
    // A server that does not know this page's origin may still be there: its own page enters it.
    return Promise.any(some.filter((origin) => !full.has(origin)).map((origin) => fetch(`${origin}/health/ready`, { mode: 'no-cors', credentials: 'omit', signal: AbortSignal.timeout(5_000) }).then(() => ({ origin, lets: false })))).catch(() => {
      if (full.size > 0) return { origin: [...full][0], lets: true };
      throw Object.assign(new Error('no server answers'), { code: 'no-answer' });
    });
  }
}

/**
 * The address of a sim: of this page where its server lets it in, so that the person keeps the key.
 * @param {{sim: string, origin: string, lets: boolean}} there @param {string} here the origin of this page
 * @param {boolean} folder is this page a folder of files, which has no addresses of sims?
 */
export function addressOf({ sim, origin, lets }, here, folder) {
  if (origin === here) return `/w/${sim}`;
  return lets && !folder ? `/w/${sim}?node=${encodeURIComponent(origin)}` : `${origin}/w/${sim}`;
}
