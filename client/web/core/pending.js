// @ts-check
/**
 * Acts under way: sent again, the very same bytes, until the server spoken with gives a receipt; kept
 * until one gives an outcome; over connections and over servers. Its word is believed in both.
 */
import { variant } from '../wire/postcard.js';

/** An act without a receipt is sent again after this long. */
const RESEND_MS = 500;
/** What became of an act is asked for if it is not told within this time. */
const ASK_MS = 2_000;
/** An act that no turn took this long after its last height is lost. */
const LATE_HEIGHTS = 40;
/** More are refused here, before they cost anybody. */
export const PENDING_MAX = 256;

/** Reasons that speak of the node at this moment, and not of the act. */
const PASSING = new Set(['QuotaExceeded', 'TooManyLanes', 'Full', 'TooFarAhead']);

/** An act that will not be done. `code` is the protocol's name for why, or 'Expired', 'Closed'. */
export class ActError extends Error {
  /** @param {string} code @param {any} [detail] */
  constructor(code, detail = null) {
    super(code);
    this.name = 'ActError';
    this.code = code;
    this.text = code;
    this.detail = detail;
  }
}

/**
 * @typedef {object} Result
 * @property {string} act its id
 * @property {number} height of the turn
 * @property {boolean} ok
 * @property {string|null} refusal the rule that refused it, by its name in the protocol
 * @property {number|null} made the object that it made
 */

/**
 * @typedef {object} Entry
 * @property {string} id
 * @property {any} submission
 * @property {boolean} placed in a decided turn, as the server spoken with says
 * @property {number} due when it is sent, or asked about, again
 * @property {number} sends
 * @property {boolean} asking
 * @property {(result: Result) => void} resolve
 * @property {(error: ActError) => void} reject
 */

/** @param {string} act @param {number} height @param {any} outcome @returns {Result} */
export function resultOf(act, height, outcome) {
  const [name, content] = variant(outcome);
  const refusal = name === 'Refused' ? variant(content)[0] : null;
  return { act, height, ok: refusal === null, refusal, made: name === 'Made' ? content : null };
}

/** The acts of one lane that are under way. */
export class Pending {
  /**
   * @param {object} port
   * @param {(submission: any) => void} port.send
   * @param {(question: any) => Promise<any>} port.ask
   */
  constructor({ send, ask }) {
    this.send = send;
    this.ask = ask;
    /** By their ids, in the order of the lane. @type {Map<string, Entry>} */
    this.entries = new Map();
  }

  get size() {
    return this.entries.size;
  }

  /**
   * Takes a signed act.
   * @param {string} id
   * @param {any} submission
   * @param {boolean} open whether it can be sent now
   * @param {number} now
   * @returns {Promise<Result>}
   */
  add(id, submission, open, now) {
    if (this.size >= PENDING_MAX) return Promise.reject(new ActError('TooManyPending'));
    return new Promise((resolve, reject) => {
      const entry = {
        id, submission, placed: false, due: now + RESEND_MS, sends: 0, asking: false, resolve,
        reject,
      };
      this.entries.set(id, entry);
      if (open) this.#send(entry, now);
    });
  }

  /**
   * A session is open: everything goes out, in order. Nobody checks receipts here, so one counts
   * at the server that gave it; another says again what it knows of an act that was decided.
   * @param {number} now
   */
  opened(now) {
    for (const entry of this.entries.values()) {
      entry.asking = false;
      entry.placed = false;
      this.#send(entry, now);
    }
  }

  /** @param {number} now @param {number} height the newest known */
  tick(now, height) {
    for (const entry of [...this.entries.values()]) {
      if (entry.due > now) continue;
      const late = height > entry.submission.act.envelope.last_valid + LATE_HEIGHTS;
      if (entry.placed || late) this.#askAbout(entry, now, late);
      else this.#send(entry, now);
    }
  }

  /** @param {string} id @param {number} now */
  receipted(id, now) {
    const entry = this.entries.get(id);
    if (!entry) return false;
    entry.placed = true;
    entry.due = now + ASK_MS;
    return true;
  }

  /** @param {string} id @param {number} height @param {any} outcome */
  outcome(id, height, outcome) {
    this.#take(id)?.resolve(resultOf(id, height, outcome));
  }

  /** @param {string} id @param {any} why @param {number} now */
  refused(id, why, now) {
    const entry = this.entries.get(id);
    if (!entry || entry.placed) return;
    const [code, detail] = variant(why);
    // It may have been taken when it was sent before, here or elsewhere.
    if (entry.sends > 1 && PASSING.has(code)) return;
    if (entry.sends > 1 && (code === 'Replayed' || code === 'Expired')) {
      this.#askAbout(entry, now, true);
      return;
    }
    this.#take(id)?.reject(new ActError(code, detail));
  }

  /** Gives all up. @param {string} code */
  close(code) {
    for (const id of [...this.entries.keys()]) this.#take(id)?.reject(new ActError(code));
  }

  /** @param {Entry} entry @param {number} now */
  #send(entry, now) {
    entry.due = now + RESEND_MS;
    entry.sends += 1;
    this.send(entry.submission);
  }

  /**
   * Asks what became of an act; one that is `lost` and unknown is given up.
   * @param {Entry} entry
   * @param {number} now
   * @param {boolean} lost
   */
  #askAbout(entry, now, lost) {
    entry.due = now + ASK_MS;
    if (entry.asking) return;
    entry.asking = true;
    const { author, lane, seq } = entry.submission.act.envelope;
    this.ask({ Receipt: { author, lane, seq } }).then(
      (answer) => {
        entry.asking = false;
        const found = answer.Receipt;
        if (found) {
          entry.placed = true;
          const { height } = found.receipt.header;
          if (found.outcome !== null) this.outcome(entry.id, height, found.outcome);
        } else if (lost && answer === 'Unknown') {
          this.#take(entry.id)?.reject(new ActError('Expired'));
        }
      },
      () => {
        entry.asking = false;
      },
    );
  }

  /** @param {string} id */
  #take(id) {
    const entry = this.entries.get(id);
    this.entries.delete(id);
    return entry;
  }
}
