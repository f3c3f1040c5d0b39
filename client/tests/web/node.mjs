// Nodes of one sim, for clients to be tested with: they decide every act at once. They stand in for
// the network, not for the servers' rules.
import { readFileSync } from 'node:fs';
import { digestBytes } from '../../web/core/digest.js';
import { publicKey, sign } from '../../web/core/ed25519.js';
import { fromHex, toHex } from '../../web/wire/buffer.js';
import { decodeClient, encodeServer, entrance as entranceSchema } from '../../web/wire/messages.js';
import { encode, variant } from '../../web/wire/postcard.js';
import { envelope as envelopeSchema } from '../../web/wire/types.js';

const rows = JSON.parse(readFileSync(new URL('./vectors.json', import.meta.url), 'utf8'));
const genesis = rows.find((row) => row.kind === 'genesis');
const NOBODY = '11'.repeat(32);

export const SIM = genesis.id;

/** A world that all nodes share. */
export class World {
  constructor() {
    this.height = 100;
    /** The lane whose tab has the one avatar. @type {bigint|null} */
    this.holder = null;
    /** Acts that were decided, by id, in order. */
    this.decided = new Map();
    /** @type {Map<string, Node>} */
    this.nodes = new Map();
    globalThis.fetch = async (url) => this.#fetch(new URL(url));
    globalThis.WebSocket = socketsOf(this);
  }

  add(origin) {
    const node = new Node(this, origin);
    this.nodes.set(origin, node);
    return node;
  }

  /** What each says of itself. */
  entrances() {
    return [...this.nodes.keys()].map((origin) => entranceOf(origin));
  }

  /** All of them vote since the first turn. */
  links() {
    return [linkOf(1, [...this.nodes.values()].map(({ key }) => key))];
  }

  /** @param {URL} url */
  async #fetch(url) {
    const node = this.nodes.get(url.origin);
    if (!node?.up) throw new TypeError('nobody answers');
    const { key: server, wasm, servers } = node;
    const offer = { sim: SIM, name: 'plaza', server, ws: '/ws', wt: null, wasm, servers };
    return { ok: true, json: async () => offer };
  }
}

/** A secret that is always the same. @param {string} name */
const secretOf = (name) => digestBytes('a node of a test', new TextEncoder().encode(name));

/** The key of whoever has that name. @param {string} name */
export const keyOf = (name) => toHex(publicKey(secretOf(name)));

/** Where somebody lets clients in, signed. @param {string} name @param {string} http */
export function entranceOf(name, http = name, issued = 1) {
  const [server, certificates] = [keyOf(name), []];
  const entrance = { sim: SIM, server, http, quic: 'localhost:1', certificates, issued };
  const message = digestBytes('metatopia entrance v1', encode(entranceSchema, entrance));
  return { entrance, signature: toHex(sign(message, secretOf(name))) };
}

/** A change of the validators, signed by nobody. @param {number} height @param {string[]} keys */
export function linkOf(height, keys) {
  const { header, certificate } = receiptOf(height);
  const members = keys.map((key) => ({ key, power: 1 }));
  return { header, certificate, next: { members, leaders: [] } };
}

class Node {
  constructor(world, origin) {
    this.world = world;
    this.origin = origin;
    this.key = keyOf(origin);
    this.up = true;
    /** Takes acts, and says nothing about them. */
    this.mute = false;
    /** Where it says that a module is. @type {string|null} */
    this.wasm = null;
    /** Where it says that others are, before anybody proves it. @type {string[]} */
    this.servers = [];
    /** Says nothing about who is there, as one that dies before it was asked. */
    this.silent = false;
    this.sockets = new Set();
    /** Entrances and links that only it tells of. */
    this.lies = { entrances: [], links: [] };
  }

  die() {
    this.up = false;
    for (const socket of [...this.sockets]) socket.end(1006);
  }

  say(message) {
    for (const socket of this.sockets) socket.receive(message);
  }

  /** @param {any} socket @param {any} message */
  heard(socket, message) {
    const [name, content] = variant(message);
    if (name === 'Hello') {
      socket.receive({ Welcome: { height: this.world.height, turns_per_second: 20 } });
    } else if (name === 'Ping') socket.receive({ Pong: content });
    else if (name === 'Ask' && this.silent) return;
    else if (name === 'Ask') socket.receive({ Answer: { id: content.id, answer: this.#answer(content) } });
    else if (name === 'Submit') this.#submit(socket, content);
    else if (name === 'View') this.watching = content;
  }

  #answer({ question }) {
    const [name, content] = variant(question);
    if (name === 'Genesis') return { Genesis: fromHex(genesis.hex) };
    if (name === 'Servers') return { Servers: [...this.lies.entrances, ...this.world.entrances()] };
    if (name === 'Links') return { Links: [...this.world.links(), ...this.lies.links].filter(({ header }) => header.height > content.after) };
    if (name !== 'Receipt') return 'Unknown';
    const found = [...this.world.decided.values()].find((each) => each.seq === content.seq);
    if (!found) return 'Unknown';
    return { Receipt: { act: found.signed, receipt: receiptOf(found.height), outcome: 'Ok' } };
  }

  #submit(socket, { act: signed }) {
    const act = toHex(digestBytes('metatopia act v1', encode(envelopeSchema, signed.envelope)));
    const known = this.world.decided.get(act);
    if (!known) {
      this.world.height += 1;
      const { seq } = signed.envelope;
      this.world.decided.set(act, { signed, seq, height: this.world.height });
    }
    if (this.mute) return;
    if (known) return socket.receive({ Refused: { act, why: { Replayed: known.seq } } });
    const { height } = this.world;
    const { lane, act: what } = signed.envelope;
    const login = variant(what)[0] === 'Login';
    if (login) this.world.holder = lane;
    const away = this.world.holder !== lane && !login && this.world.holder !== null;
    socket.receive({ Receipt: { act, receipt: receiptOf(height) } });
    socket.receive({ Outcome: { act, height, outcome: away ? { Refused: 'OtherSession' } : 'Ok' } });
  }
}

/** @param {number} height */
function receiptOf(height) {
  const header = {
    sim: SIM, engine: 1, height, previous: NOBODY, proposer: NOBODY, round: 0, time: 5,
    acts: NOBODY, act_count: 1, blobs: NOBODY, blob_count: 0, root: NOBODY, validators: NOBODY,
    next_validators: NOBODY, reserved: '00'.repeat(32),
  };
  const certificate = { height, round: 0, header: NOBODY, signatures: [] };
  return { header, certificate, place: { index: 0, count: 1, path: [] } };
}

/** What browsers call a WebSocket, to the nodes of a world. @param {World} world */
function socketsOf(world) {
  return class {
    static OPEN = 1;

    constructor(url, protocols) {
      const { host } = new URL(url);
      this.node = world.nodes.get(`http://${host}`);
      this.readyState = 0;
      this.protocols = protocols;
      queueMicrotask(() => this.#open());
    }

    #open() {
      if (!this.node?.up) return this.onerror?.(new Event('error'));
      this.readyState = 1;
      this.node.sockets.add(this);
      this.onopen?.();
      const nonce = '01'.repeat(32);
      this.receive({ Challenge: { version: 1, sim: SIM, server: this.node.key, nonce } });
      return undefined;
    }

    receive(message) {
      const data = encodeServer(message).slice().buffer;
      queueMicrotask(() => this.onmessage?.({ data }));
    }

    send(frame) {
      const message = decodeClient(frame);
      if (this.node.up) queueMicrotask(() => this.node.heard(this, message));
    }

    end(code) {
      this.readyState = 3;
      this.node?.sockets.delete(this);
      queueMicrotask(() => this.onclose?.({ code }));
    }

    close() {
      this.end(1000);
    }
  };
}
