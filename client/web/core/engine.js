/**
 * Everything the page needs from a sim; nothing of what it looks like. The client core, in a worker,
 * owns the session, the proofs and the sight; here are the carriers, the servers to try, and what is
 * drawn.
 */
import { fromBase64 } from './bytes.js';
import { askGenesis } from './carriers.js';
import { building, commands } from './commands.js';
import { randomLane, randomSecret } from './keys.js';
import { Link } from './link.js';
import { CoreError, Port } from './port.js';
import { ReplicaMode } from './replica.js';
import { Scene } from './scene.js';
import { Servers } from './servers.js';
import { memoryStore } from './store.js';
import { Trial } from './trial.js';
import { solve } from './work.js';

/** Why there can be no copy of a state, though it is known what is in sight. */
const NO_COPY = new Set(['TooLarge', 'tier', 'port']);

/** Headers that are listed. */
const HEADERS_MAX = 64;

/** What the core says of its session before there is one. */
const NOT_YET = {
  server: /** @type {string|null} */ (null), height: 0, certain: 0, turnsPerSecond: 0, pending: 0, rtt: /** @type {number|null} */ (null),
  bytesIn: 0, bytesOut: 0, here: false, working: false,
};

/** @typedef {new () => EventTarget & import('./commands.js').Commands<'engine'>} Commander */
const Commanded = /** @type {Commander} */ (EventTarget);

/** Events: 'status', 'heard', 'forgotten', 'profile', 'form', 'sound', 'proof', 'view', 'replica', 'age', 'failed'. */
export class Engine extends Commanded {
  /** @param {Options} options */
  constructor({
    origin, identity, compiled, prefer, ticket = null, checkpoint = null, at = null, sim = null,
    servers = [], store = memoryStore(),
  }) {
    super();
    [this.identity, this.compiled, this.store] = [identity, compiled, store];
    /** The only one to speak with; the first one met if none was named. */
    this.sim = sim;
    this.simName = '';
    /** How far the sim was by the newest set of servers that was followed, in a line. */
    this.checkpoint = checkpoint;
    /** The newest verified header is so old, in seconds, and nobody has said that this is well.
     * @type {number|null} */
    this.age = null;
    /** Does the person only look, because the state is too old to act on? */
    this.watching = false;
    this.now = () => performance.now();
    /** Who hears of events: another engine's listeners, once the page has gone over from that one. @type {EventTarget} */
    this.ears = this;
    this.sight = new Scene();
    /** @type {{bytes: Uint8Array, packages: {id: string, name: string}[], [more: string]: any}|null} */
    this.genesis = null;
    /** Who votes, once that is known. @type {Member[]|null} */
    this.members = null;
    this.told = NOT_YET;
    /** Whose ground is where, by the server's word. @type {Lot[]} */
    this.lots = [];
    this.joints = /** @type {Joint[]} */ ([]);
    /** @type {ProofState} */
    this.proof = {
      level: 'amber', of: null, time: null, signed: 0, members: 0, reason: 'waiting', detail: null, headers: [],
    };
    this.name = { secret: identity.secret, rotation: identity.rotation, lane: randomLane(), random: randomSecret(), ticket, at };
    this.port = new Port({
      event: ({ type, ...detail }) => (this.#deeds[type] ? this.#deeds[type](detail) : this.#tell(type, detail)),
      frame: (frame) => this.link.carrier?.send(frame),
      failed: (code) => {
        this.link.stop(code);
        this.#tell('failed', code);
      },
    });
    this.known = new Servers(origin, this.now);
    this.known.suggest(servers);
    this.link = new Link({
      port: this.port,
      servers: this.known,
      prefer,
      changed: () => this.#tell('status'),
      sim: () => this.sim,
      greet: (http, offer) => this.#greet(http, offer),
    });
    this.replicaMode = new ReplicaMode({
      changed: () => this.#tell('replica'),
      askRaw: (question) => this.raw(question),
      height: () => this.status.height,
    });
    /** Runs a sketch, which nobody else decides anything in. */
    this.sketchMode = new ReplicaMode({ changed: () => {}, askRaw: () => new Promise(() => {}), height: () => 0 });
    /** @type {Ask} */
    const ask = (what, fields) => this.port.ask(what, fields);
    Object.assign(this, commands('engine', ask));
    this.build = building(ask);
  }

  /** Connects, keeps connected, and goes to another server when one dies. */
  start = () => this.link.start();

  stop() {
    this.link.stop('left');
    this.stopReplicas();
  }

  /** Ends replica mode, and the try in a sketch. */
  stopReplicas = () => [this.replicaMode, this.sketchMode].forEach((mode) => mode.stop());

  get status() {
    const { told, link, sight } = this;
    return {
      ...told,
      server: told.server ?? '',
      phase: link.phase,
      why: link.why,
      carrier: link.carrier?.kind ?? null,
      http: link.http ?? '',
      alone: !this.known.hasOther(link.http ?? ''),
      height: Math.max(told.height, sight.height),
      tick: sight.tick,
      sim: this.sim ?? '',
      simName: this.simName,
    };
  }

  /** The own avatar. */
  get me() {
    return this.sight.me;
  }

  get replica() {
    return this.replicaMode.state;
  }

  /** Runs the whole sim in a worker, or no more. @param {boolean} on */
  async setReplica(on) {
    if (!on) return this.replicaMode.stop();
    if (this.genesis === null) return this.replicaMode.stop('NeverOpen');
    return this.replicaMode.start(this.compiled, this.genesis.bytes, this.sim ?? '');
  }

  /**
   * Tries a draft on a copy of the replica's state; replica mode goes on if it is off. Where there can be no
   * such copy, another try goes on among what is in sight alone.
   * @param {{object: number, script: number | null, draft: any}} what
   * @param {TrialEars & {sketched: (trial: Trial) => void}} ears
   */
  tryOut(what, ears) {
    const starts = !this.replica.on;
    const task = { ...what, author: this.identity.public };
    const failed = (/** @type {CoreError} */ error) => (NO_COPY.has(error.code) ? void this.#sketch(task, ears) : ears.failed(error));
    const trial = new Trial(this.replicaMode, starts, task, { ...ears, failed });
    if (starts) this.setReplica(true);
    else trial.look();
    return trial;
  }

  /** Watches a script of the sim in the replica, which goes on if it is off. @param {number} object @param {number} script @param {TrialEars} ears */
  watchScript(object, script, ears) {
    const trial = new Trial(this.replicaMode, false, { object, script, author: this.identity.public, draft: null }, ears);
    if (this.replica.on) trial.look();
    else this.setReplica(true);
    return trial;
  }

  /** Tries a draft in a sketch of the sim. @param {TrialTask} task @param {any} ears */
  async #sketch(task, ears) {
    // First whoever asked gets the try that failed.
    await null;
    const trial = new Trial(this.sketchMode, false, task, ears);
    ears.sketched(trial);
    const drawn = await this.sketch(task.object, task.draft.imports).catch((error) => trial.fail(error.code, error.detail));
    if (!drawn || trial.ended) return;
    const { genesis, sim, ...there } = drawn;
    trial.task = { ...task, ...there, script: null };
    this.sketchMode.start(this.compiled, fromBase64(genesis), sim, 'genesis');
  }

  /** Tabs that nobody looks at get few views. @param {'active'|'hidden'} pulse */
  setPulse = (pulse) => this.port.tell('watch', { pulse });

  /** Goes to another server: this one, or whichever answers. @param {string|null} [http] */
  moveTo = (http = null) => this.link.move(http);

  /** Says whether a state that is so old is believed all the same. @param {boolean} accept */
  trust(accept) {
    this.age = null;
    this.watching = !accept;
    this.port.tell('trust', { accept });
  }

  /** The source of all that runs here, and of what ships with the sim, as one archive. */
  async allSource() {
    const { archive, list } = await this.port.ask('all_source');
    return { archive: new Blob([/** @type {any} */ (fromBase64(archive))], { type: 'application/x-tar' }), list };
  }

  /** Where the servers are, and how far. */
  async servers() {
    this.known.learn(await this.port.ask('servers'));
    await this.known.measure(this.sim);
    const voting = new Set((this.members ?? []).map(({ key }) => key));
    return [...this.known.known.values()].map(({ http, server, quic, rtt }) => ({
      server, http, quic, rtt, here: http === this.link.http,
      voting: this.members === null ? null : voting.has(server ?? ''),
    }));
  }

  /**
   * Makes ready for a server: the first one that is met names the sim, if the page does not.
   * @param {string} http @param {Offer} offer
   * @returns {Promise<string|null>} why it cannot be entered, if so
   */
  async #greet(http, offer) {
    if (this.sim !== null && offer.sim !== this.sim) return 'other-world';
    // Before anything else is asked: it may be the last word of this server.
    if (!this.known.learned) this.known.suggest(offer.servers);
    this.simName ||= offer.name ?? '';
    if (this.port.worker !== null) return null;
    const { sim } = offer;
    const genesis = await askGenesis(http, sim);
    // What this browser has seen itself counts for more than what a link says.
    const kept = await this.store.get(`checkpoint/${sim}`);
    const known = [kept ?? this.checkpoint, this.checkpoint, null];
    for (const checkpoint of new Set(known)) {
      try {
        await this.port.start({ compiled: this.compiled, name: { ...this.name, sim, checkpoint }, genesis });
        this.checkpoint = checkpoint;
        break;
      } catch (error) {
        if (!(error instanceof CoreError)) throw error;
        // A checkpoint that this module does not know keeps nobody out.
        if (error.code !== 'checkpoint' || checkpoint === null) return error.code;
      }
    }
    this.sim = sim;
    this.genesis = { packages: [], ...this.genesis, bytes: genesis };
    return null;
  }

  /** What is done about events that are not told on as they are. @type {Record<string, (detail: any) => unknown>} */
  #deeds = {
    status: (detail) => {
      this.told = { ...this.told, ...detail };
      this.simName = detail.simName || this.simName;
      this.#tell('status');
    },
    open: ({ server }) => this.link.opened(server),
    leave: ({ why }) => this.link.leave(why),
    // What the sim says about itself.
    genesis: (detail) => {
      this.genesis = { bytes: new Uint8Array(0), ...this.genesis, ...detail };
      this.members ??= detail.validators;
      this.simName = detail.name;
      this.sight.timeline.ticksPerTurn = detail.ticksPerTurn;
      this.#tell('status');
    },
    view: (detail) => {
      this.sight.take(detail, this.now());
      this.replicaMode.tick();
      this.#tell('view');
    },
    path: (detail) => this.sight.predictor.follow(detail, this.now()),
    proof: (detail) => {
      this.proof = { ...this.proof, ...detail };
      this.#tell('proof');
    },
    header: (detail) => {
      this.proof = { ...this.proof, headers: [detail, ...this.proof.headers].slice(0, HEADERS_MAX) };
    },
    // Another land office may be followed than the one that the genesis names, and other house rules may hold.
    charter: ({ type: _, ...now }) => {
      const about = this.genesis?.introduction ?? now;
      const before = about.houseRulesDigest;
      if (Object.assign(about, now).houseRulesDigest !== before) this.#tell('rules');
    },
    members: ({ members }) => (this.members = members),
    servers: ({ list }) => this.known.learn(list),
    checkpoint: ({ text }) => {
      this.checkpoint = text;
      // A browser that keeps nothing asks again the next time.
      this.store.put(`checkpoint/${this.sim}`, text).catch(() => {});
    },
    age: ({ seconds }) => {
      this.age = seconds;
      this.#tell('age', seconds);
    },
    work: (detail) => this.#work(detail),
    lots: ({ list }) => (this.lots = list),
    joints: ({ list }) => (this.joints = list),
  };

  /** @param {{id: number, sim: string, key: string, header: string, tries: string}} puzzle */
  async #work({ id, ...puzzle }) {
    try {
      this.port.tell('worked', { work: id, nonce: await solve(this.compiled, puzzle) });
    } catch (error) {
      this.port.tell('worked', { work: id, failed: error instanceof CoreError ? error.code : 'NoModule' });
    }
  }

  /** @param {string} type @param {any} [detail] */
  #tell = (type, detail = null) => this.ears.dispatchEvent(new CustomEvent(type, { detail }));
}
