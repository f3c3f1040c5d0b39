/**
 * Runs the client core of one sim, in a worker: frames and commands of the page go in, frames for
 * the server and events for the page come out.
 *
 * The page says `start` once, then `connected`, `disconnected`, `frame` and `command`. The worker
 * says `ready`, `refused` or `failed` once, then `frames` and `events`. Each of them carries the
 * number of the connection that it belongs to, because messages of both sides may cross.
 */
import { Module, Refused } from '../prove/module.js';

/** Deadlines of the core are looked at so often. */
const TICK_MS = 100;

let core = /** @type {import('../prove/module.js').Core|null} */ (null);
/** The connection that the core was told of last. */
let connection = 0;
/** When the page began, in milliseconds since 1970. */
let origin = 0;
/** What came before the core was there, in order. @type {any[]} */
let early = [];

const tell = (/** @type {any} */ message, /** @type {Transferable[]} */ transfer = []) =>
  /** @type {any} */ (globalThis).postMessage(message, transfer);

/** The page's clock: this worker's own began later. */
const now = () => performance.timeOrigin - origin + performance.now();

/** @param {unknown} error */
function fail(error) {
  core = null;
  early = [];
  tell({ type: 'failed', code: 'wasm-ended', detail: String(error) });
}

/** Hands out what the core has to say. @param {import('../prove/module.js').Core} from */
function drain(from) {
  const frames = from.outgoing();
  if (frames.length > 0) tell({ type: 'frames', connection, frames }, frames.map(({ buffer }) => buffer));
  const events = from.events();
  if (events.length > 0) tell({ type: 'events', connection, events });
}

/** @param {any} message */
function handle(message) {
  if (core === null) return;
  try {
    const { type, frame, command } = message;
    if (type === 'connected') connection = message.connection;
    core.take(type, now(), Date.now(), frame ?? command);
    drain(core);
  } catch (error) {
    const id = message.command?.id;
    // Only the page can be at fault: the core answers servers by events.
    if (error instanceof Refused && id !== undefined) {
      const event = { type: 'failed', id, code: error.code, detail: error.message };
      tell({ type: 'events', connection, events: [event] });
    } else fail(error);
  }
}

/** @param {{compiled: WebAssembly.Module, name: any, genesis: Uint8Array, origin: number}} begin */
async function start({ compiled, name, genesis, origin: began }) {
  origin = began;
  const module = await Module.compiled(compiled);
  try {
    core = module.core(name, genesis);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    tell({ type: 'refused', code: error.code, detail: error.message });
    return;
  }
  tell({ type: 'ready' });
  drain(core);
  for (const message of early.splice(0)) handle(message);
  setInterval(() => handle({ type: 'tick' }), TICK_MS);
}

globalThis.onmessage = (/** @type {MessageEvent} */ { data }) => {
  if (data.type === 'start') start(data).catch(fail);
  else if (core === null) early.push(data);
  else handle(data);
};
