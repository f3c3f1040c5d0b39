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

/** @type {Module} */
let module;
/** @type {any[]} */
let lines;

before(async () => {
  module = await Module.of(await wasm());
  const text = (await file("target/words/frames.jsonl")).toString();
  lines = text.trim().split("\n").map((line) => JSON.parse(line));
});

test("the module asks its surroundings for nothing", async () => {
  const compiled = await WebAssembly.compile(await wasm());
  assert.deepEqual(WebAssembly.Module.imports(compiled), []);
});

test("keys, signatures and digests are those of the servers", () => {
  const rows = lines.filter((line) => line.do === "keys");
  assert.ok(rows.length > 5);
  for (const row of rows) {
    const [secret, message] = [bytes(row.secret), bytes(row.message)];
    assert.equal(hex(module.publicKey(secret)), row.key);
    assert.equal(hex(module.sign(secret, message)), row.signature);
    assert.ok(module.verify(bytes(row.key), message, bytes(row.signature)));
    assert.ok(!module.verify(bytes(row.key), bytes("00"), bytes(row.signature)));
    assert.equal(hex(module.digest(row.name, message)), row.digest);
    assert.equal(hex(module.hash(message)), row.hash);
  }
});

test("signatures on the edge get the servers' verdict", async () => {
  const rows = JSON.parse((await file("client/tests/web/signatures.json")).toString());
  for (const row of rows) {
    const said = module.verify(bytes(row.key), bytes(row.message), bytes(row.signature));
    assert.equal(said, row.valid, row.name);
  }
});

test("what a session shows is judged as natively", () => {
  const seen = new Set();
  let prover = null;
  for (const line of lines) {
    if (line.do === "prover") {
      prover?.free();
      prover = module.prover(bytes(line.genesis), line.sim, bytes(line.viewer));
    } else if (line.do === "frame") {
      const events = prover.frame(bytes(line.frame));
      assert.deepEqual(events, line.events);
      for (const { type, code } of events) seen.add(code ? `${type} ${code}` : type);
    } else if (line.do === "present") {
      prover.present(line.present);
    } else if (line.do === "shown") {
      assert.deepEqual(prover.shown(line.drawn), line.found);
    } else if (line.do === "predict") {
      assert.deepEqual(prover.predict(line.walk), line.path);
    } else if (line.do === "digest") {
      assert.equal(prover.digest(), line.digest);
    }
  }
  prover.free();
  assert.deepEqual([...seen].sort(), ["mismatch header", "mismatch proof", "proven", "unproven missing"]);
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
      assert.equal(hex(module.hash(replica.capsule())), line.hash);
    }
  }
  replica.free();
  assert.ok(phases.has("following") && phases.has("mismatch") && phases.has("snapshot"));
});

test("what is wrong is refused with a word and a sentence, and nothing breaks", () => {
  const code = (code) => (error) => error instanceof Refused && error.code === code;
  const { genesis, sim, viewer } = lines.find((line) => line.do === "prover");
  assert.throws(() => module.publicKey(bytes("00")), code("input"));
  assert.throws(() => module.prover(bytes("00"), sim, bytes(viewer)), code("genesis"));
  assert.throws(() => module.prover(bytes(genesis), "00".repeat(32), bytes(viewer)), code("other_genesis"));
  const prover = module.prover(bytes(genesis), sim, bytes(viewer));
  assert.throws(() => prover.frame(bytes("ffff")), code("frame"));
  assert.throws(() => prover.shown(/** @type {any} */ ("nonsense")), code("input"));
  prover.free();
  assert.throws(() => prover.digest(), code("handle"));
  assert.equal(module.publicKey(new Uint8Array(32)).length, 32);
});
