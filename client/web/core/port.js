/**
 * The page's side of the worker that runs the client core: what is asked of it, what it answers, and
 * what it says by itself.
 */

import { fromBase64 } from './bytes.js';

/** Commands that wait for a core to be there. */
const WAITING_MAX = 256;

/** Something that will not be done. `code` is the protocol's name for why, or one of the client's own. */
export class CoreError extends Error {
  /** @param {string} code @param {any} [detail] */
  constructor(code, detail = null) {
    super(code);
    this.name = 'CoreError';
    [this.code, this.detail] = [code, detail];
  }
}

export class Port {
  /** @param {PortEars} ears */
  constructor(ears) {
    this.ears = ears;
    this.worker = /** @type {Worker|null} */ (null);
    /** Counts connections; what belongs to an earlier one is not for the server of this one. */
    this.connection = 0;
    this.next = 1;
    this.asked = /** @type {Map<number, Waiter>} */ (new Map());
    /** Commands from before there was a core. @type {any[]} */
    this.waiting = [];
    /** Why there is no core any more. @type {string|null} */
    this.closed = null;
  }

  /**
   * Starts the core of a sim.
   * @param {{compiled: WebAssembly.Module, name: any, genesis: Uint8Array}} begin
   * @returns {Promise<void>} rejects with the core's code when it refuses the genesis
   */
  start({ compiled, name, genesis }) {
    const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
    const origin = performance.timeOrigin;
    return new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => {
        if (data.type === 'refused') {
          worker.terminate();
          reject(new CoreError(data.code, data.detail));
        } else if (data.type === 'ready') {
          this.#begin(worker);
          resolve();
        } else {
          if (data.type === 'failed') reject(new CoreError(data.code, data.detail));
          this.#told(data);
        }
      };
      worker.onerror = (event) => {
        reject(new CoreError('wasm-failed', event.message));
        this.#fail('wasm-failed', event.message ?? '');
      };
      worker.postMessage({ type: 'start', compiled, name, genesis, origin });
    });
  }

  /** @param {Worker} worker whose core is there */
  #begin(worker) {
    if (this.closed !== null) return void worker.terminate();
    this.worker = worker;
    for (const command of this.waiting.splice(0)) this.#post({ type: 'command', command });
  }

  /** A carrier is there. */
  connected() {
    this.connection += 1;
    this.#post({ type: 'connected', connection: this.connection });
  }

  /** The carrier is gone. */
  disconnected() {
    this.connection += 1;
    this.#post({ type: 'disconnected' });
  }

  /** A frame of the server; its bytes are given away. @param {Uint8Array} frame */
  frame = (frame) => this.#post({ type: 'frame', frame }, [frame.buffer]);

  /**
   * Asks something of the core.
   * @param {string} what @param {any} [fields]
   * @returns {Promise<any>} rejects with a {@link CoreError}
   */
  ask(what, fields = {}) {
    if (this.closed !== null) return Promise.reject(new CoreError(this.closed));
    const id = this.#command(what, fields);
    if (id === null) return Promise.reject(new CoreError('Busy'));
    return new Promise((resolve, reject) => this.asked.set(id, { resolve, reject }));
  }

  /** Tells the core something, and waits for nothing. @param {string} what @param {any} [fields] */
  tell(what, fields = {}) {
    if (this.closed === null) this.#command(what, fields);
  }

  /** Ends the core; whoever waits is told why. @param {string} code */
  stop(code) {
    this.worker?.terminate();
    [this.worker, this.waiting, this.closed] = [null, [], code];
    for (const { reject } of this.asked.values()) reject(new CoreError(code));
    this.asked.clear();
  }

  /** @param {string} what @param {any} fields @returns {number|null} its number */
  #command(what, fields) {
    if (this.worker === null && this.waiting.length >= WAITING_MAX) return null;
    const id = this.next;
    this.next += 1;
    const command = { id, do: what, ...fields };
    if (this.worker === null) this.waiting.push(command);
    else this.#post({ type: 'command', command });
    return id;
  }

  /** @param {any} message @param {Transferable[]} [transfer] */
  #post = (message, transfer = []) => this.worker?.postMessage(message, transfer);

  /** @param {any} message of the worker */
  #told({ type, connection, frames, events, code, detail }) {
    if (type === 'failed') this.#fail(code, detail);
    else if (type === 'events') for (const event of events) this.#event(event, connection);
    else if (connection === this.connection) frames.forEach(this.ears.frame);
  }

  /** @param {any} event @param {number} connection that it belongs to */
  #event(event, connection) {
    const { type, id } = event;
    if (type === 'done') this.#take(id)?.resolve(event.result);
    else if (type === 'failed') this.#take(id)?.reject(new CoreError(event.code, event.detail));
    else if (type === 'answer') this.#take(id)?.resolve({ kind: event.kind, frame: fromBase64(event.frame) });
    else if ((type === 'open' || type === 'leave') && connection !== this.connection) return;
    else this.ears.event(event);
  }

  /** @param {number} id */
  #take(id) {
    const asked = this.asked.get(id);
    this.asked.delete(id);
    return asked;
  }

  /** @param {string} code @param {string} detail */
  #fail(code, detail) {
    if (this.closed !== null) return;
    this.stop(code);
    this.ears.failed(code, detail);
  }
}
