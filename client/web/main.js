/** Puts the page together: module, key, client, picture, panels. */

import { Engine } from './core/engine.js';
import { checkpointOf, placeOf, ticketOf } from './core/fragment.js';
import { Identity } from './core/keys.js';
import { loadModule } from './core/load.js';
import { keep, openStore, recall } from './core/store.js';
import { DAY, DUSK } from './draw/light.js';
import { sealing } from './core/work.js';
import { Minimap } from './draw/minimap.js';
import { Renderer } from './draw/renderer.js';
import { refusal, t, why } from './strings.js';
import { absence } from './ui/absence.js';
import { Actions } from './ui/actions.js';
import { askAge } from './ui/age.js';
import { Ambience } from './ui/ambience.js';
import { Asks } from './ui/asks.js';
import { Badge } from './ui/badge.js';
import { Blocks } from './ui/blocks.js';
import { Profiles } from './ui/profile.js';
import { buildPanel } from './ui/build.js';
import { Chat } from './ui/chat.js';
import { Clubs } from './ui/clubs.js';
import { Code } from './ui/code.js';
import { crossing, showBoth } from './ui/crossing.js';
import { Dock } from './ui/dock.js';
import { button, el, fill } from './ui/dom.js';
import { Elsewhere } from './ui/elsewhere.js';
import { askWho, newcomer } from './ui/entry.js';
import { Group } from './ui/group.js';
import { Input, stick } from './ui/input.js';
import { thingPanel } from './ui/inspector.js';
import { agrees, described } from './ui/introduction.js';
import { pointOutLots } from './ui/lots.js';
import { mapPanel } from './ui/map.js';
import { Announcer, around, inReach, nearPanel, pushable } from './ui/near.js';
import { orderPanel } from './ui/order.js';
import { peoplePanel } from './ui/people.js';
import { proofPanel } from './ui/proof.js';
import { governancePanel, serversPanel } from './ui/servers.js';
import { aboutPanel, settingsPanel } from './ui/settings.js';
import { sharePanel } from './ui/share.js';
import { sourcePanel } from './ui/source.js';
import { Sounds } from './ui/sounds.js';
import { Progress } from './ui/state.js';
import { Steps } from './ui/steps.js';
import { Toasts } from './ui/toast.js';
import { Tools } from './ui/tools.js';
import { workshopPanel } from './ui/workshop.js';

const PANELS = {
  near: nearPanel, people: peoplePanel, map: mapPanel, build: buildPanel, order: orderPanel, proof: proofPanel, servers: serversPanel,
  governance: governancePanel, share: sharePanel, settings: settingsPanel, about: aboutPanel, thing: thingPanel, source: sourcePanel,
  script: workshopPanel,
};

/** Where name, look and settings are kept; the key has a place of its own. */
const KEPT = 'metatopia.person';
const SETTINGS = 'metatopia.settings';

/** Milliseconds for which the way in waits to hear which rules hold. */
const RULES_MS = 3_000;

/** Canvas pixels per CSS pixel are not worth more than this. */
const RATIO_MAX = 2;

const query = new URLSearchParams(location.search);
const config = JSON.parse(document.getElementById('config')?.textContent ?? '{}');
// `off` shows the page as it is where there is no module. The module gets the key to sign with, so it
// is the page's own at any node.
const wasm = query.get('wasm') === 'off' || !config.wasm ? null
  // A page in a folder names its files from where it is.
  : new URL(config.wasm, document.baseURI).pathname;

export class Page {
  /**
   * @param {Identity} identity
   * @param {{module: import('./prove/module.js').Module, compiled: WebAssembly.Module}} loaded
   * @param {Store} store
   */
  constructor(identity, loaded, store) {
    [this.identity, this.loaded, this.store] = [identity, loaded, store];
    this.person = recall(KEPT) ?? newcomer();
    this.settings = { light: 'auto', calm: null, hints: true, sounds: false, grid: 0.1, ...recall(SETTINGS) };
    [this.entering, this.entered, this.drawing] = [false, false, false];
    /** Whether it is known who somebody is. */
    this.ready = false;
    this.beat = 0;
    [this.dark, this.still] = [matchMedia('(prefers-color-scheme: dark)'), matchMedia('(prefers-reduced-motion: reduce)')];
    const sim = /^\/w\/([0-9a-f]{64})$/.exec(location.pathname)?.[1] ?? null;
    /** The module was made of other sources than the server that brings it. */
    this.stale = config.stale === true || query.get('wasm') === 'stale';
    /** Files in a folder have no addresses of sims. */
    this.inFolder = config.origin !== undefined;
    /** The first server to go to: the page's own, but for a page in a folder. */
    this.origin = query.get('node') ?? config.origin ?? location.origin;
    // The world is there to be looked at before anybody enters it.
    const at = placeOf(query.get('at')) ?? { x: 0, y: 0 };
    this.client = new Engine({
      origin: this.origin, identity, at, sim, store,
      prefer: /** @type {any} */ (query.get('carrier') ?? undefined),
      compiled: loaded.compiled, ticket: ticketOf(location.hash), checkpoint: checkpointOf(location.hash),
      // Those of the page's own server, which may be another sim's than the one that is asked for.
      servers: query.get('node') === null && (sim === null || sim === config.sim) ? config.servers : [],
    });
    /** @type {Picture} */
    this.picture = {
      sight: this.client.sight, me: null, selected: null, hover: null, near: null, handles: false, bubbles: new Map(), goal: null, ghosts: [], group: new Set(), box: null, held: null,
      look: at, lots: [], joints: [], border: null, portals: [], calm: this.calm(), palette: this.palette(),
    };
    this.canvas = el('canvas', { id: 'view', tabindex: '0', role: 'img', 'aria-label': t('canvas') });
    this.renderer = new Renderer(this.canvas);
    this.toasts = new Toasts();
    this.code = new Code(config, this.toasts);
    this.elsewhere = new Elsewhere(this, sim);
    [this.blocks, this.buddies, this.profiles] = [new Blocks(this), new Blocks(this, 'buddy'), new Profiles(this)];
    [this.chat, this.clubs] = [new Chat(this), new Clubs(this)];
    this.asks = new Asks(this);
    [this.group, this.tools] = [new Group(this), new Tools(this)];
    this.input = new Input(this);
    this.actions = new Actions(this);
    this.dock = new Dock(this, PANELS);
    this.badge = new Badge(this);
    this.progress = new Progress(this);
    this.announcer = new Announcer(this);
    this.hint = el('p', { class: 'key-hint', 'aria-hidden': 'true' }, t('key.hint'));
    this.map = el('canvas', { class: 'map', role: 'img', 'aria-label': t('map') });
    this.minimap = new Minimap(this.map);
    pointOutLots(this);
    this.place = el('span', { class: 'place' });
    /** What the sim says of itself. */
    this.about = el('section', { class: 'stack about' });
    this.ambience = new Ambience();
    this.sounds = new Sounds(this);
    [this.steps, this.border] = [new Steps(this), crossing(this)];
    /** Where one is, for people who are told: the sim, and the room in it. */
    this.where = '';
    /** Whether somebody only looks, and agreed to nothing. */
    this.looking = false;
    this.assemble();
  }

  /** Puts all elements in their places. */
  assemble() {
    const skip = button({ text: t('skip'), class: 'skip', click: () => this.dock.show('near') });
    const { camera } = this.renderer;
    document.body.append(
      el('header', null, skip, el('div', { class: 'top' }, el('h1', { class: 'brand' }, el('b', null, t('brand')), this.place), this.badge.element), this.badge.alarm),
      el('main', null, this.canvas, this.progress.element,
        el('div', { class: 'corner' }, this.map, el('div', { class: 'zoom' },
          button({ icon: 'plus', label: t('zoom.in'), class: 'icon-button', click: () => camera.by(1.3) }),
          button({ icon: 'minus', label: t('zoom.out'), class: 'icon-button', click: () => camera.by(1 / 1.3) }))),
        this.chat.element, this.steps.element, this.asks.element, stick(this.input), this.actions.element, this.tools.bar, this.hint, this.code.notice,
        this.toasts.box, this.announcer.element),
      el('nav', { 'aria-label': t('panels') }, this.dock.menu, this.dock.bar), this.dock.panel);
  }

  start() {
    const { client, renderer } = this;
    renderer.camera.zoom = renderer.camera.goal = this.narrow() ? 38 : 46;
    this.layout();
    // A first picture before the first turn.
    renderer.draw(this.picture, performance.now());
    window.addEventListener('resize', () => this.layout());
    // What is pasted behind the address of an open page loads nothing by itself.
    window.addEventListener('hashchange', () => {
      if (ticketOf(location.hash) || checkpointOf(location.hash)) location.reload();
    });
    for (const query of [this.dark, this.still]) query.addEventListener('change', () => this.restyle());
    document.addEventListener('visibilitychange', () => this.watch());
    client.addEventListener('status', () => this.status());
    client.addEventListener('proof', () => this.badge.update());
    client.addEventListener('rules', () => this.entered && this.abide());
    client.addEventListener('age', (/** @type {any} */ event) => askAge(this, event.detail));
    client.addEventListener('failed', (/** @type {any} */ event) => document.body.append(absence(event.detail, this.origin)));
    setInterval(() => this.update(), 200);
    this.restyle();
    this.watch();
    client.start();
    this.code.start();
  }

  /** Draws while somebody looks. */
  watch() {
    for (const { engine } of [{ engine: this.client }, ...this.border.all.values()]) engine.setPulse(document.hidden ? 'hidden' : 'active');
    if (document.hidden || this.drawing) return;
    this.drawing = true;
    const frame = (/** @type {number} */ now) => {
      if (document.hidden) return void (this.drawing = false);
      // Asked for first: a frame that fails is not the last one.
      requestAnimationFrame(frame);
      showBoth(this, now);
      this.renderer.draw(this.picture, now);
      this.minimap.draw(this.picture, this.renderer.camera, this.renderer.paved, now);
    };
    requestAnimationFrame(frame);
  }

  narrow = () => window.innerWidth < 720;

  calm = () => this.settings.calm ?? this.still.matches;

  palette() {
    const { light } = this.settings;
    return light === 'dusk' || (light === 'auto' && this.dark.matches) ? DUSK : DAY;
  }

  restyle() {
    this.picture.calm = this.calm();
    this.picture.palette = this.palette();
    const dusk = this.picture.palette === DUSK;
    document.documentElement.dataset.theme = dusk ? 'dark' : 'light';
    document.body.classList.toggle('calm', this.picture.calm);
    this.hint.hidden = !this.settings.hints;
    this.ambience.turn(this.settings.sounds);
  }

  /** @param {string} name @param {any} value */
  set(name, value) {
    this.settings = { ...this.settings, [name]: value };
    keep(SETTINGS, this.settings);
    this.restyle();
  }

  /** Sizes the picture, and moves its middle out from under panels. */
  layout() {
    const ratio = Math.min(RATIO_MAX, window.devicePixelRatio || 1);
    const [width, height] = [window.innerWidth, window.innerHeight];
    const { camera } = this.renderer;
    const same = camera.width === width && camera.height === height && camera.ratio === ratio;
    if (!same) this.renderer.resize(width, height, ratio);
    const sheet = this.dock.panel.getBoundingClientRect();
    camera.inset = { right: 0, bottom: 0 };
    if (this.dock.open !== null && this.narrow()) camera.inset.bottom = Math.min(sheet.height, height * 0.6);
    else if (this.dock.open !== null) camera.inset.right = sheet.width + 24;
  }

  status() {
    const { status } = this.client;
    this.introduce();
    this.tellPlace();
    if (status.phase === 'open' && !this.entered && !this.entering && !this.looking && this.ready) this.enter();
    this.elsewhere.update();
    this.badge.update();
  }

  /** Shows what the sim says of itself, once it is known. */
  introduce() {
    const { genesis } = this.client;
    // At first there are only its bytes: the core tells what they say.
    if (!genesis?.floorPlan || this.about.dataset.sim === this.client.status.sim) return;
    this.about.dataset.sim = this.client.status.sim;
    fill(this.about, ...described(genesis.introduction));
    this.dock.hide('map', genesis.introduction.world === null);
  }

  /** Says in which sim and room one is, if it is another one. */
  tellPlace() {
    const sim = this.client.status.simName ?? '';
    const { own, plan } = this.renderer.rooms;
    const room = plan.sectors[own];
    this.ambience.enter(room?.sound ?? 'silent');
    const where = room ? t('room.in', { sim, room: room.name }) : sim;
    if (where === this.where) return;
    this.where = where;
    this.place.textContent = where;
    document.title = t('title', { sim });
    if (room) this.announcer.say(t('room.entered', { room: room.name }));
  }

  update() {
    if (this.entered) this.border.update(performance.now());
    if (document.hidden) return;
    this.tellPlace();
    for (const part of [this.actions, this.badge, this.progress, this.steps]) part.update();
    this.tools.check();
    this.beat += 1;
    if (this.beat % 15 === 1) {
      const things = [...this.client.sight.objects.values()];
      const people = things.filter((thing) => thing.player).length;
      this.canvas.setAttribute('aria-label', t('canvas.now', { sim: this.client.status.simName ?? '', people, things: things.length - people }));
    }
  }

  /** Asks who somebody is on the first visit, then lets them in. */
  async begin() {
    const first = recall(KEPT) === null;
    if (first) this.person = await askWho(this.person, (text, passphrase) => this.useKey(text, passphrase), this.about);
    keep(KEPT, this.person);
    if (first) this.steps.begin();
    this.ready = true;
    this.status();
    if (this.identity.kept === false) this.toasts.say(t('phase.key', { why: t(`store.${this.identity.why}`) }), 'bad');
  }

  async enter() {
    this.entering = true;
    // Other rules may hold than those of the genesis. A sim that just began proves none yet, and no node keeps
    // anybody out by its silence: rules that come later are asked about then.
    await Promise.race([this.client.values(), new Promise((late) => setTimeout(late, RULES_MS))]).catch(() => {});
    if (!(await agrees(this.client))) {
      [this.looking, this.entering] = [true, false];
      return void this.toasts.say(t('rules.looking'));
    }
    this.progress.update();
    const login = this.client.login(this.person.name, this.person.look);
    // A lost connection is the client's to mend; it asks again when it is open.
    const [done, trouble] = await login.then(({ ok, refusal: code }) => [ok, ok ? null : refusal(code)],
      (error) => [false, this.client.status.phase === 'open' ? why(error) : null]);
    if (trouble !== null) {
      this.person = await askWho(this.person, (text, passphrase) => this.useKey(text, passphrase), this.about, trouble);
      keep(KEPT, this.person);
    }
    [this.entering, this.entered] = [false, done];
    if (done) this.abide();
    // Who came in needs the ticket no more, and may share the address.
    if (done) [this.chat, this.buddies, this.profiles].forEach((part) => part.greet());
    if (done && ticketOf(location.hash)) history.replaceState(null, '', location.pathname + location.search);
    // Whoever types by then, or is in a panel, stays there.
    if (done && document.activeElement === document.body) this.canvas.focus({ preventScroll: true });
    else if (trouble !== null) this.status();
  }

  /** Takes another key, which a passphrase opens if there is one; the client is made anew with it. @param {string} text */
  async useKey(text, passphrase = '') {
    const { module, compiled } = this.loaded;
    await Identity.keep(this.store, passphrase ? await sealing(compiled, { do: 'open', text, passphrase }) : module.keyDesk({ do: 'read', text }));
    location.reload();
  }

  /** Leaves if the house rules that hold are not those that the person agrees to. */
  async abide(client = this.client) {
    if (!(await agrees(client)) && client === this.client) await this.leave();
  }

  async leave() {
    await this.toasts.watch('leave', this.client.leave());
    this.client.stop();
  }

  /** @param {Look} look */
  async setLook(look) {
    const outcome = await this.toasts.watch('look', this.client.setLook(look));
    if (!outcome?.ok) return;
    this.person = { ...this.person, look };
    keep(KEPT, this.person);
  }

  /** Shows a thing in the inspector; `null` closes it. @param {number | null} id */
  select(id) {
    if (id === null) {
      if (this.dock.open === 'thing') this.dock.close();
      return this.unselect();
    }
    if (this.dock.open === 'thing' && this.picture.selected !== id) this.picture.handles = false;
    this.picture.selected = id;
    this.dock.show('thing', id);
  }

  unselect() {
    this.picture.selected = null;
    this.picture.handles = false;
  }

  /** @param {number} x @param {number} y */
  walk(x, y) {
    // Walks follow each other quickly; only a refusal that lasts is worth a word.
    Promise.resolve(this.border.walk(x, y)).catch(() => {});
  }

  /** @param {number} id */
  touch = (id) => this.toasts.watch('touch', this.client.touch(id));

  /** @param {number} id */
  push = (id) => this.toasts.watch('push', this.client.push(id));

  /** @param {any} kind */
  emote = (kind) => this.toasts.watch('emote', this.client.emote(kind));

  undo = () => this.group.undo();

  /** Does what E stands for. */
  act() {
    const found = inReach(this);
    if (!found) this.toasts.say(t('act.none'));
    else if (found.act === 'touch') this.touch(found.thing.id);
    else this.push(found.thing.id);
  }

  pushNearest() {
    const found = around(this).find(({ thing }) => pushable(thing));
    if (found) this.push(found.thing.id);
    else this.toasts.say(t('act.none'));
  }
}

/** Starts the page; without the module there is nothing to start. */
async function open() {
  const loaded = await loadModule(wasm).catch(({ code }) => absence(code, config.origin));
  if (loaded instanceof Element) return document.body.append(loaded);
  const store = await openStore();
  const { module } = loaded;
  const page = new Page(await Identity.open(module, store), loaded, store);
  page.start();
  page.begin();
  // Whoever drives the page, as tests do, gets hold of it here; nothing in the page listens.
  window.dispatchEvent(new CustomEvent('metatopia', { detail: page }));
}

await open();
