// @ts-check
/**
 * Runs the whole sim in a worker: begins with a snapshot, applies every turn, and compares its own
 * roots with the certified ones. It asks nobody itself: what it wants is asked by the page.
 */
import { Module } from './module.js';

/** @type {import('./module.js').Replica|null} */
let replica = null;

const tell = (/** @type {any} */ message, /** @type {Transferable[]} */ transfer = []) =>
  /** @type {any} */ (globalThis).postMessage(message, transfer);

/** Says where it is, and what it wants next. */
function go() {
  if (replica === null) return;
  const status = replica.status();
  tell({ type: 'status', status });
  if (status.phase === 'mismatch') {
    const capsule = replica.capsule();
    tell({ type: 'mismatch', status, capsule }, [capsule.buffer]);
    return;
  }
  const want = replica.want();
  if (want !== null) tell({ type: 'want', want });
}

/** @param {any} message */
async function handle(message) {
  if (message.type === 'start') {
    const { compiled, genesis, sim } = message;
    const module = await Module.compiled(compiled);
    replica = module.replica(genesis, sim, 'snapshot');
  } else if (message.type === 'frame') {
    replica?.frame(message.frame);
  }
  go();
}

globalThis.onmessage = (/** @type {MessageEvent} */ { data }) => {
  handle(data).catch((error) => {
    tell({ type: 'failed', code: error.code ?? error.name, detail: String(error.message) });
  });
};
