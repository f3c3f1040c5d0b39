// The module in a JavaScript engine says of every frame what the native build says of it.
//   .ci/words
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { before, test } from "node:test";

import { Module, Refused } from "../../web/prove/module.js";

const root = new URL("../../../", import.meta.url);
const file = (path) => readFile(new URL(path, root));
const wasm = () => file(process.env.MODULE ?? "client/module/metatopia.wasm");
const bytes = (hex) => new Uint8Array(Buffer.from(hex, "hex"));
const hex = (bytes) => Buffer.from(bytes).toString("hex");

/** What servers do with keys, and the page leaves to the client core. */
const sign = (secret, message) => module.bytes("sign", Buffer.concat([secret, message]));
const verify = (key, message, signature) => module.bytes("verify", Buffer.concat([key, signature, message]))[0] === 1;
const hash = (bytes) => module.bytes("hash", bytes);

/** @type {Module} */
let module;
/** @type {any[]} */
let lines;

before(async () => {
  module = await Module.compiled(await WebAssembly.compile(await wasm()));
  const text = (await file("target/words/frames.jsonl")).toString();
  lines = text.trim().split("\n").map((line) => JSON.parse(line));
});

test("the module asks its surroundings for nothing", async () => {
  const compiled = await WebAssembly.compile(await wasm());
  assert.deepEqual(WebAssembly.Module.imports(compiled), []);
});

test("keys, signatures and hashes are those of the servers", () => {
  const rows = lines.filter((line) => line.do === "keys");
  assert.ok(rows.length > 5);
  for (const row of rows) {
    const [secret, message] = [bytes(row.secret), bytes(row.message)];
    assert.equal(hex(module.publicKey(secret)), row.key);
    assert.equal(hex(sign(secret, message)), row.signature);
    assert.ok(verify(bytes(row.key), message, bytes(row.signature)));
    assert.ok(!verify(bytes(row.key), bytes("00"), bytes(row.signature)));
    assert.equal(hex(hash(message)), row.hash);
  }
});

test("signatures on the edge get the servers' verdict", async () => {
  const rows = JSON.parse((await file("client/tests/web/signatures.json")).toString());
  for (const row of rows) {
    const said = verify(bytes(row.key), bytes(row.message), bytes(row.signature));
    assert.equal(said, row.valid, row.name);
  }
});

test("the client core does what it does natively, to the byte", () => {
  const seen = new Set();
  const told = new Set(["connected", "frame", "command"]);
  let core = null;
  for (const line of lines) {
    if (line.do === "core") {
      core?.free();
      core = module.core(line.setup, bytes(line.genesis));
    } else if (line.do === "came") {
      assert.deepEqual(core.outgoing().map(hex), line.frames);
      const events = core.events();
      assert.deepEqual(events, line.events);
      for (const { type, level } of events) seen.add(level ? `${type} ${level}` : type);
    } else if (told.has(line.do)) {
      core.take(line.do, line.now, line.wall, line.frame === undefined ? line.command : bytes(line.frame));
    }
  }
  core.free();
  for (const kind of ["genesis", "open", "view", "header", "proof green", "proof red", "leave", "status"]) {
    assert.ok(seen.has(kind), `${kind} is not among ${[...seen]}`);
  }
});

test("replicas come to the native roots, mismatches and capsules", () => {
  const phases = new Set();
  let replica = null;
  for (const line of lines) {
    if (line.do === "replica") {
      replica?.free();
      replica = module.replica(bytes(line.genesis), line.sim, line.from);
    } else if (line.do === "follow") {
      assert.deepEqual(replica.want(), line.want);
      assert.deepEqual(replica.frame(bytes(line.frame)), line.followed);
      phases.add(replica.status().phase);
    } else if (line.do === "capsule") {
      assert.equal(hex(hash(replica.capsule())), line.hash);
    }
  }
  replica.free();
  assert.ok(phases.has("following") && phases.has("mismatch") && phases.has("snapshot"));
});

test("a try tells what it tells natively", () => {
  const seen = new Set();
  let replica = null;
  let trial = null;
  for (const line of lines) {
    if (line.do === "replica") {
      trial?.free();
      trial = null;
      replica?.free();
      replica = module.replica(bytes(line.genesis), line.sim, line.from);
    } else if (line.do === "follow") replica.frame(bytes(line.frame));
    else if (line.do === "try") trial = replica.trial(line.task);
    else if (line.do === "tried") {
      if (line.deed !== null) trial.act(line.deed);
      const report = trial.run(20);
      const told = { ...line.report, lines: line.report.lines.map(({ at, what }) => ({ at, ...what })) };
      assert.deepEqual(report, told);
      for (const { kind } of report.lines) seen.add(kind);
    }
  }
  assert.ok(seen.size > 0, "somebody owns a thing in the golden log");
  trial?.free();
  replica.free();
});

test("what is wrong is refused with a word and a sentence, and nothing breaks", () => {
  const code = (code) => (error) => error instanceof Refused && error.code === code;
  const { genesis, setup } = lines.find((line) => line.do === "core");
  assert.throws(() => module.publicKey(bytes("00")), code("input"));
  assert.throws(() => module.core(setup, bytes("00")), code("genesis"));
  assert.throws(() => module.core({ ...setup, sim: "00".repeat(32) }, bytes(genesis)), code("other_genesis"));
  const core = module.core(setup, bytes(genesis));
  core.take("connected", 0, 0);
  core.take("frame", 1, 1, bytes("ffff"));
  assert.ok(core.events().some(({ type, why }) => type === "leave" && why === "bad-frame"));
  assert.throws(() => core.take("command", 1, 1, /** @type {any} */ ("nonsense")), code("input"));
  core.free();
  assert.throws(() => core.events(), code("handle"));
  assert.equal(module.publicKey(new Uint8Array(32)).length, 32);
});
