// How fast the module is, in this engine:
//   .ci/words
//   cargo run --release -p metatopia-wasm --example history -- target/words/history.bin 50
//   node client/wasm/tests/measure.mjs
import { readFile } from "node:fs/promises";
import { brotliCompressSync, constants } from "node:zlib";

import { Module } from "../../web/prove/module.js";

const TURN_MS = 50;
const root = new URL("../../../", import.meta.url);
const file = (name) => readFile(new URL(`target/words/${name}`, root));
const say = (what, found, bound) => console.log(`${what.padEnd(46)}${found.padEnd(22)}${bound}`);

/** Processor time of this process, all its threads, in milliseconds. */
const spent = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

const wasm = await readFile(new URL(process.env.MODULE ?? "client/module/metatopia.wasm", root));
// The densest, as .ci/module packs it.
const packed = brotliCompressSync(wasm, { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } }).length;
say("module", `${(wasm.length / 1e6).toFixed(2)} MB, ${(packed / 1e6).toFixed(2)} MB br`, "<= 1.5 MB br");

// The core: a session that sees every turn of the plaza, every fourth of them proved, and walks.
const lines = (await file("frames.jsonl")).toString().trim().split("\n").map((l) => JSON.parse(l));
const bytes = (hex) => new Uint8Array(Buffer.from(hex, "hex"));
const start = lines.findIndex(({ do: what }) => what === "core");
const end = lines.findIndex(({ do: what }, at) => what === "core" && at > start);
const session = lines.slice(start + 1, end).filter(({ do: what }) => what !== "came");
const views = lines.slice(start, end).flatMap(({ events }) => events ?? []).filter(({ type }) => type === "view").length;
const module = await Module.compiled(await WebAssembly.compile(wasm));

/** Plays the session with a core of its own. */
function play() {
  const core = module.core(lines[start].setup, bytes(lines[start].genesis));
  for (const { do: what, frame, command, now, wall } of session) {
    core.take(what, now, wall, frame ?? command);
    core.outgoing();
    core.events();
  }
  core.free();
}

for (const line of session) if (line.do === "frame") line.frame = bytes(line.frame);
const [ROUNDS, WARM] = [20, 5];
for (let round = 0; round < WARM; round++) play();
let begin = spent();
for (let round = 0; round < ROUNDS; round++) play();
const share = (spent() - begin) / (ROUNDS * views * TURN_MS);
say("client core, every turn of 20 a second seen", `${(100 * share).toFixed(2)} % of a core`, "<= 5 %");

// A replay of ten minutes.
const history = await file("history.bin");
const pieces = [];
for (let at = 0; at < history.length; ) {
  const length = history.readUInt32LE(at);
  pieces.push(history.subarray(at + 4, at + 4 + length));
  at += 4 + length;
}
const facts = JSON.parse(pieces[0].toString());
const replica = module.replica(pieces[1], facts.sim, "genesis");
begin = spent();
const clock = performance.now();
for (const frame of pieces.slice(2)) replica.frame(frame);
const [cpu, wall] = [(spent() - begin) / 1_000, (performance.now() - clock) / 1_000];
if (replica.status().root !== facts.root) throw new Error("the replay came to another root");
say(`replay of ${facts.turns} turns with ${facts.people} people`, `${cpu.toFixed(1)} s, wall ${wall.toFixed(1)} s`, "<= 20 s");
say("against a native release build", `${(cpu / facts.native_s).toFixed(2)} times`, "<= 2.5 times");
