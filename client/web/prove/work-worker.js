/** Does the work of a first login, or what a passphrase costs, in a worker, so that the page goes on meanwhile. */
import { Module } from './module.js';

/** Numbers that are tried in one call: some twenty milliseconds. */
const STEP = 1 << 17;

/**
 * @param {{compiled: WebAssembly.Module, sim: Uint8Array, key: Uint8Array, header: Uint8Array, tries: bigint}} puzzle
 * @returns {Promise<bigint>}
 */
async function solve({ compiled, sim, key, header, tries }) {
  const module = await Module.compiled(compiled);
  for (let from = 0n; ; from += BigInt(STEP)) {
    const nonce = module.work(sim, key, header, tries, from, STEP);
    if (nonce !== null) return nonce;
  }
}

const tell = (/** @type {any} */ message) => /** @type {any} */ (globalThis).postMessage(message);

globalThis.onmessage = (/** @type {MessageEvent} */ { data }) => {
  const done = data.desk ? Module.compiled(data.compiled).then((module) => module.keyDesk(data.desk)) : solve(data);
  done.then((done) => tell({ done }), (error) => tell({ error: String(error), code: error.code }));
};
