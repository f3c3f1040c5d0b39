// @ts-check
/**
 * The work that a sim may ask of a key that is new to it: some seconds of trying numbers, in a worker
 * of its own, so that the session goes on meanwhile.
 */
import { fromHex } from './bytes.js';
import { CoreError } from './port.js';

/**
 * Does the work.
 * @param {WebAssembly.Module} compiled
 * @param {{sim: string, key: string, header: string, tries: string}} puzzle
 * @returns {Promise<string>} the number that solves it, in decimal digits
 */
export function solve(compiled, { sim, key, header, tries }) {
  const worker = new Worker(new URL('../prove/work-worker.js', import.meta.url), { type: 'module' });
  const solved = new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => {
      if (data.error === undefined) resolve(String(data.nonce));
      else reject(new CoreError('NoModule', data.error));
    };
    worker.onerror = () => reject(new CoreError('NoModule'));
  });
  const [simId, keyBytes, headerId] = [sim, key, header].map(fromHex);
  worker.postMessage({ compiled, sim: simId, key: keyBytes, header: headerId, tries: BigInt(tries) });
  return solved.finally(() => worker.terminate());
}
