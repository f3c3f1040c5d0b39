// @ts-check
/**
 * Checks in a worker what the session shows: the wasm module gets every frame of the server, holds
 * its own copies of what is in sight, and compares them with roots that the servers signed.
 */
import { Ended, Module, Refused } from './module.js';

/** Frames that wait for the module and the genesis. */
const WAITING_MAX = 4_096;

/** @type {import('./module.js').Prover|null} */
let prover = null;
let failed = false;
/** The module has forgotten its copies, and views are not asked for anew yet. */
let forgotten = false;
/** What came before the module was there, in order. @type {any[]} */
let waiting = [];

const tell = (/** @type {any} */ message) => /** @type {any} */ (globalThis).postMessage(message);

/** @param {string} code @param {unknown} error */
function fail(code, error) {
  failed = true;
  prover = null;
  waiting = [];
  tell({ type: 'failed', code, detail: String(error) });
}

/**
 * @param {{wasm: string, genesis: Uint8Array, sim: string, viewer: Uint8Array, version: number}} begin
 */
async function start({ wasm, genesis, sim, viewer, version }) {
  const response = await fetch(wasm);
  if (!response.ok) throw new Error(`${response.status}`);
  const compiled = await WebAssembly.compileStreaming(response);
  const module = await Module.compiled(compiled);
  if (module.version !== version) {
    const speaks = module.version === null ? 'none that it names' : String(module.version);
    return fail('wasm-other', `the page speaks version ${version} of the protocol, the module ${speaks}`);
  }
  prover = module.prover(genesis, sim, viewer);
  tell({ type: 'ready', compiled });
  const early = waiting;
  waiting = [];
  for (const message of early) handle(message);
  return undefined;
}

/**
 * @param {{height: number, ids: Float64Array, numbers: Int32Array}} drawn four numbers for each id
 */
function bodies({ height, ids, numbers }) {
  const body = (/** @type {number} */ id, /** @type {number} */ n) => ({
    id,
    position: /** @type {[number, number]} */ ([numbers[4 * n], numbers[4 * n + 1]]),
    facing: /** @type {[number, number]} */ ([numbers[4 * n + 2], numbers[4 * n + 3]]),
  });
  return { height, bodies: Array.from(ids, body) };
}

/** @param {any} message */
function handle(message) {
  if (prover === null) return;
  try {
    if (message.type === 'frame') {
      const events = prover.frame(message.frame);
      forgotten ||= events.some((event) => event.type === 'unproven' && event.code === 'anew');
      if (events.length > 0) tell({ type: 'events', events });
    } else if (message.type === 'begin') {
      prover.begin(message.keep);
      forgotten = false;
    } else if (message.type === 'present') {
      prover.present(message.present);
    } else if (message.type === 'shown' && !forgotten) {
      tell({ type: 'shown', found: prover.shown(bodies(message.drawn)) });
    } else if (message.type === 'predict') {
      tell({ type: 'predicted', asked: message.asked, found: prover.predict(message.walk) });
    }
  } catch (error) {
    if (error instanceof Ended) fail('wasm-ended', error);
    else tell({ type: 'refused', what: message.type, detail: String(error) });
  }
}

globalThis.onmessage = (/** @type {MessageEvent} */ { data }) => {
  if (failed) return;
  if (data.type === 'start') {
    // The page has read the same genesis before.
    const code = (/** @type {unknown} */ error) => (error instanceof Refused ? 'wasm-other' : 'wasm-failed');
    start(data).catch((error) => fail(code(error), error));
  } else if (prover !== null) handle(data);
  else if (waiting.length < WAITING_MAX) waiting.push(data);
  else fail('wasm-failed', 'too much came before it was loaded');
};
