/**
 * What takes a second or more, in a worker of its own, so that the session goes on meanwhile: the work that a
 * sim may ask of a key that is new to it, and what a passphrase costs.
 */
import { fromHex } from './bytes.js';
import { CoreError } from './port.js';

/** Has a worker do something. @param {any} task @returns {Promise<any>} */
function worked(task) {
  const worker = new Worker(new URL('../prove/work-worker.js', import.meta.url), { type: 'module' });
  const done = new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => {
      if (data.error === undefined) resolve(data.done);
      else reject(new CoreError(data.code ?? 'NoModule', data.error));
    };
    worker.onerror = () => reject(new CoreError('NoModule'));
  });
  worker.postMessage(task);
  return done.finally(() => worker.terminate());
}

/**
 * Does the work.
 * @param {WebAssembly.Module} compiled
 * @param {{sim: string, key: string, header: string, tries: string}} puzzle
 * @returns {Promise<string>} the number that solves it, in decimal digits
 */
export function solve(compiled, { sim, key, header, tries }) {
  const [simId, keyBytes, headerId] = [sim, key, header].map(fromHex);
  return worked({ compiled, sim: simId, key: keyBytes, header: headerId, tries: BigInt(tries) }).then(String);
}

/** Has a key sealed or opened by a passphrase. @param {WebAssembly.Module} compiled @param {any} desk what the module's desk for keys does */
export const sealing = (compiled, desk) => worked({ compiled, desk });
