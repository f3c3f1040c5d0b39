// Nodes and workers for the page to be tested with. They stand in for the network and for the client
// core: what the core makes of frames and commands is tested where it is written.

/** What the nodes of one sim say and do. */
export class Stage {
  constructor() {
    this.sim = '5a'.repeat(32);
    this.genesis = Uint8Array.of(1, 2, 3);
    /** Checkpoints that no core knows. @type {string[]} */
    this.refused = [];
    /** @type {Map<string, Node>} */
    this.nodes = new Map();
    /** Workers in the order in which they were made. @type {FakeWorker[]} */
    this.workers = [];
    const stage = this;
    globalThis.fetch = async (url) => this.#fetch(new URL(url));
    globalThis.WebSocket = socketsOf(this);
    globalThis.Worker = class extends FakeWorker {
      constructor(url) {
        super(stage, String(url));
      }
    };
  }

  /** @param {string} origin */
  add(origin) {
    const node = new Node(this, origin);
    this.nodes.set(origin, node);
    return node;
  }

  /** The worker that runs the core. */
  get core() {
    return this.workers.findLast(({ url }) => url.includes('core/worker.js'));
  }

  /** @param {URL} url */
  async #fetch(url) {
    const node = this.nodes.get(url.origin);
    if (!node?.up) throw new TypeError('nobody answers');
    node.asked.push(url.pathname);
    if (url.pathname === '/api/genesis') return { ok: true, arrayBuffer: async () => node.genesis.slice().buffer };
    if (url.pathname === '/api/sims') return { ok: true, json: async () => ({ sims: [{ sim: node.sim }] }) };
    return { ok: true, json: async () => ({ sim: node.sim, name: 'plaza', server: node.key, ws: '/ws', wt: null, servers: node.servers }) };
  }
}

class Node {
  constructor(stage, origin) {
    this.stage = stage;
    this.origin = origin;
    this.key = `key of ${origin}`;
    this.sim = stage.sim;
    this.genesis = stage.genesis;
    this.up = true;
    /** Where it says that others are, before anybody proves it. @type {string[]} */
    this.servers = [];
    /** Paths that were asked for. @type {string[]} */
    this.asked = [];
    /** Frames that came. @type {Uint8Array[]} */
    this.heard = [];
    this.sockets = new Set();
  }

  die() {
    this.up = false;
    for (const socket of [...this.sockets]) socket.end(1006);
  }

  /** @param {Uint8Array} frame */
  say(frame) {
    for (const socket of this.sockets) socket.receive(frame);
  }
}

/** What browsers call a WebSocket, to the nodes of a stage. @param {Stage} stage */
function socketsOf(stage) {
  return class {
    static OPEN = 1;

    constructor(url) {
      this.node = stage.nodes.get(`http://${new URL(url).host}`);
      this.readyState = 0;
      queueMicrotask(() => this.#open());
    }

    #open() {
      if (!this.node?.up) return this.onerror?.(new Event('error'));
      this.readyState = 1;
      this.node.sockets.add(this);
      this.onopen?.();
      // The first words of a node come before anybody listens to the carrier.
      this.receive(new TextEncoder().encode(this.node.key));
      return undefined;
    }

    receive(frame) {
      const data = frame.slice().buffer;
      queueMicrotask(() => this.onmessage?.({ data }));
    }

    send(frame) {
      if (this.node.up) this.node.heard.push(frame);
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

/** A worker whose core takes each first frame for a welcome, and says what a test lets it say. */
class FakeWorker {
  constructor(stage, url) {
    this.stage = stage;
    this.url = url;
    this.ended = false;
    /** What it was told. @type {any[]} */
    this.told = [];
    this.connection = 0;
    stage.workers.push(this);
  }

  postMessage(message, transfer = []) {
    this.told.push({ ...message, given: transfer.length });
    if (message.type === 'start' && message.name !== undefined) this.#start(message);
    if (message.type === 'connected') [this.connection, this.greeted] = [message.connection, false];
    if (message.type === 'frame' && !this.greeted) {
      this.greeted = true;
      this.say({ type: 'open', server: new TextDecoder().decode(message.frame) });
    }
  }

  #start({ genesis, name }) {
    const fits = Buffer.from(genesis).equals(Buffer.from(this.stage.genesis));
    const code = fits ? this.stage.refused.includes(name.checkpoint) && 'checkpoint' : 'other_genesis';
    this.post(code ? { type: 'refused', code, detail: '' } : { type: 'ready' });
  }

  /** What the core tells. @param {...any} events */
  say(...events) {
    this.post({ type: 'events', connection: this.connection, events });
  }

  post(data) {
    queueMicrotask(() => this.ended || this.onmessage?.({ data }));
  }

  terminate() {
    this.ended = true;
  }

  /** The commands that it got, of one kind or all. @param {string} [what] */
  commands(what) {
    const all = this.told.filter(({ type }) => type === 'command').map(({ command }) => command);
    return what === undefined ? all : all.filter((command) => command.do === what);
  }
}

/** What is under way has arrived. */
export async function drained() {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** The next event of a kind for which something holds. */
export function when(client, type, holds = () => true) {
  return new Promise((resolve) => {
    const look = (event) => {
      if (!holds(event.detail)) return;
      client.removeEventListener(type, look);
      resolve(event.detail);
    };
    client.addEventListener(type, look);
  });
}
