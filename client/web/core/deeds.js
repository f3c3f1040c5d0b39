// @ts-check
/**
 * What a person does: acts, with their outcomes. Acting takes the avatar over from another tab of
 * the same person, and a sign of life keeps it in the world.
 */
import * as acts from './acts.js';
import { ActError } from './pending.js';
import { Walker } from './walker.js';

/** The longest words, in bytes. */
const CHAT_BYTES_MAX = 512;
/** A sign of life is due this long after the last act; the servers wait for ten seconds. */
const HEARTBEAT_MS = 4_000;

/** Another tab has the avatar, or it left while this one slept. */
const AWAY = new Set(['OtherSession', 'NotLoggedIn']);

/** The sim asks something of a key that is new. */
const ASKED = new Set(['NeedsWork', 'NeedsTicket']);

export class Deeds {
  /**
   * @param {object} parts
   * @param {import('./session.js').Session} parts.session
   * @param {() => Promise<any>} parts.pass what a login shows
   * @param {() => number} parts.now
   * @param {(heading: {x: number, y: number}) => void} parts.steered
   * @param {(heading: {x: number, y: number}, sent: number) => (height: number) => void}
   *   parts.walking a heading is sent; what is given is told in which turn it was taken
   * @param {(present: boolean) => void} parts.present the person came into the world, or left it
   * @param {(result: import('./pending.js').Result) => void} parts.done
   */
  constructor({ session, pass, now, steered, walking, present, done }) {
    this.session = session;
    this.pass = pass;
    this.now = now;
    this.steered = steered;
    this.present = present;
    this.done = done;
    /** Who is in the world from this tab. @type {{name: string, look: any}|null} */
    this.person = null;
    /** Has this tab the avatar? */
    this.here = false;
    this.lifeAt = 0;
    this.walker = new Walker({
      now,
      submit: async (x, y) => {
        const taken = walking({ x, y }, now());
        const result = await this.act(acts.walk(x, y));
        if (result.ok) taken(result.height);
        return result;
      },
    });
  }

  /**
   * Signs and sends an act; takes the avatar back first if another tab has it.
   * @param {any} act
   * @param {Uint8Array[]} [blobs]
   */
  async act(act, blobs = []) {
    if (this.person !== null && !this.here) await this.#comeBack();
    const result = await this.#submit(act, blobs);
    if (!AWAY.has(result.refusal ?? '') || this.person === null) return result;
    this.here = false;
    return (await this.#comeBack()) ? this.#submit(act, blobs) : result;
  }

  /** @returns {Promise<boolean>} whether this tab has the avatar again */
  async #comeBack() {
    if (this.person === null) return false;
    const { name, look } = this.person;
    return (await this.login(name, look)).ok;
  }

  /** @param {string} name @param {any} look */
  async login(name, look) {
    const result = await this.#login(name, look);
    if (result.ok) {
      if (this.person === null) this.present(true);
      this.person = { name, look };
      this.here = true;
      // A login makes the avatar stand.
      this.walker.forget();
    }
    return result;
  }

  /** Logs in, and shows what the sim asks of a key that is new. @param {string} name @param {any} look */
  async #login(name, look) {
    try {
      return await this.#submit(acts.login(name, look), []);
    } catch (error) {
      if (!(error instanceof ActError) || !ASKED.has(error.code)) throw error;
      return this.#submit(acts.login(name, look, await this.pass()), []);
    }
  }

  async leave() {
    const result = await this.#submit('Leave', []);
    // Only here: that the avatar has left of itself is a server's word, and a liar would say the same;
    // and one that another tab has is in the world.
    if (this.person !== null) this.present(false);
    this.person = null;
    this.here = false;
    this.steer(0, 0);
    return result;
  }

  /** @param {any} look */
  setLook(look) {
    if (this.person) this.person.look = look;
    return this.act(acts.setLook(look));
  }

  /** @param {number} x @param {number} y unit or zero */
  walk(x, y) {
    const known = Number.isFinite(x) && Number.isFinite(y);
    if (!known) return Promise.reject(new ActError('OutOfRange'));
    this.steer(x, y);
    return this.walker.walk(x, y);
  }

  /** @param {string} text @param {number} channel */
  say(text, channel) {
    const { act, blobs } = acts.say(text, channel);
    if (blobs[0].length > CHAT_BYTES_MAX) return Promise.reject(new ActError('TooLong'));
    return this.act(act, blobs);
  }

  /** Time went by. @param {boolean} awake whether somebody looks at the tab */
  tick(awake) {
    const due = this.now() - this.lifeAt > HEARTBEAT_MS;
    if (!this.session.open || this.person === null || !this.here || !due) return;
    this.lifeAt = this.now();
    this.#submit('Heartbeat', []).then(
      async ({ refusal }) => {
        if (!AWAY.has(refusal ?? '') || this.person === null) return;
        this.here = false;
        // Another tab's avatar is left to it, until somebody acts here.
        if (refusal === 'NotLoggedIn' && awake) await this.#comeBack();
      },
      () => {},
    );
  }

  /** @param {number} x @param {number} y */
  steer(x, y) {
    this.steered({ x, y });
  }

  /** @param {any} act @param {Uint8Array[]} blobs */
  async #submit(act, blobs) {
    this.lifeAt = this.now();
    const result = await this.session.submit(act, blobs);
    this.done(result);
    return result;
  }
}
