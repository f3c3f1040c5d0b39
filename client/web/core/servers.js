/** The servers of a sim, as far as this tab knows them, and which of them to try next. */
import { askSession } from './carriers.js';

/** Servers that are remembered: as many as vote in a sim at most. */
const SERVERS_MAX = 31;
/** A server that failed is not tried again before this, if there is another. */
const REST_MS = 5_000;
/** Waiting between tries, doubled each time. */
const BACKOFF_MS = [250, 5_000];

/** @param {string} http @returns {string|null} null if that is no address */
const originOf = (http) => (URL.canParse(http) ? new URL(http).origin : null);

export class Servers {
  /** @param {string} origin the first one @param {() => number} now */
  constructor(origin, now) {
    this.now = now;
    /** By their origins. @type {Map<string, Server>} */
    this.known = new Map();
    /** Is it known who votes, and where that is? Then nobody's suggestions are taken. */
    this.learned = false;
    this.add(origin, null, null);
    /** Where this tab began, and where it was let in last: they stay, whoever votes. */
    this.first = originOf(origin);
    this.here = this.first;
    this.tries = 0;
    /** The origin to try before all others. @type {string|null} */
    this.wanted = origin;
  }

  /** @param {string} http @param {string|null} server @param {string|null} quic */
  add(http, server, quic) {
    const origin = originOf(http);
    if (origin === null) return;
    const old = this.known.get(origin);
    const fresh = { http: origin, server, quic, rtt: null, failedAt: -Infinity };
    this.known.set(origin, { ...fresh, ...old, server: server ?? old?.server ?? null, quic });
  }

  /** Where a server says that others are: only places to ask, until {@link learn} tells who votes. @param {unknown} origins */
  suggest(origins) {
    if (!Array.isArray(origins)) return;
    for (const http of origins) {
      if (this.known.size >= SERVERS_MAX) return;
      const origin = typeof http === 'string' ? originOf(http) : null;
      if (origin !== null && !this.known.has(origin)) this.add(origin, null, null);
    }
  }

  /** Is any known but this one? @param {string} http */
  hasOther(http) {
    const origin = originOf(http);
    return [...this.known.keys()].some((known) => known !== origin);
  }

  /**
   * Where the servers that vote are, as the core has verified it. All others are forgotten, but for where this tab
   * began and where it is. @param {{server: string, http: string, quic: string}[]} named
   */
  learn(named) {
    if (named.length === 0) return;
    this.learned = true;
    const some = named.slice(0, SERVERS_MAX);
    const stay = new Set([this.first, this.here, ...some.map(({ http }) => originOf(http))]);
    for (const http of [...this.known.keys()]) if (!stay.has(http)) this.known.delete(http);
    for (const { http, server, quic } of some) this.add(http, server, quic);
  }

  /** The one to try now. @param {string|null} not the origin that was just lost */
  next(not) {
    const { wanted } = this;
    this.wanted = null;
    if (wanted !== null) return wanted;
    const now = this.now();
    const rank = (/** @type {Server} */ { http, failedAt, rtt }) => [
      now - failedAt < REST_MS ? 1 : 0, http === not ? 1 : 0, failedAt, rtt ?? 1_000,
    ];
    const [first] = [...this.known.values()].sort((a, b) => {
      const [one, other] = [rank(a), rank(b)];
      const at = one.findIndex((value, i) => value !== other[i]);
      return at < 0 ? 0 : one[at] - other[at];
    });
    return first.http;
  }

  /** @param {string} http */
  failed(http) {
    const server = this.known.get(http);
    if (server) server.failedAt = this.now();
    this.tries += 1;
  }

  /** @param {string} http @param {string} key */
  opened(http, key) {
    this.here = originOf(http);
    this.add(http, key, this.known.get(http)?.quic ?? null);
    this.tries = 0;
  }

  /** Milliseconds to wait before the next try: none while there are others. */
  pause() {
    const all = Math.max(this.known.size, 1);
    if (this.tries < all) return 0;
    return Math.min(BACKOFF_MS[0] * 2 ** Math.min(this.tries - all, 8), BACKOFF_MS[1]);
  }

  /** Measures how far each one is. @param {string|null} sim the only one to ask for */
  async measure(sim) {
    const ask = async (/** @type {Server} */ server) => {
      const began = this.now();
      try {
        const offer = await askSession(server.http, sim);
        server.rtt = this.now() - began;
        server.server ??= offer.server;
      } catch {
        server.rtt = null;
      }
    };
    await Promise.all([...this.known.values()].map(ask));
  }
}
