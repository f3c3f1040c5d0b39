// Runs the checks of the wasm32 module and prints its reports as the native program does: facts on
// standard output, times on standard error. Needs nothing but node:
//   node tests/portable/run.mjs portable.wasm
import { readFile } from "node:fs/promises";

const FAILED = 0xffffffff;
const CHECKS = ["replay", "panics", "deepest", "widest", "hostile", "scenes", "letters", "strangers"];

const [path] = process.argv.slice(2);
if (path === undefined) {
  console.error("usage: node run.mjs MODULE");
  process.exit(2);
}
const module = await WebAssembly.compile(await readFile(path));

// A module that imports nothing cannot ask for the time, for random numbers or for anything else
// that two machines could answer differently.
const imports = WebAssembly.Module.imports(module);
if (imports.length > 0) {
  const names = imports.map(({ module, name }) => `${module}.${name}`).join(", ");
  console.error(`the module imports ${names}`);
  process.exit(1);
}
const { exports } = await WebAssembly.instantiate(module);

let allHeld = true;
for (const check of CHECKS) {
  const begin = performance.now();
  const held = exports[check]() >>> 0;
  console.error(`${check} ${((performance.now() - begin) / 1000).toFixed(3)} s`);
  // The memory may have grown, so it is looked at anew each time.
  const bytes = new Uint8Array(exports.memory.buffer, exports.report() >>> 0, exports.report_length());
  console.log(`${check}: ${held === FAILED ? "failed" : `${held} held`}`);
  console.log(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  allHeld &&= held !== FAILED;
}
process.exitCode = allHeld ? 0 : 1;
