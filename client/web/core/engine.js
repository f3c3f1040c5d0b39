// @ts-check
/**
 * Everything the page needs from a sim; nothing of what it looks like. The client core, in a worker,
 * owns the session, the proofs and the sight; here are the carriers, the servers to try, and what is
 * drawn.
 */
import { fromBase64 } from './bytes.js';
import { askGenesis } from './carriers.js';
import { randomLane, randomSecret } from './keys.js';
import { Link } from './link.js';
import { CoreError, Port } from './port.js';
import { ReplicaMode } from './replica.js';
import { Scene } from './scene.js';
import { Servers } from './servers.js';
import { memoryStore } from './store.js';
import { Trial } from './trial.js';
import { solve } from './work.js';

/** Headers that are listed. */
const HEADERS_MAX = 64;

/**
 * @typedef {object} Options
 * @property {string} origin of the first node, such as `http://127.0.0.1:8080`
 * @property {import('./keys.js').Identity} identity
 * @property {WebAssembly.Module} compiled the module, for workers
 * @property {'webtransport'|'websocket'} [prefer] the only carrier to use
 * @property {string|null} [ticket] the secret of a ticket, for a key that is new to the sim
 * @property {string|null} [checkpoint] how far the sim was, as a link says
 * @property {{x: number, y: number}|null} [at] where to look while there is no avatar
 * @property {string|null} [sim] the only one to enter
 * @property {string[]} [servers] where its servers are, as the page was told
 * @property {import('./store.js').Store} [store] keeps the newest checkpoint of each sim
 */

/** A server that votes. @typedef {{key: string, power: number}} Member */

/**
 * What an act came to.
 * @typedef {object} Result
 * @property {string} act its id
 * @property {number} height of the turn
 * @property {boolean} ok
 * @property {string|null} refusal the rule that refused it, by its name in the protocol
 * @property {number|null} made the object that it made
 */

/**
 * What is known about the truth of what is in sight.
 * @typedef {object} ProofState
 * @property {'green'|'amber'|'red'} level
 * @property {number|null} of the height whose state is proven
 * @property {number|null} time of the header that says so, in milliseconds since 1970
 * @property {number} signed by so many
 * @property {number} members of so many
 * @property {string|null} reason a code
 * @property {string|null} detail
 * @property {{height: number, time: number, proposer: string, round: number, signers: string[],
 *   verified: boolean}[]} headers newest first
 */

/** Ground that a player took. @typedef {{lot: number, name: string, holder: string, own: boolean, lets: boolean, x: number, y: number, hx: number, hy: number, angle: number, round: boolean}} Lot */

/** What holds two things, or a thing to the ground, by places as the things see them. @typedef {{a: number | null, b: number, kind: 'hinge'|'rod'|'weld'|'slider'|'target', along: number, ax: number, ay: number, bx: number, by: number}} Joint */

/** What the core says of its session before there is one. */
const NOT_YET = {
  server: /** @type {string|null} */ (null), height: 0, certain: 0, turnsPerSecond: 0, pending: 0, rtt: /** @type {number|null} */ (null),
  bytesIn: 0, bytesOut: 0, here: false, working: false,
};

/**
 * What builders do, as commands. Sizes are whole widths and heights in metres, angles radians.
 * @param {(what: string, fields?: any) => Promise<Result>} act
 */
const building = (act) => ({
  /**
   * @param {{kind: string, name: string, text?: string, color: number, round?: boolean, rod?: boolean, corners?: [number, number][], w: number,
   *   h?: number, movable?: boolean, x: number, y: number, angle?: number, licence?: string}} spec
   */
  place: (spec) => act('place', {
    spec: { text: '', round: false, h: spec.w, movable: true, angle: 0, licence: 'CcBySa', ...spec },
  }),
  move: (/** @type {number} */ object, /** @type {number} */ x, /** @type {number} */ y) => act('move', { object, x, y }),
  rotate: (/** @type {number} */ object, /** @type {number} */ angle) => act('rotate', { object, angle }),
  resize: (/** @type {number} */ object, /** @type {number} */ w, h = w) => act('resize', { object, w, h }),
  color: (/** @type {number} */ object, /** @type {number} */ color) => act('color', { object, color }),
  makeOf: (/** @type {number} */ object, /** @type {string} */ material) => act('make_of', { object, material }),
  rename: (/** @type {number} */ object, /** @type {string} */ name) => act('rename', { object, name }),
  write: (/** @type {number} */ object, /** @type {string} */ text) => act('write', { object, text }),
  copy: (/** @type {number} */ object, /** @type {number} */ x, /** @type {number} */ y) => act('copy', { object, x, y }),
  remove: (/** @type {number} */ object) => act('remove', { object }),
  give: (/** @type {number} */ object, /** @type {string} */ to) => act('give', { object, to }),
  attach: (/** @type {number} */ object, /** @type {string} */ name) => act('attach', { object, package: name }),
  detach: (/** @type {number} */ object, /** @type {number} */ script) => act('detach', { object, script }),
  resume: (/** @type {number} */ object, /** @type {number} */ script) => act('resume', { object, script }),
  upgrade: (/** @type {number} */ object, /** @type {number} */ script, /** @type {string} */ name) => act('upgrade', { object, script, package: name }),
  letTravel: (/** @type {number} */ object, /** @type {boolean} */ travels) => act('let_travel', { object, travels }),
  take: (/** @type {number} */ object) => act('take', { object }),
  putDown: (/** @type {number} */ object) => act('put_down', { object }),
  join: (/** @type {number} */ object, /** @type {number | null} */ to, /** @type {string} */ kind) => act('join', { object, to, kind }),
  unjoin: (/** @type {number} */ object) => act('unjoin', { object }),
  undo: () => act('undo'),
});

/** Events: 'status', 'heard', 'form', 'sound', 'proof', 'view', 'replica', 'age', 'failed'. */
export class Engine extends EventTarget {
  /** @param {Options} options */
  constructor({
    origin, identity, compiled, prefer, ticket = null, checkpoint = null, at = null, sim = null,
    servers = [], store = memoryStore(),
  }) {
    super();
    this.identity = identity;
    this.compiled = compiled;
    this.store = store;
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
    /** @type {Joint[]} */
    this.joints = [];
    /** @type {ProofState} */
    this.proof = {
      level: 'amber', of: null, time: null, signed: 0, members: 0, reason: 'waiting', detail: null, headers: [],
    };
    this.name = { secret: identity.secret, lane: randomLane(), random: randomSecret(), ticket, at };
    this.port = new Port({
      event: ({ type, ...detail }) => this.#deeds[type]?.(detail),
      frame: (frame) => this.link.carrier?.send(frame),
      failed: (code) => this.#failed(code),
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
    this.build = building((what, fields) => this.port.ask(what, fields));
  }

  /** Connects, keeps connected, and goes to another server when one dies. */
  start() {
    this.link.start();
  }

  stop() {
    this.link.stop('left');
    this.replicaMode.stop();
  }

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

  /** Does the tab do the work that a first login shows? */
  get working() {
    return this.told.working;
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
   * Tries a draft on a copy of the replica's state; replica mode goes on if it is off.
   * @param {{object: number, script: number | null, draft: any}} what @param {import('./trial.js').Trial['ears']} ears
   */
  tryOut(what, ears) {
    const starts = !this.replica.on;
    const trial = new Trial(this.replicaMode, starts, { ...what, author: this.identity.public }, ears);
    if (starts) this.setReplica(true);
    else trial.look();
    return trial;
  }

  /** Tabs that nobody looks at get few views. @param {'active'|'hidden'} pulse */
  setPulse(pulse) {
    this.port.tell('watch', { pulse });
  }

  /** Goes to another server: this one, or whichever answers. @param {string|null} [http] */
  moveTo(http = null) {
    this.link.move(http);
  }

  /** Says whether a state that is so old is believed all the same. @param {boolean} accept */
  trust(accept) {
    this.age = null;
    this.watching = !accept;
    this.port.tell('trust', { accept });
  }

  /** @param {string} name @param {import('./scene.js').Look} look @returns {Promise<Result>} */
  login = (name, look) => this.port.ask('login', { name, look });
  /** @returns {Promise<Result>} */
  leave = () => this.port.ask('leave');

  /**
   * Walks this way.
   * @param {number} x @param {number} y unit or zero
   * @returns {Promise<Result|null>} null if nothing had to be said
   */
  walk = (x, y) => this.port.ask('walk', { x, y });
  /** @param {number} object @returns {Promise<Result>} */
  touch = (object) => this.port.ask('touch', { object });
  /** @param {number} object @returns {Promise<Result>} */
  push = (object) => this.port.ask('push', { object });
  /** @param {number | null} on a thing; none to stand up @returns {Promise<Result>} */
  sit = (on) => this.port.ask('sit', { on });
  /** @param {string} text @param {number | string} [channel] 0 nearby, 1 everywhere, or the key of the one person who can read it @returns {Promise<Result>} */
  say = (text, channel = 0) => this.port.ask('say', { text, channel });
  /** Replies to a form. @param {number} object @param {string} tag @param {number} choice @param {string} text @returns {Promise<Result>} */
  reply = (object, tag, choice, text) => this.port.ask('reply', { object, tag, choice, text });
  /** @param {number} object @param {any} terms @param {boolean} accepts */
  answer = (object, terms, accepts) => this.port.ask('answer', { object, terms, accepts });
  forbid = () => this.port.ask('forbid');
  /** Orders something about people or things. @param {any} order @returns {Promise<Result>} */
  govern = (order) => this.port.ask('govern', { order });
  /** What was ordered about somebody; about oneself, if nobody is named. @param {string} [key] */
  person = (key) => this.port.ask('person', { key });
  /** What was ordered below a number, proved; from the last order, without one. @param {number|null} below */
  orders = (below) => this.port.ask('orders', { below });
  /** Tells moderators of a thing, a person, or private words. @param {{object?: number, key?: string, private?: number}} about @param {string} words @returns {Promise<Result>} */
  fileReport = (about, words) => this.port.ask('file_report', { ...about, words });
  /** @param {number} report @returns {Promise<Result>} */
  withdrawReport = (report) => this.port.ask('withdraw_report', { report });
  /** Who asks that another key take over one's own; null if nobody does. @returns {Promise<{by: string[], need: number, key: string|null, left: string}|null>} */
  recovery = () => this.port.ask('recovery');
  cancelRecovery = () => this.port.ask('cancel_recovery');
  /** What people told moderators. @returns {Promise<{report: number, text: string, own: boolean, open: boolean}[]>} */
  reports = () => this.port.ask('reports');
  /** The borders near a place. @param {number} x @param {number} y @returns {Promise<import('./border.js').Border[]>} */
  borders = (x, y) => this.port.ask('borders', { x, y });
  /** Announces here that one comes from a neighbour. @param {string} from @returns {Promise<Result>} */
  approach = (from) => this.port.ask('approach', { from });
  /** Claims ground around a place. @param {number} x @param {number} y @param {number} side @returns {Promise<Result>} */
  claimLot = (x, y, side) => this.port.ask('claim_lot', { x, y, side });
  /** @param {number} lot @returns {Promise<Result>} */
  returnLot = (lot) => this.port.ask('return_lot', { lot });
  /** @param {'wave'|'nod'|'dance'|'bow'|'laugh'} kind @returns {Promise<Result>} */
  emote = (kind) => this.port.ask('emote', { kind });
  /** @param {import('./scene.js').Look} look @returns {Promise<Result>} */
  setLook = (look) => this.port.ask('set_look', { look });
  /** Who is here. @returns {Promise<any[]>} */
  players = () => this.port.ask('players');
  /** What runs here. @returns {Promise<any[]>} */
  scripts = () => this.port.ask('scripts');
  /** What somebody owns; oneself, if nobody is named. @param {string} [owner] a key */
  things = (owner = this.identity.public) => this.port.ask('things', { owner });
  /** In which order a script got its events. @param {number} height @param {number} script */
  order = (height, script) => this.port.ask('order', { height, script });
  /** A package with its source, hashed again. @param {string} id */
  source = (id) => this.port.ask('source', { package: id });
  /** What can be attached, by the node's word. @returns {Promise<{id: string, name: string, version: string}[]>} */
  packages = () => this.port.ask('packages');
  /** What is wrong with a source, by its compiler. @param {string} source @param {Record<string, string>} [imports] @returns {Promise<{line: number, column: number, message: string}[]>} */
  check = (source, imports) => this.port.ask('check', { source, imports });

  /**
   * What scripts can call, what one begins with, and which licences there are.
   * @returns {Promise<{example: string, licences: string[], entries: {name: string, form: string, doc: string}[]}>}
   */
  reference = () => this.port.ask('reference');
  /** Publishes a script. @param {any} draft @returns {Promise<Result & {package: string}>} with the id of its package */
  publish = (draft) => this.port.ask('publish', { draft });
  /** Who decides here. */
  governance = () => this.port.ask('governance');

  /**
   * Asks a question of a replica.
   * @param {any} question
   * @returns {Promise<{kind: string, frame: Uint8Array}>} the answer's whole frame
   */
  raw = (question) => this.port.ask('raw', { question });

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
   * @param {string} http @param {import('./carriers.js').Offer} offer
   * @returns {Promise<string|null>} why it cannot be entered, if so
   */
  async #greet(http, offer) {
    if (this.sim !== null && offer.sim !== this.sim) return 'other-world';
    // Before anything else is asked: it may be the last word of this server.
    if (!this.known.learned) this.known.suggest(offer.servers);
    this.simName ||= offer.name ?? '';
    if (this.port.started) return null;
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

  /** What is done about each kind of event. @type {Record<string, (detail: any) => unknown>} */
  #deeds = {
    status: (detail) => {
      this.told = { ...this.told, ...detail };
      this.simName = detail.simName || this.simName;
      this.#tell('status');
    },
    open: ({ server }) => this.link.opened(server),
    leave: ({ why }) => this.link.leave(why),
    genesis: (detail) => this.#learn(detail),
    view: (detail) => this.#view(detail),
    path: (detail) => this.sight.predictor.follow(detail, this.now()),
    proof: (detail) => {
      this.proof = { ...this.proof, ...detail };
      this.#tell('proof');
    },
    header: (detail) => {
      this.proof = { ...this.proof, headers: [detail, ...this.proof.headers].slice(0, HEADERS_MAX) };
    },
    // Another land office may be followed than the one that the genesis names.
    charter: ({ world }) => this.genesis && (this.genesis.introduction.world = world),
    members: ({ members }) => (this.members = members),
    servers: ({ list }) => this.known.learn(list),
    checkpoint: ({ text }) => this.#remember(text),
    age: ({ seconds }) => {
      this.age = seconds;
      this.#tell('age', seconds);
    },
    work: (detail) => this.#work(detail),
    heard: (detail) => this.#tell('heard', detail),
    lots: ({ list }) => (this.lots = list),
    joints: ({ list }) => (this.joints = list),
    form: (detail) => this.#tell('form', detail),
    sound: (detail) => this.#tell('sound', detail),
  };

  /** @param {any} genesis what the sim says about itself */
  #learn(genesis) {
    this.genesis = { bytes: new Uint8Array(0), ...this.genesis, ...genesis };
    this.members ??= genesis.validators;
    this.simName = genesis.name;
    this.sight.timeline.ticksPerTurn = genesis.ticksPerTurn;
    this.#tell('status');
  }

  /** @param {import('./scene.js').View} view */
  #view(view) {
    this.sight.take(view, this.now());
    this.replicaMode.tick();
    this.#tell('view');
  }

  /** @param {{id: number, sim: string, key: string, header: string, tries: string}} puzzle */
  async #work({ id, ...puzzle }) {
    try {
      this.port.tell('worked', { work: id, nonce: await solve(this.compiled, puzzle) });
    } catch (error) {
      this.port.tell('worked', { work: id, failed: error instanceof CoreError ? error.code : 'NoModule' });
    }
  }

  /** @param {string} text the newest checkpoint */
  #remember(text) {
    this.checkpoint = text;
    // A browser that keeps nothing asks again the next time.
    this.store.put(`checkpoint/${this.sim}`, text).catch(() => {});
  }

  /** @param {string} code */
  #failed(code) {
    this.link.stop(code);
    this.#tell('failed', code);
  }

  /** @param {string} type @param {any} [detail] */
  #tell(type, detail = null) {
    this.ears.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
