// @ts-check
/** Everything the page needs from a world; nothing of what it looks like. */
import { OwnAvatar } from './avatar.js';
import { Build } from './build.js';
import { Deeds } from './deeds.js';
import { toVec } from './acts.js';
import * as acts from './acts.js';
import { readGenesis } from './genesis.js';
import { Inquiry } from './inquiry.js';
import { randomLane } from './keys.js';
import { Link } from './link.js';
import { ActError } from './pending.js';
import { Proofs } from './proof.js';
import { ReplicaMode } from './replica.js';
import { Servers } from './servers.js';
import { Session } from './session.js';
import { Sight } from './sight.js';
import { Watch } from './watch.js';
import { ticketPass } from './ticket.js';
import { passOf, solve } from './work.js';
import { fromHex } from '../wire/buffer.js';

/** Deadlines are looked at so often; and with each frame, for tabs whose timers sleep. */
const TICK_MS = 100;
/** The status is told so often, if nothing happens. */
const STATUS_MS = 500;

/**
 * @typedef {object} Options
 * @property {string} origin of the first node, such as `http://127.0.0.1:8080`
 * @property {import('./keys.js').Identity} identity
 * @property {'webtransport'|'websocket'} [prefer] the only carrier to use
 * @property {string|null} [wasm] the module's address at the page's own server; none proves nothing
 * @property {Uint8Array|null} [ticket] the secret of a ticket, for a key that is new to the sim
 * @property {{x: number, y: number}|null} [at] where to look while there is no avatar
 * @property {string|null} [sim] the only world to enter
 * @property {string[]} [servers] where its servers are, as the page was told
 */

/**
 * Events: 'status', 'heard', 'proof', 'view', 'replica', 'outcome', 'objects'.
 */
export class Client extends EventTarget {
  /** @param {Options} options */
  constructor({ origin, identity, prefer, wasm = null, ticket = null, at = null, sim = null, servers = [] }) {
    super();
    this.identity = identity;
    this.wasm = wasm;
    this.ticket = ticket;
    /** Whether the tab does the work that a first login shows. */
    this.working = false;
    this.now = () => performance.now();
    this.sight = new Sight();
    this.simName = '';
    /** @type {import('./genesis.js').Genesis|null} */
    this.genesis = null;
    this.session = this.#makeSession(sim);
    this.known = new Servers(origin, this.now);
    this.known.suggest(servers);
    this.link = new Link({
      session: this.session,
      servers: this.known,
      prefer,
      changed: () => this.#tell('status'),
      offered: (offer) => this.#offered(offer),
      frame: (frame) => this.proofs.works && this.proofs.frame(frame.slice()),
    });
    this.proofs = new Proofs({
      now: this.now,
      changed: () => this.#tell('proof'),
      ask: (question) => this.session.ask(question),
      compiled: (compiled) => this.#signByModule(compiled),
      proven: (height) => this.session.proven(height),
      voting: () => void this.#learnServers().catch(() => {}),
      anew: () => this.watch.anew(),
      predicted: (asked, found) => this.avatar.foreseen(asked, found),
    });
    /** @type {OwnAvatar} */
    this.avatar = new OwnAvatar({
      sight: this.sight, proofs: this.proofs, here: () => this.deeds.here, now: this.now,
    });
    this.replicaMode = new ReplicaMode({
      changed: () => this.#tell('replica'),
      askRaw: (question) => this.session.ask(question, { raw: true }),
      height: () => this.session.height,
    });
    this.watch = new Watch({
      session: this.session, sight: this.sight, proofs: this.proofs, at: at && toVec(at.x, at.y),
    });
    this.deeds = this.#makeDeeds();
    this.build = new Build(
      (act) => this.deeds.act(act),
      (id) => this.sight.objects.get(id)?.round ?? false,
    );
    this.inquiry = new Inquiry({
      ask: (question) => this.session.ask(question),
      genesis: () => this.#learnGenesis(),
      world: () => ({ sim: this.session.sim ?? '', height: this.session.height }),
    });
    this.statusAt = 0;
    this.scriptsAt = -Infinity;
    /** @type {ReturnType<typeof setInterval>|null} */
    this.timer = null;
  }

  /** @param {string|null} sim */
  #makeSession(sim) {
    return new Session({
      identity: this.identity,
      lane: randomLane(),
      now: this.now,
      sim,
      ears: {
        open: () => this.#opened(),
        ended: (why) => {
          if (why === 'bad-frame') this.proofs.unreadable();
          this.link.leave(why);
        },
        view: (view) => this.#view(view),
        proof: (proof) => this.#proof(proof),
        heard: (line) => this.#tell('heard', line),
      },
    });
  }

  /** @returns {Deeds} */
  #makeDeeds() {
    return new Deeds({
      session: this.session,
      pass: () => passOf({
        ask: (question) => this.inquiry.ask(question),
        key: this.identity.public,
        solve: (terms) => this.#solve(terms),
        ticket: this.ticket && (() => ticketPass(
          /** @type {Uint8Array} */ (this.ticket), this.session.sim ?? '', this.identity.public,
        )),
      }),
      now: this.now,
      steered: (heading) => this.avatar.steer(heading),
      walking: (heading, sent) => this.avatar.walking(heading, sent),
      present: (present) => this.proofs.present(present),
      done: (result) => this.#tell('outcome', result),
    });
  }

  /** @param {{header: string, tries: bigint}} terms */
  async #solve({ header, tries }) {
    const [sim, key, id] = [this.session.sim ?? '', this.identity.public, header].map(fromHex);
    this.working = true;
    try {
      return await solve({ wasm: this.wasm, sim, key, header: id, tries });
    } finally {
      this.working = false;
    }
  }

  /** Connects, keeps connected, and goes to another server when one dies. */
  start() {
    this.timer ??= setInterval(() => this.#tick(), TICK_MS);
    this.link.start();
  }

  stop() {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
    this.link.stop('left');
    this.proofs.close();
    this.replicaMode.stop();
  }

  get status() {
    const { session, link, now } = this;
    return {
      phase: link.phase,
      why: link.why,
      carrier: link.carrier?.kind ?? null,
      server: session.server ?? '',
      http: link.http ?? '',
      alone: !this.known.hasOther(link.http ?? ''),
      rtt: session.roundTrip.ms,
      bytesIn: session.incoming.perSecond(now()),
      bytesOut: session.outgoing.perSecond(now()),
      height: session.height,
      tick: this.sight.tick,
      turnsPerSecond: session.turnsPerSecond,
      pending: session.pending.size,
      sim: session.sim ?? '',
      simName: this.simName,
      here: this.deeds.here,
    };
  }

  /** The own avatar. */
  get me() {
    return this.sight.me;
  }

  get proof() {
    return this.proofs.state;
  }

  get replica() {
    return this.replicaMode.state;
  }

  /** Runs the whole sim in a worker, or no more. @param {boolean} on */
  async setReplica(on) {
    if (!on) return this.replicaMode.stop();
    if (this.wasm === null || !this.proofs.works) return this.replicaMode.stop('no-wasm');
    const genesis = await this.#learnGenesis();
    return this.replicaMode.start(this.wasm, genesis.bytes, this.session.sim ?? '');
  }

  /** Tabs that nobody looks at get few views. @param {'active'|'hidden'} pulse */
  setPulse(pulse) {
    this.watch.setPulse(pulse);
  }

  /** Goes to another server: this one, or whichever answers. @param {string|null} [http] */
  moveTo(http = null) {
    this.link.move(http);
  }

  /** @param {string} name @param {{color: number, shape: string}} look */
  login(name, look) {
    return this.deeds.login(name, look);
  }

  leave() {
    return this.deeds.leave();
  }

  /** @param {number} x @param {number} y unit or zero */
  walk(x, y) {
    return this.deeds.walk(x, y);
  }

  /** @param {number} id */
  touch(id) {
    return this.deeds.act(acts.touch(id));
  }

  /** @param {number} id */
  push(id) {
    return this.deeds.act(acts.push(id));
  }

  /** @param {string} text @param {number} [channel] 0 nearby, 1 everywhere */
  say(text, channel = 0) {
    return this.deeds.say(text, channel);
  }

  /** @param {'wave'|'nod'|'dance'|'bow'|'laugh'} kind */
  emote(kind) {
    return this.deeds.act(acts.emote(kind));
  }

  /** @param {{color: number, shape: string}} look */
  setLook(look) {
    return this.deeds.setLook(look);
  }

  players() {
    return this.inquiry.players();
  }

  async scripts() {
    const scripts = await this.inquiry.scripts();
    this.sight.learn(scripts);
    return scripts;
  }

  /** What somebody owns; oneself, if nobody is named. @param {string} [owner] a key */
  things(owner = this.identity.public) {
    return this.inquiry.things(owner);
  }

  /** @param {number} height @param {number} script */
  order(height, script) {
    return this.inquiry.order(height, script);
  }

  /** @param {string} id */
  source(id) {
    return this.inquiry.source(id);
  }

  allSource() {
    return this.inquiry.allSource();
  }

  packages() {
    return this.inquiry.packages();
  }

  /** Who votes: as the module found out, or else as the server says. */
  async #validators() {
    const told = this.proofs.members ?? (await this.inquiry.validators());
    return this.proofs.members ?? told;
  }

  async governance() {
    const [entry, validators] = await Promise.all([
      this.inquiry.ask('Governance'), this.#validators(),
    ]);
    return { ...entry, validators, acts: [] };
  }

  /** Where the servers are, and how far. */
  async servers() {
    const validators = await this.#learnServers();
    await this.known.measure();
    return [...this.known.known.values()].map(({ http, server, quic, rtt }) => ({
      server, http, quic, rtt, here: http === this.link.http, voting: validators.has(server),
    }));
  }

  /** @param {import('./carriers.js').Offer} offer */
  #offered(offer) {
    this.simName = offer.name ?? this.simName;
    // Before anything else is asked: it may be the last word of this server.
    if (!this.known.learned) this.known.suggest(offer.servers);
    if (this.wasm !== null && !this.proofs.works && !this.proofs.started) this.proofs.open();
  }

  #opened() {
    this.link.opened(this.session.server ?? '');
    this.proofs.moved();
    this.watch.begin();
    this.#learnGenesis().catch(() => {});
    this.#learnServers().catch(() => {});
  }

  /** Asks where servers that vote are; gives who votes. @returns {Promise<Set<string>>} */
  async #learnServers() {
    const entrances = await this.inquiry.ask('Servers');
    const genesis = await this.#learnGenesis();
    const members = await this.#validators();
    // Of a server that lies about who votes, the first ones remain: the sim's id names them.
    const first = this.proofs.members === null ? genesis.validators : [];
    const keys = [...members, ...first].map(({ key }) => key);
    this.known.learn(entrances, this.session.sim ?? '', new Set(keys));
    return new Set(members.map(({ key }) => key));
  }

  /** @returns {Promise<import('./genesis.js').Genesis>} */
  async #learnGenesis() {
    if (this.genesis !== null) return this.genesis;
    const bytes = await this.inquiry.genesisBytes();
    const sim = this.session.sim ?? '';
    const genesis = readGenesis(bytes, sim);
    this.genesis = genesis;
    this.simName = genesis.name;
    this.sight.timeline.ticksPerTurn = genesis.ticksPerTurn;
    this.avatar.learn(genesis.avatar, () => this.watch.solids(this.now()));
    if (this.wasm !== null) this.proofs.start(this.wasm, genesis, sim, this.identity.public);
    return genesis;
  }

  /** @param {any} view @returns {boolean} whether it was taken in */
  #view(view) {
    const now = this.now();
    const { taken, changed } = this.watch.take(view, now);
    if (!taken) {
      this.link.leave('bad-view');
      return false;
    }
    this.avatar.view(now);
    this.replicaMode.tick();
    this.#tell('view');
    if (changed) this.#tell('objects');
    if (changed && this.sight.unlearned && now - this.scriptsAt > 2_000) {
      this.scriptsAt = now;
      this.scripts().catch(() => {});
    }
    return true;
  }

  /** @param {any} proof */
  #proof(proof) {
    this.proofs.seen(proof);
    this.proofs.compare(this.sight.tiles);
  }

  /** @param {WebAssembly.Module} compiled */
  async #signByModule(compiled) {
    const { Module } = await import('../prove/module.js');
    const module = await Module.compiled(compiled);
    this.identity.use({
      publicKey: (secret) => module.publicKey(secret),
      sign: (message, secret) => module.sign(secret, message),
    });
  }

  #tick() {
    this.session.tick();
    this.deeds.tick(this.watch.pulse === 'active');
    this.proofs.tick(this.session.open);
    const now = this.now();
    if (now - this.statusAt > STATUS_MS) this.#tell('status');
  }

  /** @param {string} type @param {any} [detail] */
  #tell(type, detail = null) {
    if (type === 'status') this.statusAt = this.now();
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

export { ActError };
