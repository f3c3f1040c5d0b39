/** Loads the WebAssembly module. Without it there are no keys, no session and no picture. */
import { Module } from '../prove/module.js';
import { CoreError } from './port.js';

/**
 * Loads the module for the page; workers get the compiled form.
 * @param {string|null} wasm its address at the page's own server
 * @returns {Promise<{module: Module, compiled: WebAssembly.Module}>} rejects with the code 'no-wasm',
 *   'wasm-failed', 'wasm-old' or 'wasm-other'
 */
export async function loadModule(wasm) {
  if (wasm === null || typeof WebAssembly === 'undefined') throw new CoreError('no-wasm');
  let loaded;
  try {
    const response = await fetch(wasm);
    if (!response.ok) throw new Error(`${response.status}`);
    const compiled = await WebAssembly.compileStreaming(response);
    loaded = { compiled, module: await Module.compiled(compiled) };
  } catch (error) {
    throw new CoreError(error instanceof WebAssembly.CompileError ? 'wasm-old' : 'wasm-failed', String(error));
  }
  // Older modules have no client core.
  if (typeof loaded.module.exports.core_new !== 'function') throw new CoreError('wasm-other');
  return loaded;
}
