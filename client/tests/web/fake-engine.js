// @ts-check
/**
 * An engine that is connected to nothing, for trying the page by itself: a plaza with walkers,
 * behind the same interface as `core/engine.js`, `core/keys.js` and `core/load.js`. Figures come from the address: `?crates=1000`,
 * `?avatars=50`, `?proof=red`, `?phase=connecting`, `?delay=400`.
 */

const wish = new URLSearchParams(location.search);
const number = (name, otherwise) => Number(wish.get(name) ?? otherwise);
const hex = (seed) => Array.from({ length: 32 }, (_, i) => ((seed * 37 + i * 101) & 255).toString(16).padStart(2, '0')).join('');
const TURN_MS = 50;
const SPEED = 4;

export class Identity {
  constructor(key) {
    this.public = key;
    this.kept = true;
    this.why = null;
  }
  static async open() {
    return new Identity(hex(200));
  }
  static async import(module, store, text) {
    if (!/^metatopia-key-1:[0-9a-f]{64}$/.test(text.trim())) throw new Error('not a key');
    return new Identity(hex(201));
  }
  export() {
    return `metatopia-key-1:${hex(77)}`;
  }
}

/** There is no module, and nothing that asks for one. */
export const loadModule = async () => ({ module: null, compiled: null });

class Sight {
  constructor() {
    this.objects = new Map();
    this.places = new Map();
  }
  known() {
    return null;
  }
  at(id, now) {
    const place = this.places.get(id);
    if (!place) return null;
    const t = Math.min(1.5, (now - place.since) / TURN_MS);
    return {
      x: place.x + place.vx * t * (TURN_MS / 1000), y: place.y + place.vy * t * (TURN_MS / 1000),
      angle: place.angle + (place.spin ?? 0) * t * (TURN_MS / 1000), vx: place.vx, vy: place.vy,
    };
  }
}

const KINDS = { avatar: 1 };

export class Engine extends EventTarget {
  constructor({ identity }) {
    super();
    this.identity = identity;
    this.sight = new Sight();
    this.me = null;
    this.count = 1;
    this.height = 400;
    this.heading = { x: 0, y: 0 };
    this.checkpoint = null;
    this.told = { working: false };
    this.lots = [];
    this.joints = [];
    this.status = {
      phase: 'connecting', why: null, carrier: null, server: hex(1), http: location.origin, rtt: null, bytesIn: 0, bytesOut: 0,
      height: 400, tick: 1200, turnsPerSecond: 0, pending: 0, sim: hex(9), simName: 'plaza',
    };
    this.proof = { level: 'amber', of: null, signed: 0, members: 4, reason: 'waiting', detail: null, headers: [] };
    this.replica = { on: false, phase: 'off', height: 0, certified: 0, ownRoot: '', certifiedRoot: '', behind: 0, capsule: null };
    this.build = {
      place: async (spec) => this.made(spec),
      move: async (id, x, y) => this.change(id, (t, p) => Object.assign(p, { x, y })),
      rotate: async (id, angle) => this.change(id, (t, p) => (p.angle = angle)),
      resize: async (id, w, h) => this.change(id, (t) => Object.assign(t, { hx: w / 2, hy: h / 2 })),
      color: async (id, rgb) => this.change(id, (t) => (t.look = { ...t.look, color: rgb })),
      copy: async (id, x, y) => this.made({ ...this.sight.objects.get(id), x, y }),
      remove: async (id) => {
        this.sight.objects.delete(id);
        return this.done();
      },
      give: async () => this.done(),
      attach: async (id, pack) => this.change(id, (t) => t.scripts.push({ script: 99, package: pack })),
      rename: async (id, name) => this.change(id, (t) => (t.name = name)),
      write: async (id, text) => this.change(id, (t) => (t.text = text)),
      detach: async (id) => this.change(id, (t) => t.scripts.pop()),
      upgrade: async (id, script, pack) => this.change(id, (t) => (t.scripts.find((s) => s.script === script).package = pack)),
      letTravel: async (id, travels) => this.change(id, (t) => (t.travels = travels)),
      join: async (object, to, kind) => {
        this.joints = [{ a: to, b: object, kind, along: 0, ax: 0, ay: 0, bx: 0, by: 0 }];
        return this.done();
      },
      unjoin: async (id) => {
        this.joints = this.joints.filter(({ a, b }) => a !== id && b !== id);
        return this.done();
      },
      undo: async () => this.done(),
    };
    this.plaza();
  }

  add(thing, place) {
    const id = this.count++;
    this.sight.objects.set(id, {
      id, kind: 'crate', name: 'crate', owner: null, player: null, look: { color: 0xc8964b, shape: 'round' }, text: '', scripts: [],
      round: false, hx: 0.45, hy: 0.45, motion: 'dynamic', movable: false, gesture: null, far: false, ...thing,
    });
    this.sight.places.set(id, { x: 0, y: 0, angle: 0, vx: 0, vy: 0, spin: 0, since: 0, ...place });
    return id;
  }

  plaza() {
    const wall = (name, x, y, w, h, color) => this.add({ kind: 'wall', name, hx: w / 2, hy: h / 2, motion: 'static', look: { color, shape: 'square' } }, { x, y });
    wall('north wall', 0, 20.25, 41, 0.5, 0x8d8478);
    wall('south wall', 0, -20.25, 41, 0.5, 0x8d8478);
    wall('east wall', 20.25, 0, 0.5, 41, 0x8d8478);
    wall('west wall', -20.25, 0, 0.5, 41, 0x8d8478);
    wall('pavilion, west side', 10, 15, 0.5, 10, 0xa89f91);
    wall('pavilion, south side', 12.375, 9.75, 5.25, 0.5, 0xa89f91);
    wall('pavilion, south side', 18.625, 9.75, 2.75, 0.5, 0xa89f91);
    const script = (n) => [{ script: n, package: hex(30 + n) }];
    this.door = this.add({ kind: 'door', name: 'door', text: 'closed', hx: 1.25, hy: 0.125, motion: 'kinematic', look: { color: 0x6b4226, shape: 'square' }, scripts: script(1) }, { x: 16.125, y: 9.25, angle: Math.PI });
    this.add({ kind: 'sign', name: 'pavilion sign', text: 'All that runs here is free: ask for the source of anything.', round: true, hx: 0.25, hy: 0.25, motion: 'static', look: { color: 0xf5f0e6, shape: 'round' } }, { x: 18.5, y: 17 });
    this.add({ kind: 'turntable', name: 'turntable', hx: 2.5, hy: 0.25, motion: 'kinematic', look: { color: 0xc04040, shape: 'square' }, scripts: script(2) }, { x: -11, y: 3, spin: 0.8 });
    this.greeter = this.add({ kind: 'greeter', name: 'greeter', round: true, hx: 0.5, hy: 0.5, motion: 'static', look: { color: 0x4a7fb5, shape: 'round' }, scripts: script(3) }, { x: 0, y: 5 });
    this.bell = this.add({ kind: 'bell', name: 'bell', round: true, hx: 0.4, hy: 0.4, motion: 'static', look: { color: 0xb8860b, shape: 'round' }, scripts: script(4) }, { x: 6, y: 5 });
    for (const [x, y] of [[4, -3], [5, -3], [6, -3], [7, -3], [4, -4], [5, -4], [6, -4], [7, -4], [-4, -3], [-5, -3], [-6, -3], [-7, -3], [-4, -12], [-2, -12], [0, -12], [2, -12], [14, -14], [15, -14], [14, -15], [15, -15], [13, 13], [14, 13], [-15, 14], [-14, 12]]) {
      this.add({ movable: true }, { x, y, angle: x === -15 ? 0.5 : 0 });
    }
    this.add({ kind: 'ball', name: 'ball', round: true, hx: 0.3, hy: 0.3, movable: true, look: { color: 0xe8e8ff, shape: 'round' } }, { x: 0, y: 12 });
    const crates = number('crates', 0);
    const row = Math.ceil(Math.sqrt(crates * 1.6));
    for (let i = 0; i < crates; i++) this.add({ movable: true, hx: 0.22, hy: 0.22 }, { x: -14 + (i % row) * (28 / row), y: -10 + Math.floor(i / row) * (28 / row), angle: (i % 7) * 0.2 });
    const names = ['Ada', 'Grace', 'Linus', 'Margaret', 'Alan', 'Edsger', 'Barbara', 'Ken', 'Radia', 'Donald', 'Hedy', 'Tim'];
    const shapes = ['round', 'square', 'arrow', 'star'];
    const colors = [0xe4573d, 0x2f8fd8, 0x3fae6a, 0xf2b632, 0x9a5fd0, 0xe86aa6, 0x2fb5b0, 0x6a7bd8];
    this.walkers = [];
    for (let i = 0; i < number('avatars', 6); i++) {
      const id = this.add({
        kind: 'avatar', name: names[i % 12] + (i >= 12 ? ` ${Math.floor(i / 12) + 1}` : ''), player: hex(i + 20), owner: hex(i + 20), round: true, hx: 0.35, hy: 0.35,
        look: { color: colors[i % 8], shape: shapes[(i + (i >> 2)) % 4] },
      }, { x: Math.sin(i * 2.4) * (3 + (i % 9)), y: Math.cos(i * 2.4) * (2 + (i % 8)) });
      this.walkers.push(id);
    }
  }

  start() {
    if (wish.get('phase') === 'connecting') return;
    setTimeout(() => {
      Object.assign(this.status, { phase: 'open', carrier: 'webtransport', rtt: 12, turnsPerSecond: 20, bytesIn: 18400, bytesOut: 420 });
      this.tell('status');
      this.clock = setInterval(() => this.turn(), TURN_MS);
    }, number('delay', 150));
  }
  stop() {
    clearInterval(this.clock);
  }
  setPulse(pulse) {
    this.pulse = pulse;
  }
  tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  turn() {
    const now = performance.now();
    this.height++;
    this.status.height = this.height;
    this.status.tick = this.height * 3;
    this.status.rtt = 11 + (this.height % 5);
    for (const [i, id] of this.walkers.entries()) {
      const place = this.sight.places.get(id);
      const t = this.height / 20;
      const still = wish.get('still') === '1';
      const [vx, vy] = still ? [0, 0] : [Math.sin(t * 0.3 + i * 1.7) * 2.4, Math.cos(t * 0.37 + i * 2.1) * 2.2];
      const walks = !still && Math.sin(t * 0.21 + i) > -0.3;
      place.x += place.vx * 0.05;
      place.y += place.vy * 0.05;
      Object.assign(place, { since: now, vx: walks ? vx : 0, vy: walks ? vy : 0 });
      const thing = this.sight.objects.get(id);
      thing.gesture = (this.height + i * 37) % 260 < 50 ? ['wave', 'nod', 'dance', 'bow', 'laugh'][i % 5] : null;
    }
    for (const [id, place] of this.sight.places) {
      const thing = this.sight.objects.get(id);
      if (thing?.kind === 'turntable') Object.assign(place, { angle: place.angle + 0.04, since: now });
    }
    if (this.me !== null) {
      const place = this.sight.places.get(this.me);
      place.x = Math.max(-19.6, Math.min(19.6, place.x + place.vx * 0.05));
      place.y = Math.max(-19.6, Math.min(19.6, place.y + place.vy * 0.05));
      Object.assign(place, { since: now, vx: this.heading.x * SPEED, vy: this.heading.y * SPEED });
    }
    if (this.height % 4 === 0) this.prove();
    const lines = ['hello there', 'has anybody rung the bell today?', 'come and help me push these crates to the pavilion, they are heavy', 'look, the source of the door is only 54 lines', 'Ding!'];
    if (this.height % 70 === 12) {
      const id = this.walkers[(this.height / 70 | 0) % Math.max(1, this.walkers.length)];
      if (id) this.say_(id, lines[(this.height / 70 | 0) % 4], this.height % 140 === 12 ? 0 : 1);
    }
    if (this.replica.on) this.follow();
    this.tell('view');
    if (this.height % 10 === 0) {
      this.tell('status');
      this.tell('objects');
    }
  }
  say_(speaker, text, channel) {
    this.tell('heard', { channel, speaker, name: this.sight.objects.get(speaker).name, text, height: this.height, proven: this.height % 2 === 0 });
  }
  prove() {
    const level = wish.get('proof') ?? 'green';
    const header = { height: this.height, time: Date.now(), proposer: hex(1 + (this.height % 4)), round: 0, signers: [hex(1), hex(2), hex(3), hex(4)].slice(0, this.height % 3 ? 4 : 3), verified: level === 'green' };
    const reasons = { green: null, amber: 'late', red: 'proof' };
    this.proof = {
      level, of: this.height - 2, signed: header.signers.length, members: 4, reason: reasons[level], detail: level === 'red' ? 'tile 0,0: leaf 3fa2c4 is not the one that the header of turn 412 states' : null,
      headers: [header, ...this.proof.headers].slice(0, 64),
    };
    this.tell('proof');
  }
  follow() {
    const r = this.replica;
    r.certified = this.height - 2;
    r.height = Math.min(r.certified, r.height ? r.height + 3 : this.height - 60);
    r.behind = r.certified - r.height;
    r.phase = r.behind > 2 ? 'replaying' : 'following';
    r.ownRoot = r.certifiedRoot = hex(r.height & 255);
    this.tell('replica');
  }
  setReplica(on) {
    Object.assign(this.replica, { on, phase: on ? 'snapshot' : 'off', height: 0 });
    this.tell('replica');
  }

  done(extra = {}) {
    return new Promise((resolve) => setTimeout(() => resolve({ act: hex(3), height: this.height, ok: true, refusal: null, made: null, ...extra }), 60));
  }
  async change(id, how) {
    const thing = this.sight.objects.get(id);
    if (!thing.owner && !thing.player) return this.done({ ok: false, refusal: 'it is not yours' });
    how(thing, this.sight.places.get(id));
    this.tell('objects');
    return this.done();
  }
  async made(spec) {
    const id = this.add({ ...spec, owner: this.identity.public, movable: spec.motion === 'dynamic', look: { color: spec.color ?? spec.look?.color ?? 0x888888, shape: 'square' }, hx: spec.hx ?? spec.w / 2, hy: spec.hy ?? spec.h / 2 }, { x: spec.x, y: spec.y, angle: spec.angle ?? 0 });
    return this.done({ made: id });
  }
  async login(name, look) {
    const outcome = await this.done();
    this.me = this.add({ kind: 'avatar', name, player: this.identity.public, owner: this.identity.public, round: true, hx: 0.35, hy: 0.35, look }, { x: 0, y: -6 });
    return outcome;
  }
  async leave() {
    return this.done();
  }
  async walk(x, y) {
    this.heading = { x, y };
    return this.done();
  }
  async sit() {
    return this.done();
  }
  async touch(id) {
    const thing = this.sight.objects.get(id);
    if (thing.kind === 'bell') {
      thing.text = 'ringing';
      thing.look = { ...thing.look, color: 0xffe27a };
      this.say_(id, 'Ding!', 0);
      setTimeout(() => {
        thing.text = '';
        thing.look = { ...thing.look, color: 0xb8860b };
      }, 1000);
    }
    return this.done();
  }
  async claimLot(x, y, side) {
    const lot = { lot: this.lots.length + 1, name: 'lot', holder: 'Me', own: true, lets: false, angle: 0, round: false };
    this.lots = [...this.lots, { ...lot, x: Math.round(x), y: Math.round(y), hx: side / 2, hy: side / 2 }];
    return this.done();
  }
  async returnLot(lot) {
    this.lots = this.lots.filter((each) => each.lot !== lot);
    return this.done();
  }
  async push() {
    return this.done();
  }
  async say(text, channel) {
    this.say_(this.me, text, channel);
    return this.done();
  }
  async emote(kind) {
    const thing = this.sight.objects.get(this.me);
    thing.gesture = kind;
    setTimeout(() => (thing.gesture = null), 2500);
    return this.done();
  }
  async setLook(look) {
    this.sight.objects.get(this.me).look = look;
    return this.done();
  }

  async players() {
    return [...this.sight.objects.values()].filter((t) => t.player).map((t) => ({ name: t.name, key: t.player }));
  }
  async scripts() {
    return [...this.sight.objects.values()].flatMap((t) => t.scripts.map((s) => ({ script: s.script, object: t.id, name: t.name, package: s.package, gas: 1234 * s.script, failures: s.script === 2 ? 1 : 0 })));
  }
  async order(height, script) {
    return [{ tick: height * 3, sender: 0, event: 'timer "close"' }, { tick: height * 3, sender: this.walkers[0] ?? 0, event: 'touch' }, { tick: height * 3 + 1, sender: this.walkers[1] ?? 0, event: `chat "hello"` }].slice(0, (height + script) % 4);
  }
  async source(id) {
    const draft = this.published?.[id];
    if (draft) {
      const files = Object.entries(draft.files).map(([path, text]) => ({ path, text }));
      return { id, manifest: { ...draft, authors: [...draft.authors, { name: 'Me', key: this.identity.public }] }, files, verified: true };
    }
    const text = await (await fetch(new URL('./sample.rhai', import.meta.url))).text();
    return { id, manifest: { name: 'door', version: '1.0.0', api: 1, entry: 'door.rhai', licence: 'AGPL-3.0-or-later', authors: [{ name: 'The Metatopia authors', key: null }], parent: null }, files: [{ path: 'package.toml', text: 'name = "door"\nversion = "1.0.0"\n' }, { path: 'door.rhai', text }], verified: true };
  }
  async allSource() {
    return { archive: new Blob(['tar']), list: [{ id: hex(31), name: 'door', verified: true }, { id: hex(32), name: 'turntable', verified: true }] };
  }
  async check(source) {
    const lines = source.split('\n');
    return lines.flatMap((line, i) => (line.includes('sya(') ? [{ line: i + 1, column: line.indexOf('sya(') + 1, message: 'there is no function sya: did you mean say?' }] : []));
  }
  async reference() {
    const example = 'fn on_touch(other) {\n    say(`Hello, ${other.name}!`);\n}\n';
    const entries = ['on_touch', 'say', 'timer'].map((name) => ({ name, form: `${name}(..)`, doc: 'what it does' }));
    return { example, licences: ['AGPL-3.0-or-later', 'MPL-2.0'], entries };
  }
  async publish(draft) {
    this.published = { ...(this.published ?? {}), [hex(this.height)]: draft };
    return this.done({ package: hex(this.height) });
  }
  async packages() {
    return [{ id: hex(31), name: 'door' }];
  }
  async things() {
    return [...this.sight.objects.values()].filter((t) => t.owner === this.identity.public && !t.player).map((t) => ({ object: t.id, name: t.name, kind: t.kind, ...this.sight.at(t.id, performance.now()), scripts: t.scripts }));
  }
  async servers() {
    return [1, 2, 3, 4].map((n) => ({ server: hex(n), http: `http://127.0.0.1:${18400 + n}`, quic: `127.0.0.1:${9000 + n}`, rtt: n === 1 ? 12 : 10 + n * 7, here: n === 1, voting: true }));
  }
  async person() {
    return { admin: true, rights: [] };
  }
  async reports() {
    return [];
  }
  async orders() {
    return { orders: [], more: false };
  }
  async governance() {
    return { motd: 'Market at eight.', validators: [1, 2, 3, 4].map((n) => ({ key: hex(n), power: 1 })), admins: [], acts: [] };
  }
}
