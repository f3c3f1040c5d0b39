// Measures how much longer a step of the physics takes on wasm32 than natively; .ci/pace makes what it measures:
//   node tests/portable/pace.mjs NATIVE PROFILE=MODULE... [--json] [SCENE...]
// All builds make their steps in turns, so that a machine that slows down slows all. A figure is the median of the
// processor time of the last quarter of the steps: by then a module is compiled as well as it will be. It fails where
// two builds come to different digests.
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";

const BOUND = 1.6;
// So many steps are made in one turn.
const TURN = 10;

const words = process.argv.slice(2);
const json = words.includes("--json");
const [native, ...rest] = words.filter((word) => word !== "--json");
const modules = rest.filter((word) => word.includes("=")).map((word) => word.split("=", 2));
const wanted = rest.filter((word) => !word.includes("="));
if (native === undefined || modules.length === 0) {
  console.error("usage: node pace.mjs NATIVE PROFILE=MODULE... [--json] [SCENE...]");
  process.exit(2);
}

const child = spawn(native, [], { stdio: ["pipe", "pipe", "inherit"] });
const replies = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
async function ask(request) {
  child.stdin.write(`${request}\n`);
  const { value, done } = await replies.next();
  if (done) throw new Error(`the native build did not answer ${request}`);
  return value;
}

// Returns the milliseconds of processor time that this process has had.
function spent() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function median(times) {
  const last = times.slice(-Math.floor(times.length / 4)).sort((a, b) => a - b);
  return last[Math.floor(last.length / 2)];
}

// Plays a scene in all builds, and returns the times of their steps, the native ones first.
async function play(number, steps) {
  const sides = [];
  for (const [, path] of modules) {
    const { instance } = await WebAssembly.instantiate(await readFile(path));
    instance.exports.begin(number);
    sides.push({ exports: instance.exports, times: [] });
  }
  const nativeTimes = [];
  for (let made = 0; made < steps; made += TURN) {
    const told = await ask(`step ${TURN}`);
    nativeTimes.push(...told.split(" ").map((nanoseconds) => Number(nanoseconds) / 1e6));
    for (const { exports, times } of sides) {
      for (let step = 0; step < TURN; step += 1) {
        const began = spent();
        exports.step();
        times.push(spent() - began);
      }
    }
  }
  const digest = await ask("digest");
  const digests = sides.map(({ exports }) => BigInt.asUintN(64, exports.digest()).toString(16).padStart(16, "0"));
  const differs = digests.findIndex((found) => found !== digest);
  if (differs >= 0) throw new Error(`${modules[differs][0]} came to ${digests[differs]}, the native build to ${digest}`);
  return [nativeTimes, ...sides.map(({ times }) => times)];
}

const scenes = (await ask("scenes")).split(" ");
const unknown = wanted.find((name) => !scenes.includes(name));
if (unknown !== undefined) throw new Error(`there is no scene ${unknown}; there are ${scenes.join(", ")}`);
if (!json) console.log("scene           profile   native ms    wasm ms   ratio   bound");
for (const [number, scene] of scenes.entries()) {
  if (wanted.length > 0 && !wanted.includes(scene)) continue;
  const steps = Number(await ask(`begin ${number}`));
  const [native_ms, ...all] = (await play(number, steps)).map(median);
  for (const [side, wasm_ms] of all.entries()) {
    const [profile] = modules[side];
    const ratio = wasm_ms / native_ms;
    if (json) {
      const rounded = (value) => Number(value.toFixed(3));
      const figures = { native_ms: rounded(native_ms), wasm_ms: rounded(wasm_ms), ratio: rounded(ratio) };
      console.log(JSON.stringify({ scene, profile, ...figures, bound: BOUND, ok: ratio <= BOUND }));
    } else {
      const cells = [scene.padEnd(15), profile.padEnd(8)];
      const number = (value, places, width) => value.toFixed(places).padStart(width);
      cells.push(number(native_ms, 3, 10), number(wasm_ms, 3, 10), number(ratio, 2, 7), number(BOUND, 2, 7));
      console.log(cells.join(" ") + (ratio <= BOUND ? "" : "   NOT MET"));
    }
  }
}
child.stdin.end();
