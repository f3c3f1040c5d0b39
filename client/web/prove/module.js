// The WebAssembly module of Metatopia: the client's and the servers' own Rust, for keys, the client
// core and whole replays in the tab. Needs neither a page nor a network: runs in a page, in a worker and in node.
//
// The module imports nothing, so it can ask its surroundings for nothing. One call is: write bytes
// into the module's input, call an export, read its output.

import { joined } from "../core/bytes.js";

/** What a call refuses: the input was wrong, and nothing has changed. */
export class Refused extends Error {
  /** @param {{code: string, text: string}} fault  a word for programs and a sentence */
  constructor({ code, text }) {
    super(text);
    this.name = "Refused";
    this.code = code;
  }
}

/** A panic ended the module, as it was built: everything in it is lost; load it anew. */
const ended = (/** @type {unknown} */ cause) =>
  Object.assign(new Error("the WebAssembly module has ended", { cause }), { code: "wasm-ended" });

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });
const NOTHING = new Uint8Array(0);

/** A value as JSON in bytes. @param {unknown} value */
const text = (value) => encoder.encode(JSON.stringify(value));

/** The module, ready to be called. Calls are synchronous. */
export class Module {
  /** @param {WebAssembly.Instance} instance */
  constructor(instance) {
    this.exports = /** @type {any} */ (instance.exports);
    /** Why it is of no use any more. @type {unknown} */
    this.end = null;
  }

  /** Starts what is compiled already; that can be posted to workers. @param {WebAssembly.Module} compiled */
  static async compiled(compiled) {
    return new Module(await WebAssembly.instantiate(compiled));
  }

  /**
   * Calls an export; what has no method of its own here can be called, too.
   * @param {string} name @param {Uint8Array} input @param {...number} numbers  further arguments
   * @returns {Uint8Array} a copy of the output
   */
  bytes(name, input, ...numbers) {
    if (this.end !== null) throw ended(this.end);
    let output;
    let good;
    try {
      const at = this.exports.input(input.length) >>> 0;
      // The memory may have grown, so it is looked at anew each time.
      new Uint8Array(this.exports.memory.buffer, at, input.length).set(input);
      good = this.exports[name](...numbers) === 1;
      const from = this.exports.output() >>> 0;
      output = new Uint8Array(this.exports.memory.buffer, from, this.exports.output_length()).slice();
    } catch (error) {
      this.end = error;
      throw ended(error);
    }
    if (!good) throw new Refused(JSON.parse(decoder.decode(output)));
    return output;
  }

  /** As bytes, where the output is JSON. @param {string} name @param {Uint8Array} input @param {...number} numbers */
  json(name, input, ...numbers) {
    return JSON.parse(decoder.decode(this.bytes(name, input, ...numbers)));
  }

  /** The public key of a secret. @param {Uint8Array} secret  32 random bytes @returns {Uint8Array} 32 bytes */
  publicKey = (secret) => this.bytes("public_key", secret);

  /**
   * Tries numbers as the work of a first login.
   * @param {Uint8Array} sim  32 bytes @param {Uint8Array} key  the public key, 32 bytes
   * @param {Uint8Array} header  the id of the header that it is done for, 32 bytes
   * @param {bigint} tries  how many it takes on average @param {bigint} from  the first number
   * @param {number} count  how many numbers are tried
   * @returns {bigint | null} the first that solves it
   */
  work(sim, key, header, tries, from, count) {
    const numbers = new DataView(new ArrayBuffer(16));
    numbers.setBigUint64(0, tries, true);
    numbers.setBigUint64(8, from, true);
    const input = joined(sim, key, header, new Uint8Array(numbers.buffer));
    const found = this.bytes("work", input, count);
    return found.length === 0 ? null : new DataView(found.buffer).getBigUint64(0, true);
  }

  /** Opens the proofs of a world's map. @param {MapProofs} told  as a node tells it @returns {ProvenMap} */
  proveMap = (told) => this.json("prove_world_map", text(told));

  /** Reads a list of people, changes it, and signs it. @param {"block" | "buddy"} word @param {ListChange} asked @returns {PeopleList} */
  peopleList = (word, asked) => this.json(`${word}_list`, text(asked));

  /**
   * Reads, writes, seals, opens or gives up keys: see `client/wasm/src/key_desk.rs`.
   * @param {{do: string, [more: string]: any}} task @returns {any} a key with `secret` and `rotation`, or `text`
   */
  keyDesk = (task) => this.json("key_desk", text(task));

  /** What changed between two texts, with the lines around. @param {{before: string, after: string}} texts @returns {{sign: '=' | '-' | '+', text: string}[]} */
  textChanges = (texts) => this.json("text_changes", text(texts));

  /** A client of a sim; refused when the genesis is another one's. @param {CoreName} name @param {Uint8Array} genesis */
  core = (name, genesis) => new Core(this, name, genesis);

  /**
   * A replica of the whole sim.
   * @param {Uint8Array} genesis @param {string} sim
   * @param {"genesis" | "snapshot"} from  where to begin: with the first turn, or with the newest
   *   snapshot of a node, whose root is checked against signatures first
   * @returns {Replica}
   */
  replica = (genesis, sim, from) => new Replica(this, genesis, sim, from);
}

/** What the module holds for this side, under a number, until it is freed. */
class Held {
  #module;
  #handle;

  /** @param {Module} module @param {string} name  of the export that makes it @param {Uint8Array} input @param {...number} numbers */
  constructor(module, name, input, ...numbers) {
    this.#module = module;
    /** @type {number} */
    this.#handle = module.json(name, input, ...numbers).handle;
  }

  /** Makes something of this. @template T @param {(module: Module, handle: number) => T} make @returns {T} */
  make = (make) => make(this.#module, this.#handle);

  /** Calls an export for it. @param {string} name @param {Uint8Array} [input] @param {...number} numbers */
  bytes(name, input = NOTHING, ...numbers) {
    return this.#module.bytes(name, input, this.#handle, ...numbers);
  }

  /** As bytes, where the output is JSON. @param {string} name @param {Uint8Array} [input] @param {...number} numbers @returns {any} */
  json(name, input = NOTHING, ...numbers) {
    return this.#module.json(name, input, this.#handle, ...numbers);
  }

  /** Forgets everything. */
  free = () => this.bytes("drop_handle");
}

/**
 * A client of one sim: its session, its proofs, and what it sees. It knows no carrier and no clock.
 * `now` is a clock in milliseconds that never goes back, `wall` are milliseconds since 1970. After
 * each call ask for `outgoing` and `events`.
 */
export class Core extends Held {
  /** @param {Module} module @param {CoreName} name @param {Uint8Array} genesis */
  constructor(module, name, genesis) {
    const words = text(name);
    super(module, "core_new", joined(words, genesis), words.length);
  }

  /**
   * Tells it what happened: a carrier is there (`connected`) or gone (`disconnected`), a `frame` of the
   * server came as it is, somebody gave a `command` that events will answer, or time went by (`tick`).
   * @param {string} what @param {number} now @param {number} wall
   * @param {Uint8Array | {id: number, do: string}} [brought]
   */
  take(what, now, wall, brought = NOTHING) {
    this.bytes(`core_${what}`, brought instanceof Uint8Array ? brought : text(brought), now, wall);
  }

  /** @returns {Uint8Array[]} the frames that wait for the server, in order */
  outgoing() {
    const frames = [];
    for (;;) {
      const frame = this.bytes("core_outgoing");
      if (frame.length === 0) return frames;
      frames.push(frame);
    }
  }

  /** @returns {any[]} what it has to tell since the last call */
  events = () => this.json("core_events");
}

/**
 * A replica of the whole sim: applies every turn itself and compares its roots with the certified
 * ones. Belongs into a worker: one frame of old turns takes a good part of a second.
 *
 * Ask the node what `want` says, feed the answer's frame, and go on. An answer without turns means
 * that there is no newer one yet: ask again when one is decided. `Busy`: ask again later. `Unknown`:
 * this node no longer has it; ask another, or begin with a snapshot.
 */
export class Replica extends Held {
  /** @param {Module} module @param {Uint8Array} genesis @param {string} sim @param {"genesis" | "snapshot"} from */
  constructor(module, genesis, sim, from) {
    const words = encoder.encode(sim);
    super(module, "replica_new", joined(words, genesis), words.length, from === "snapshot" ? 1 : 0);
  }

  /** @returns {ReplicaWant | null} what to ask next; nothing after a mismatch */
  want = () => this.json("replica_want");

  /**
   * Takes a frame in.
   * @param {Uint8Array} frame  of the session; other frames than answers it wants change nothing
   * @returns {{status: ReplicaStatus, applied: number}} with how many turns were applied
   * @throws {Refused} when the node answered what no honest one does (its certificate is wrong, its
   *   turns do not follow each other): go to another; what was applied before stays
   */
  frame = (frame) => this.json("replica_frame", frame);

  /** @returns {ReplicaStatus} */
  status = () => this.json("replica_status");

  /** Takes down what a script does from now on. @param {{object: number, script: number} | null} script @throws {Refused} where it is not */
  watch = (script) => this.bytes("replica_watch", text(script));

  /** What it did since the last call. */
  watched = () => report(this.json("replica_watched"));

  /** A snapshot and the turns after it, for anybody to replay: so a mismatch is shown. Can be had at any time. */
  capsule = () => this.bytes("replica_capsule");

  /**
   * Begins a try on a copy of its state, which goes on without it.
   * @param {TrialTask} task @returns {Trial}
   * @throws {Refused} when the draft makes no package, or the state is too large
   */
  trial = (task) => this.make((module, handle) => new Trial(module, handle, task));
}

/** A draft of a script that runs on a copy of a replica's state. */
export class Trial extends Held {
  /** @param {Module} module @param {number} replica @param {TrialTask} task */
  constructor(module, replica, task) {
    super(module, "trial_new", text({ do: "begin", ...task }), replica);
  }

  /** Has the author do something in the copy. @param {{do: string, [more: string]: any}} deed */
  act = (deed) => this.bytes("trial_act", text(deed));

  /** Lets turns go by. @param {number} turns @returns {Omit<TrialReport, 'running'>} since the last call */
  run = (turns) => report(this.json("trial_run", NOTHING, turns));
}

/** A report as the page reads it. @param {any} told @returns {Omit<TrialReport, 'running'>} */
const report = (told) => ({ ...told, lines: told.lines.map((/** @type {any} */ { at, what }) => ({ at, ...what })) });
