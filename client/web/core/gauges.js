// @ts-check
/** What a connection is like: bytes a second, and time there and back. */

/** Bytes a second, over the last two seconds. */
export class Rate {
  constructor() {
    /** @type {{at: number, bytes: number}[]} */
    this.recent = [];
    this.total = 0;
  }

  /** @param {number} bytes @param {number} now */
  add(bytes, now) {
    const last = this.recent.at(-1);
    // Tenths of a second are fine enough.
    if (last && now - last.at < 100) last.bytes += bytes;
    else this.recent.push({ at: now, bytes });
    this.total += bytes;
    this.#forget(now);
  }

  /** @param {number} now */
  perSecond(now) {
    this.#forget(now);
    return this.recent.reduce((sum, part) => sum + part.bytes, 0) / 2;
  }

  /** @param {number} now */
  #forget(now) {
    while (this.recent.length > 0 && now - this.recent[0].at > 2_000) this.recent.shift();
  }
}

/** Time to the server and back. */
export class RoundTrip {
  constructor() {
    this.next = 1n;
    /** @type {Map<bigint, number>} */
    this.under = new Map();
    /** Milliseconds, smoothed. @type {number|null} */
    this.ms = null;
  }

  /** @param {number} now @returns {bigint} the token to send */
  begin(now) {
    const token = this.next;
    this.next += 1n;
    this.under.set(token, now);
    // Those that were never answered.
    this.under.delete(token - 8n);
    return token;
  }

  /** @param {bigint} token @param {number} now */
  end(token, now) {
    const began = this.under.get(token);
    if (began === undefined) return;
    this.under.delete(token);
    const took = now - began;
    this.ms = this.ms === null ? took : this.ms * 0.7 + took * 0.3;
  }

  forget() {
    this.under.clear();
    this.ms = null;
  }
}
