// @ts-check
/**
 * What is known about the truth of what is in sight, for the badge: proven, waiting with a reason,
 * wrong, or not checked in this tab.
 */

import { fromHex } from '../wire/buffer.js';
import { VERSION } from '../wire/messages.js';

/** Headers that are listed. */
const HEADERS_MAX = 64;
/** Bodies that one comparison looks at; the next goes on after them. */
const SHOWN_MAX = 256;
/** Without a proof for so long, green turns amber. */
const LATE_MS = 4_000;

/**
 * @typedef {object} ProofState
 * @property {'green'|'amber'|'red'|'reduced'} level
 * @property {number|null} of the height whose state is proven
 * @property {number} signed by so many
 * @property {number} members of so many
 * @property {string|null} reason a code
 * @property {string|null} detail
 * @property {{height: number, time: number, proposer: string, round: number, signers: string[],
 *   verified: boolean}[]} headers newest first
 */

/** @typedef {import('./genesis.js').Member} Member */

/** @param {'amber'|'reduced'} level @param {string} reason @returns {ProofState} */
const begun = (level, reason) => ({
  level, of: null, signed: 0, members: 0, reason, detail: null, headers: [],
});

export class Proofs {
  /**
   * @param {object} parts
   * @param {() => void} parts.changed
   * @param {(question: any) => Promise<any>} parts.ask
   * @param {() => number} parts.now
   * @param {(compiled: WebAssembly.Module) => void} [parts.compiled] the module is there
   * @param {(asked: number, found: any) => void} [parts.predicted]
   * @param {(height: number) => void} [parts.proven] that it was decided
   * @param {() => void} [parts.voting] it is known who votes, or others do
   * @param {() => void} [parts.anew] copies from elsewhere do not fit: ask for views anew
   */
  constructor({
    changed, ask, now, compiled = () => {}, predicted = () => {}, proven = () => {},
    voting = () => {}, anew = () => {},
  }) {
    this.changed = changed;
    this.ask = ask;
    this.now = now;
    this.compiled = compiled;
    this.predicted = predicted;
    this.proven = proven;
    this.voting = voting;
    this.anew = anew;
    this.state = begun('reduced', 'no-wasm');
    /** @type {Worker|null} */
    this.worker = null;
    this.started = false;
    /** Who votes first, and who votes now, once something is proven. */
    this.first = /** @type {Member[]} */ ([]);
    this.members = /** @type {Member[]|null} */ (null);
    this.provenAt = 0;
    this.shownFrom = 0;
    /** Frames that the page itself could not read, so that the module cannot either. */
    this.unread = 0;
  }

  /** Is something checked here? */
  get works() {
    return this.worker !== null;
  }

  /** A worker is made; until it has the genesis, it keeps what it is told. */
  open() {
    if (typeof Worker === 'undefined') return;
    try {
      this.worker = new Worker(new URL('../prove/worker.js', import.meta.url), { type: 'module' });
    } catch (error) {
      this.#reduce('wasm-failed', String(error));
      return;
    }
    this.worker.onmessage = ({ data }) => this.#told(data);
    this.worker.onerror = (event) => this.#reduce('wasm-failed', event.message ?? null);
    this.state = begun('amber', 'waiting');
    this.provenAt = this.now();
  }

  /**
   * @param {string} wasm
   * @param {import('./genesis.js').Genesis} genesis
   * @param {string} sim
   * @param {string} viewer whose avatar the own one has to be: a key
   */
  start(wasm, { bytes, validators }, sim, viewer) {
    if (this.started) return;
    this.started = true;
    this.first = validators;
    const key = fromHex(viewer);
    this.worker?.postMessage({ type: 'start', wasm, genesis: bytes, sim, viewer: key, version: VERSION });
  }

  close() {
    this.worker?.terminate();
    this.worker = null;
  }

  /** A frame of the server; its bytes are given away. @param {Uint8Array} frame */
  frame(frame) {
    this.worker?.postMessage({ type: 'frame', frame }, [frame.buffer]);
  }

  /** The last frame was none that this page can read: that is no fault of the module. */
  unreadable() {
    if (this.works) this.unread += 1;
  }

  /** Views were asked for anew. @param {boolean} keep whether copies were kept */
  begin(keep) {
    this.worker?.postMessage({ type: 'begin', keep });
  }

  /**
   * The person came into the world from this tab, or left it: in between nothing is proven without
   * the own avatar, whatever servers say of it.
   * @param {boolean} present
   */
  present(present) {
    this.worker?.postMessage({ type: 'present', present });
  }

  /** Another server is spoken with: what the last one did says nothing about it. */
  moved() {
    if (this.state.level === 'red') this.#set({ level: 'amber', reason: 'waiting', detail: null });
    this.provenAt = this.now();
  }

  /** A proof came: its header, for the list of those who cannot check it. @param {any} proof */
  seen({ header, certificate }) {
    if (this.works) return;
    this.#list({
      height: header.height,
      time: header.time,
      proposer: header.proposer,
      round: header.round,
      signers: certificate.signatures.map((/** @type {[string, string]} */ [key]) => key),
      verified: false,
    });
    this.changed();
  }

  /**
   * Compares some of what is drawn with the checked copies.
   * @param {import('./tiles.js').Tiles} tiles
   */
  compare(tiles) {
    if (this.worker === null) return;
    const all = [...tiles.places.keys()];
    const count = Math.min(all.length, SHOWN_MAX);
    const [ids, numbers] = [new Float64Array(count), new Int32Array(4 * count)];
    for (let n = 0; n < count; n++) {
      const id = all[(this.shownFrom + n) % all.length];
      const body = tiles.get(id)?.body;
      ids[n] = id;
      numbers.set([body.position.x, body.position.y, body.facing.x, body.facing.y], 4 * n);
    }
    this.shownFrom = all.length === 0 ? 0 : (this.shownFrom + count) % all.length;
    const drawn = { height: tiles.height, ids, numbers };
    this.worker.postMessage({ type: 'shown', drawn }, [ids.buffer, numbers.buffer]);
  }

  /** Where the own avatar will be. @param {number} asked comes back @param {any} walk */
  predict(asked, walk) {
    this.worker?.postMessage({ type: 'predict', asked, walk });
  }

  /** Time went by. @param {boolean} open whether a session is open */
  tick(open) {
    if (this.state.level !== 'green') return;
    if (!open) this.#set({ level: 'amber', reason: 'not-connected' });
    else if (this.now() - this.provenAt > LATE_MS) this.#set({ level: 'amber', reason: 'late' });
  }

  /** @param {any} message */
  #told(message) {
    switch (message.type) {
      case 'ready':
        return this.compiled(message.compiled);
      case 'failed':
        return this.#reduce(message.code, message.detail);
      case 'refused':
        return this.#refused(message);
      case 'events': {
        const { members } = this;
        for (const event of message.events) this.#event(event);
        if (this.members !== members) this.voting();
        return undefined;
      }
      case 'shown': {
        const wrong = message.found !== null && 'id' in message.found;
        if (wrong) this.#lie('shown', `${message.found.code} of object ${message.found.id}`);
        return undefined;
      }
      case 'predicted':
        return this.predicted(message.asked, message.found);
      default:
        return undefined;
    }
  }

  /**
   * The module does not understand what this page does: it is of another version, and proves nothing.
   * @param {{what: string, detail: string}} refused
   */
  #refused({ what, detail }) {
    // A walk that is not foreseen is only drawn less well.
    if (what === 'predict') return;
    if (what === 'frame' && this.unread > 0) this.unread -= 1;
    else this.#reduce('wasm-other', detail);
  }

  /** @param {import('../prove/module.js').ProofEvent} event */
  #event(event) {
    if (event.type === 'mismatch') this.#lie(event.code, event.text);
    else if (event.type === 'links') {
      // The answer's frame goes to the worker as every frame does.
      this.ask({ Links: { after: event.after } }).catch(() => {});
    } else if (event.type === 'unproven') {
      if (this.state.level === 'amber') this.#set({ reason: event.code, detail: event.text });
      if (event.code === 'anew') this.anew();
    } else if (event.type === 'followed') this.members = event.members;
    else if (event.type === 'proven') this.#proven(event);
  }

  /** @param {import('../prove/module.js').Proven} event */
  #proven({ of, height, time, proposer, round, signers, members, late }) {
    this.provenAt = this.now();
    this.members ??= this.first;
    this.proven(height);
    this.#list({ height, time, proposer, round, signers, verified: true });
    // Wrong once is wrong, until another server is spoken with.
    if (this.state.level === 'red') return this.changed();
    const known = { of, signed: signers.length, members };
    if (late.length === 0) return this.#set({ level: 'green', ...known, reason: null, detail: null });
    const tiles = late.map(([x, y]) => `${x},${y}`).join(' ');
    return this.#set({ level: 'amber', ...known, reason: 'missing', detail: `tile ${tiles}` });
  }

  /** @param {string} reason @param {string} detail */
  #lie(reason, detail) {
    if (this.state.level !== 'red') this.#set({ level: 'red', reason, detail });
  }

  /** @param {string} reason @param {string|null} detail */
  #reduce(reason, detail) {
    this.close();
    this.members = null;
    this.#set({ level: 'reduced', reason, detail, of: null, signed: 0, members: 0 });
  }

  /** @param {ProofState['headers'][0]} header */
  #list(header) {
    const headers = [header, ...this.state.headers].slice(0, HEADERS_MAX);
    this.state = { ...this.state, headers };
  }

  /** @param {Partial<ProofState>} change */
  #set(change) {
    this.state = { ...this.state, ...change };
    this.changed();
  }
}
