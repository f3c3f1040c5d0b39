// @ts-check
/**
 * The work that a sim may ask of a key that is new to it: some seconds of trying numbers, in a worker
 * of its own, so that the session goes on meanwhile.
 */
import { fromHex } from './hex.js';
import { CoreError } from './port.js';

/**
 * Does the work.
 * @param {string} wasm the module's address
 * @param {{sim: string, key: string, header: string, tries: string}} puzzle
 * @returns {Promise<string>} the number that solves it, in decimal digits
 */
export function solve(wasm, { sim, key, header, tries }) {
  const worker = new Worker(new URL('../prove/work-worker.js', import.meta.url), { type: 'module' });
  const solved = new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => {
      if (data.error === undefined) resolve(String(data.nonce));
      else reject(new CoreError('NoModule', data.error));
    };
    worker.onerror = () => reject(new CoreError('NoModule'));
  });
  const [simId, keyBytes, headerId] = [sim, key, header].map(fromHex);
  worker.postMessage({ wasm, sim: simId, key: keyBytes, header: headerId, tries: BigInt(tries) });
  return solved.finally(() => worker.terminate());
}
