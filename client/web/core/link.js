/**
 * Keeps a session connected: finds a server, opens a carrier, and goes to another server when that
 * one is lost. It never gives up by itself, but for reasons that another try cannot mend.
 */
import { askSession, connect } from './carriers.js';

/** Ends that another try does not mend. */
const FINAL = new Set(['OtherSession', 'Kicked']);

/** Ends that count once a second server says the same: one alone may lie, or be of another version. */
const DOUBTFUL = new Set(['Version', 'BadSignature', 'other-sim', 'Banned']);

/** After so many failures in a row, WebTransport is not waited for any more. */
const BLOCKED_MAX = 2;

export class Link {
  /** @param {LinkParts} parts */
  constructor({ port, servers, prefer, changed, sim, greet }) {
    [this.port, this.servers, this.prefer, this.changed, this.sim, this.greet] = [port, servers, prefer, changed, sim, greet];
    this.phase = /** @type {'connecting'|'open'|'moving'|'closed'} */ ('closed');
    /** Why, as a code. @type {string|null} */
    this.why = null;
    /** The origin that is spoken with. @type {string|null} */
    this.http = null;
    this.carrier = /** @type {Carrier|null} */ (null);
    this.running = false;
    /** The end that one server told, until a second one says the same. @type {{why: string, http: string}|null} */
    this.doubt = null;
    /** Was a session open once? */
    this.welcomed = false;
    /** How often in a row WebTransport was not to be had. */
    this.blocked = 0;
    /** Ends the connection that is open now. @type {(why: string) => void} */
    this.leave = () => {};
  }

  start() {
    if (this.running) return;
    this.running = true;
    this.#set('connecting', null);
    this.#run().catch((error) => {
      this.running = false;
      this.#set('closed', String(error));
    });
  }

  /** @param {string} why */
  stop(why) {
    this.running = false;
    this.leave(why);
    this.carrier?.close();
    this.port.stop(why);
    this.#set('closed', why);
  }

  /** Goes to a server, or to any other one. @param {string|null} http */
  move(http) {
    this.servers.wanted = http;
    this.leave('moving');
  }

  async #run() {
    let lost = /** @type {string|null} */ (null);
    while (this.running) {
      const http = this.servers.next(lost);
      const why = await this.#visit(http);
      if (!this.running) return;
      const agreed = this.doubt?.why === why && this.doubt.http !== http;
      const certain = agreed || !this.servers.hasOther(http);
      if (FINAL.has(why) || (DOUBTFUL.has(why) && certain)) return void this.stop(why);
      if (DOUBTFUL.has(why)) this.doubt = { why, http };
      lost = http;
      this.servers.failed(http);
      this.#set(this.welcomed ? 'moving' : 'connecting', why);
      const pause = this.servers.pause();
      if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  /** One connection, from its beginning to its end. @param {string} http @returns {Promise<string>} why it ended */
  async #visit(http) {
    try {
      const offer = await askSession(http, this.sim());
      const refused = await this.greet(http, offer);
      return refused ?? (this.running ? await this.#talk(http, offer) : 'left');
    } catch (error) {
      return error instanceof Error ? error.message : 'lost';
    }
  }

  /** @param {string} http @param {Offer} offer @returns {Promise<string>} */
  async #talk(http, offer) {
    const early = /** @type {Uint8Array[]} */ ([]);
    let take = /** @type {(frame: Uint8Array) => void} */ ((frame) => void early.push(frame));
    let end = /** @type {(why: string) => void} */ (() => {});
    const over = new Promise((resolve) => (end = resolve));
    const ears = { frame: (/** @type {Uint8Array} */ frame) => take(frame), closed: end };
    const tiresome = this.blocked >= BLOCKED_MAX ? 'websocket' : undefined;
    const carrier = await connect(http, offer, ears, this.prefer ?? tiresome);
    this.blocked = carrier.kind === 'websocket' ? this.blocked + 1 : 0;
    [this.carrier, this.http] = [carrier, http];
    this.leave = end;
    this.port.connected();
    take = (frame) => this.port.frame(frame);
    early.forEach(take);
    const why = await over;
    take = () => {};
    this.leave = () => {};
    this.carrier = null;
    this.port.disconnected();
    carrier.close();
    return why;
  }

  /** The session is open. @param {string} server */
  opened(server) {
    this.welcomed = true;
    if (this.http !== null) this.servers.opened(this.http, server);
    this.#set('open', null);
  }

  /** @param {'connecting'|'open'|'moving'|'closed'} phase @param {string|null} why */
  #set(phase, why) {
    [this.phase, this.why] = [phase, why];
    this.changed();
  }
}
