// @ts-check
/**
 * One person's session with the servers of a sim: it outlives connections, and goes on at another
 * server where it was left. It opens no connection itself; frames come in by `frame` and go out by
 * the function that `attach` is given.
 */
import { VERSION, decodeServer, encodeClient, peekAnswer } from '../wire/messages.js';
import { WireError } from '../wire/buffer.js';
import { variant } from '../wire/postcard.js';
import { hello, signAct } from './acts.js';
import { ActError, Pending } from './pending.js';
import { Rate, RoundTrip } from './gauges.js';

/** How far ahead an act's last valid height is set: half a minute. */
const VALID_FOR = 600;
/** Questions under way. */
const QUESTIONS_MAX = 256;
const PING_MS = 1_000;
/** A server that says nothing for this long, not even to a ping, is gone. */
const SILENCE_MS = 2_500;
/** It has this long for its first words. */
const GREETING_MS = 5_000;

/**
 * What a session tells.
 * @typedef {object} Ears
 * @property {(welcome: {height: number, turns_per_second: number}) => void} [open]
 * @property {(code: string) => void} [ended] the server ended it, or has to be left
 * @property {(view: any) => boolean} [view] whether it was taken in
 * @property {(proof: any) => void} [proof]
 * @property {(line: any) => void} [heard]
 * @property {(act: string, height: number) => void} [placed]
 */

/**
 * A question under way.
 * @typedef {object} Asked
 * @property {any} question
 * @property {boolean} raw whether the answer's whole frame is wanted
 * @property {(answer: any) => void} resolve
 * @property {(error: Error) => void} reject
 */

/** @typedef {{public: string, sign: (message: Uint8Array) => Uint8Array}} Signer */

/** A session with the servers of one sim. */
export class Session {
  /**
   * @param {object} parts
   * @param {Signer} parts.identity
   * @param {bigint} parts.lane a random number that this key never used before
   * @param {() => number} parts.now milliseconds that never go back
   * @param {string|null} [parts.sim] the only one to speak with; the first one met if not given
   * @param {Ears} parts.ears
   */
  constructor({ identity, lane, now, sim = null, ears }) {
    this.identity = identity;
    this.lane = lane;
    this.now = now;
    this.sim = sim;
    this.ears = ears;
    this.open = false;
    this.welcomed = false;
    /** The newest decided one: proven, or as the server spoken with says. */
    this.height = 0;
    /** The newest one that was proven; 0 if nothing checks here. */
    this.certain = 0;
    this.turnsPerSecond = 0;
    /** The server spoken with. @type {string|null} */
    this.server = null;
    this.nextSeq = 1;
    this.nextQuestion = 1;
    this.nextPing = 0;
    this.heardAt = 0;
    this.pingedAt = 0;
    /** @type {Map<number, Asked>} */
    this.questions = new Map();
    /** @type {((frame: Uint8Array) => void)|null} */
    this.out = null;
    this.pending = new Pending({
      send: (submission) => this.#send({ Submit: submission }),
      ask: (question) => this.ask(question),
    });
    this.roundTrip = new RoundTrip();
    this.incoming = new Rate();
    this.outgoing = new Rate();
  }

  /** A carrier is there. @param {(frame: Uint8Array) => void} send */
  attach(send) {
    this.out = send;
    this.open = false;
    this.server = null;
    this.heardAt = this.now();
    this.roundTrip.forget();
  }

  /**
   * The carrier is gone. Acts and questions are kept for the next one; what the server said of the
   * height is not, if anything better is known: acts would be valid for as long as it liked.
   */
  detach() {
    this.out = null;
    this.open = false;
    if (this.certain > 0) this.height = this.certain;
  }

  /** Enough servers signed a header of this height. @param {number} height */
  proven(height) {
    this.certain = Math.max(this.certain, height);
    this.#reach(height);
  }

  /** No session will follow. @param {string} code */
  close(code) {
    this.detach();
    this.pending.close(code);
    for (const { reject } of this.questions.values()) reject(new ActError(code));
    this.questions.clear();
  }

  /**
   * Signs an act and sends it, now or once the session is open.
   * @param {any} act
   * @param {Uint8Array[]} [blobs]
   * @returns {Promise<import('./pending.js').Result>}
   */
  submit(act, blobs = []) {
    if (!this.welcomed || this.sim === null) return Promise.reject(new ActError('NeverOpen'));
    const seq = this.nextSeq;
    this.nextSeq += 1;
    const lastValid = this.height + VALID_FOR;
    const { id, signed } = signAct(this.identity, {
      sim: this.sim, lane: this.lane, seq, lastValid, act,
    });
    return this.pending.add(id, { act: signed, blobs }, this.open, this.now());
  }

  /**
   * Asks a question; it is asked again where the session goes on.
   * @param {any} question
   * @param {{raw?: boolean}} [options] raw: gives the answer's whole frame, and its kind
   * @returns {Promise<any>}
   */
  ask(question, { raw = false } = {}) {
    if (this.questions.size >= QUESTIONS_MAX) return Promise.reject(new ActError('Busy'));
    const id = this.nextQuestion;
    this.nextQuestion = (this.nextQuestion + 1) >>> 0;
    return new Promise((resolve, reject) => {
      this.questions.set(id, { question, raw, resolve, reject });
      if (this.open) this.#send({ Ask: { id, question } });
    });
  }

  /** How to watch from now on, or not. @param {any} watching */
  watch(watching) {
    if (this.open) this.#send({ View: watching });
  }

  /** What is due at this time; call it some times a second, and with each frame. */
  tick() {
    const now = this.now();
    if (this.#isSilent(now)) {
      this.ears.ended?.('silent');
      return;
    }
    if (!this.open) return;
    if (now >= this.nextPing) {
      this.nextPing = now + PING_MS;
      this.pingedAt = now;
      this.#send({ Ping: { token: this.roundTrip.begin(now) } });
    }
    this.pending.tick(now, this.certain || this.height);
  }

  /**
   * Is the server gone? A tab that slept asks once more before it says so.
   * @param {number} now
   */
  #isSilent(now) {
    if (this.out === null) return false;
    if (!this.open) return now - this.heardAt > GREETING_MS;
    const unanswered = this.pingedAt > this.heardAt && now - this.pingedAt > PING_MS / 2;
    return unanswered && now - this.heardAt > SILENCE_MS;
  }

  /** A frame from the server. @param {Uint8Array} frame */
  frame(frame) {
    const now = this.now();
    this.heardAt = now;
    this.incoming.add(frame.length, now);
    try {
      if (!this.#rawAnswer(frame)) {
        const [name, content] = variant(decodeServer(frame));
        this.#handle(name, content, now);
      }
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.ears.ended?.('bad-frame');
      return;
    }
    this.tick();
  }

  /** An answer that somebody wants as it came. @param {Uint8Array} frame */
  #rawAnswer(frame) {
    const found = peekAnswer(frame);
    const asked = found === null ? undefined : this.questions.get(found.id);
    if (found === null || asked?.raw !== true) return false;
    this.questions.delete(found.id);
    asked.resolve({ kind: found.kind, frame: frame.slice() });
    return true;
  }

  /** @param {string} name @param {any} content @param {number} now */
  #handle(name, content, now) {
    switch (name) {
      case 'Challenge':
        return this.#answer(content);
      case 'Welcome':
        return this.#welcome(content, now);
      case 'Goodbye':
        this.open = false;
        return this.ears.ended?.(variant(content)[0]);
      case 'Refused':
        return this.pending.refused(content.act, content.why, now);
      case 'Receipt': {
        const { height } = content.receipt.header;
        this.#reach(height);
        if (this.pending.receipted(content.act, now)) this.ears.placed?.(content.act, height);
        return undefined;
      }
      case 'Outcome':
        this.#reach(content.height);
        return this.pending.outcome(content.act, content.height, content.outcome);
      case 'Answer':
        return this.#answered(content);
      case 'Pong':
        return this.roundTrip.end(content.token, now);
      case 'Heard':
        return this.ears.heard?.(content);
      case 'View':
        this.#reach(content.height);
        if (this.ears.view?.(content)) this.#send({ Seen: { number: content.number } });
        return undefined;
      case 'ViewProof':
        return this.ears.proof?.(content);
      default:
        return undefined;
    }
  }

  /** @param {any} challenge */
  #answer(challenge) {
    if (this.sim !== null && challenge.sim !== this.sim) return this.ears.ended?.('other-sim');
    this.sim = challenge.sim;
    this.server = challenge.server;
    this.#send(hello(this.identity, challenge, VERSION));
    return undefined;
  }

  /** @param {{height: number, turns_per_second: number}} welcome @param {number} now */
  #welcome(welcome, now) {
    this.open = true;
    this.welcomed = true;
    this.turnsPerSecond = welcome.turns_per_second;
    this.height = Math.max(this.certain, welcome.height);
    this.nextPing = now;
    this.pending.opened(now);
    for (const [id, { question }] of this.questions) this.#send({ Ask: { id, question } });
    this.ears.open?.(welcome);
  }

  /** @param {{id: number, answer: any}} content */
  #answered({ id, answer }) {
    const asked = this.questions.get(id);
    this.questions.delete(id);
    asked?.resolve(answer);
  }

  /** @param {number} height */
  #reach(height) {
    this.height = Math.max(this.height, height);
  }

  /** @param {any} message */
  #send(message) {
    if (this.out === null) return;
    const frame = encodeClient(message);
    this.outgoing.add(frame.length, this.now());
    this.out(frame);
  }
}
