/**
 * Shapes of what the module, the workers and the servers tell the page, and of what its rooms hand to each
 * other. Its sources name them in comments, without importing them.
 */

/** What all of the page hangs on, and what several of its folders name. */
type Page = import('./web/main.js').Page;
type Engine = import('./web/core/engine.js').Engine;
type Camera = import('./web/draw/camera.js').Camera;

/** On the ground, in metres. */
interface Spot { x: number; y: number }

/** On the ground, and turned. */
interface Pose extends Spot { angle: number }

/** The ground that something takes: half its sides in metres, or its radius. */
interface Footprint extends Pose { hx: number; hy: number; round: boolean }

/** A rectangle of ground, by its edges in metres. */
interface Area { west: number; south: number; east: number; north: number }

/** The sim of a thing's birth, and its number there. */
interface Origin { sim: string; number: number }

/** What is worn on a body. */
interface Wearable { shape: string; color: number }

/** How somebody looks. */
interface Look {
  color: number;
  shape: string;
  head?: Wearable | null;
  hands?: Wearable | null;
  hat?: Wearable | null;
}

/** A thing in sight. */
interface Thing {
  id: number;
  kind: string;
  name: string;
  /** Its key, in hexadecimal digits; null is the sim's own. */
  owner: string | null;
  /** Whose avatar it is. */
  player: string | null;
  look: Look;
  text: string;
  scripts: { script: number; package: string | null }[];
  /** 'Cc0', 'CcBy', 'CcBySa' or 'Reserved'. */
  licence: string;
  /** The key of who made it, or made what it is a copy of. */
  author: string | null;
  /** Who changed it last. */
  changed: { by: string; word: string; height: number; time: number } | null;
  /** Where it was born; null for here, under its number. */
  birth: Origin | null;
  /** The sim to which it can be sent home, if it came over a border. */
  home: string | null;
  /** What it is a copy of. */
  parent: Origin | null;
  /** May it leave for another sim? */
  travels: boolean;
  /** The avatar that has it in hand. */
  held: number | null;
  /** Can somebody sit on it? */
  seat: boolean;
  /** A disc; a rectangle otherwise. */
  round: boolean;
  /** With round ends. */
  rod?: boolean;
  /** Half its width in metres, or its radius. */
  hx: number;
  hy: number;
  /** Of each part in metres, counter-clockwise; `thin` if it is a line. */
  corners?: [number, number][][] | null;
  motion: 'static' | 'kinematic' | 'dynamic';
  movable: boolean;
  /** Lets others through. */
  sensor: boolean;
  /** 'wave', 'nod', 'dance', 'bow', 'laugh'. */
  gesture: string | null;
  /** Seen from afar: it is not among the proven tiles. */
  far: boolean;
  /** It went over a border, and is drawn on until the other sim shows it. */
  departed: boolean;
}

/** In metres, radians, and metres a second. */
interface Place { x: number; y: number; angle: number; vx: number; vy: number }

/** What the core tells of a moment. */
interface View {
  height: number;
  tick: number;
  /** The own avatar. */
  me: number | null;
  /** Everything else is out of sight. */
  reset: boolean;
  gone: number[];
  /** What is new or changed. */
  put: (Thing & { place: Place })[];
  /** Number, x, y, angle, vx, vy. */
  moved: [number, number, number, number, number, number][];
  /** All of this moment. */
  gestures: [number, string][];
}

/** How replica mode stands. */
interface ReplicaState {
  on: boolean;
  phase: 'off' | 'snapshot' | 'replaying' | 'following' | 'mismatch';
  /** Of its own state. */
  height: number;
  /** The newest height whose roots were compared. */
  certified: number;
  /** After that height. */
  ownRoot: string | null;
  certifiedRoot: string | null;
  /** Turns that were compared, and equal. */
  equal: number;
  /** Turns. */
  behind: number;
  /** Of a snapshot under way, in bytes. */
  received: number;
  bytes: number;
  capsule: Blob | null;
  /** Why it went off by itself, as a code. */
  why: string | null;
}

/** What happened in a try: simulated seconds since the beginning, and what the module says of it. */
interface TrialLine { at: number; kind: string; [more: string]: any }

/** What a try, or a script that is watched, has to tell. */
interface TrialReport {
  /** Simulated seconds since the beginning. */
  at: number;
  /** More turns follow by themselves. */
  running: boolean;
  /** Nothing runs any more. */
  over: boolean;
  /** Since the last report. */
  lines: TrialLine[];
  /** Lines that were left out. */
  more: number;
  /** By handler. */
  gas: Record<string, { calls: number; gas: number; most: number }>;
  /** Of one call. */
  gas_max: number;
}

/** What an act came to. */
interface Result {
  /** Its id. */
  act: string;
  /** Of the turn. */
  height: number;
  ok: boolean;
  /** The rule that refused it, by its name in the protocol. */
  refusal: string | null;
  /** The object that it made. */
  made: number | null;
}

/** A place of a source is wrong: line and column count from 1, and 0 is all of it. */
interface Mistake { line: number; column: number; message: string }

/** What scripts can name, how it is written, and what it is; of imports only the name is known. */
interface ScriptName { name: string; form?: string; doc?: string }

/** What comes of commands that are no acts, or of acts that tell more. */
interface Answers {
  /** Null if nothing had to be said. */
  walk: Result | null;
  /** Near a place. */
  borders: Border[];
  /** By whom it is asked that another key take over one's own; null if by nobody. */
  recovery: { by: string[]; need: number; key: string | null; left: string } | null;
  /** Who get one's key back, in lines. */
  friends: { lines: string[]; refusal?: string };
  /** What an order would do, or the rule against it. */
  would: { does: string; refusal: string | null; acts: number };
  /** Values of the charter that can be changed. */
  values: { values: [string, string][]; lands: { name: string; title: string }[] };
  /** To moderators. */
  reports: { report: number; text: string; own: boolean; open: boolean }[];
  /** Of the person, and those to which she is invited. */
  clubs: Club[];
  /** Who is here. */
  players: any[];
  /** What runs here. */
  scripts: any[];
  /** What was ordered about somebody; about oneself, if nobody is named. */
  person: any;
  /** Below a number, proved; from the last order, without one. */
  orders: any;
  /** Of a package, hashed again. */
  source: any;
  /** What can be attached, by the node's word. */
  packages: { id: string; name: string; version: string }[];
  /** A source's mistakes, by its compiler, and what it can name of its imports. */
  check: { mistakes: Mistake[]; names: string[] };
  /** What scripts can call, what one begins with, and which licences there are. */
  reference: {
    example: string;
    licences: string[];
    entries: Required<ScriptName>[];
  };
  /** With the id of the script's package. */
  publish: Result & { package: string };
  /** A sim of what is in sight, the thing's number there, and the own name. */
  sketch: { genesis: string; sim: string; object: number; name: string };
  /** The whole frame of a replica's answer. */
  raw: { kind: string; frame: Uint8Array };
}

/** What an engine begins with. */
interface Options {
  /** Of the first node, such as `http://127.0.0.1:8080`. */
  origin: string;
  identity: import('./web/core/keys.js').Identity;
  /** The module, for workers. */
  compiled: WebAssembly.Module;
  /** The only carrier to use. */
  prefer?: 'webtransport' | 'websocket';
  /** The secret of a ticket, for a key that is new to the sim. */
  ticket?: string | null;
  /** How far the sim was, as a link says. */
  checkpoint?: string | null;
  /** Where to look while there is no avatar. */
  at?: { x: number; y: number } | null;
  /** The only one to enter. */
  sim?: string | null;
  /** Where its servers are, as the page was told. */
  servers?: string[];
  /** Keeps the newest checkpoint of each sim. */
  store?: Store;
}

/** What `/api/session` says. */
interface Offer {
  sim: string;
  server: string;
  name?: string;
  wt?: string | null;
  ws?: string;
  certificates?: string[];
  /** WebTransport shows a certificate that an authority gave. */
  authority?: boolean;
  /** The origins of the sim's servers, as this one knows them. */
  servers?: string[];
}

/** A way to a node. */
interface Carrier {
  kind: 'webtransport' | 'websocket';
  send: (frame: Uint8Array) => void;
  close: () => void;
}

/** Who hears of a carrier. */
interface Ears {
  /** A frame came. */
  frame: (frame: Uint8Array) => void;
  /** It is over; the first call says why. */
  closed: (why: string) => void;
}

/** A server as this tab knows it. */
interface Server {
  /** Its origin. */
  http: string;
  /** Its key. */
  server: string | null;
  quic: string | null;
  /** Milliseconds, as HTTP took. */
  rtt: number | null;
  failedAt: number;
}

/** A few small things by name. */
interface Store {
  /** Does what is put here outlive the tab? */
  kept: boolean;
  /** If not, why, as a code. */
  why: string | null;
  /** Undefined if there is none. */
  get: (name: string) => Promise<any>;
  put: (name: string, value: any) => Promise<void>;
  /** Keeps the value unless there is one. Gives the one that is there now: two tabs that start at once agree. */
  first: (name: string, value: any) => Promise<any>;
}

/** A server that votes. */
interface Member { key: string; power: number }

/** What is known about the truth of what is in sight. */
interface ProofState {
  level: 'green' | 'amber' | 'red';
  /** The height whose state is proven. */
  of: number | null;
  /** Of the header that says so, in milliseconds since 1970. */
  time: number | null;
  /** By so many. */
  signed: number;
  /** Of so many. */
  members: number;
  /** A code. */
  reason: string | null;
  detail: string | null;
  /** Newest first. */
  headers: {
    height: number;
    time: number;
    proposer: string;
    round: number;
    signers: string[];
    verified: boolean;
  }[];
}

/** Who speaks with which sim, and what is known of it already. */
interface CoreName {
  /** 32 bytes in hexadecimal. */
  secret: string;
  /** Its id. */
  sim: string;
  /** A number of 64 bits, in decimal digits, that this key never used before. */
  lane: string;
  /** The line of the one that led to the key. */
  rotation: string | null;
  /** The secret of a ticket, in hexadecimal. */
  ticket: string | null;
  /** Where to look while there is no avatar, in metres. */
  at: { x: number; y: number } | null;
  /** What an event `checkpoint` said earlier, or a link carries. */
  checkpoint: string | null;
}

/** Where the module's replica is. */
interface ReplicaStatus {
  phase: 'links' | 'snapshot' | 'following' | 'mismatch';
  /** Of the own state, as `tick` and `root` are. */
  height: number;
  tick: number;
  root: string;
  /** The newest height after which the own root was compared with the one that certified headers state. */
  checked: number;
  ownRoot: string | null;
  statedRoot: string | null;
  /** The newest decided height that was heard of. */
  decided: number;
  /** Of a snapshot under way, in bytes. */
  received: number;
  bytes: number;
}

/** What the module's replica wants to be asked. */
type ReplicaWant =
  | { ask: 'links'; after: number }
  | { ask: 'snapshot' }
  | { ask: 'part'; height: number; part: number }
  | { ask: 'turns'; from: number };

/** Ground that a player took. */
interface Lot {
  lot: number;
  name: string;
  holder: string;
  friends: { key: string; name: string }[];
  own: boolean;
  /** Does the holder let one build there? */
  lets: boolean;
  club?: string | null;
  x: number;
  y: number;
  hx: number;
  hy: number;
  angle: number;
  round: boolean;
}

/** What holds two things, or a thing to the ground, by places as the things see them. */
interface Joint {
  a: number | null;
  b: number;
  kind: 'hinge' | 'rod' | 'weld' | 'slider' | 'target' | 'rope' | 'spring' | 'motor';
  along: number;
  ax: number;
  ay: number;
  bx: number;
  by: number;
}

/** A border to a neighbour, or a portal that leads there. */
interface Border {
  neighbour: string;
  open: boolean;
  why: string | null;
  /** In metres. */
  gap: number;
  /** Is that too far to go over yet? */
  far: boolean;
  /** A point of the compass. */
  edge: string;
  /** The middle of the portal. */
  portal: { x: number; y: number } | null;
  /** To the neighbour's coordinates. */
  shift: { x: number; y: number };
  nodes: string[];
  line: { x: number; y: number }[] | null;
  /** What is looked at over there, in the neighbour's coordinates. */
  lookout: { x: number; y: number } | null;
  /** Why the person is not let over. */
  refused: string | null;
  /** Things in her hands that stay. */
  stays: { id: number; why: string }[];
  back: string | null;
}

/** A square of the map: place, sim and holder are proved, the rest is what its servers say. */
interface Site {
  x: number;
  y: number;
  side: number;
  sim: string;
  holder: string;
  label: string | null;
  people: number | null;
  licence: string | null;
  met: boolean;
  /** The origins of its servers. */
  at: string[];
}

/** What a sim says of itself. */
interface Introduction {
  world: string | null;
  description: string;
  tags: string[];
  /** Empty if there are none. */
  houseRules: string;
  /** Null if there are none. */
  houseRulesDigest: string | null;
  /** An address of its bytes. */
  picture: string | null;
  falls: string | null;
}

interface ClubPerson { name: string; key: string; here: boolean }

/** A club of the person, or one to which she is invited. */
interface Club {
  club: number;
  name: string;
  channel: string;
  own: boolean;
  invited: { name: string; key: string } | null;
  members: ClubPerson[];
  asked: ClubPerson[];
}

/** What somebody says of herself. */
interface Profile {
  key: string;
  version: number;
  line: string;
  pronouns: string;
  picture: string | null;
  image?: string | null;
  text?: string;
}

/** What a thing asks. */
interface Asked {
  /** The thing. */
  object: number;
  name: string;
  form: {
    tag: string;
    title: string;
    text: string;
    choices: string[];
    field: string | null;
    offer: Offered | null;
  };
}

/** What a person agrees to by accepting; the names are the sim's, not the script's. */
interface Offered {
  terms: { give: number | null; take: number | null; allow: ('Move' | 'Dress')[] };
  given: string;
  taken: string;
}

/** A script that is not published yet. */
interface ScriptDraft {
  /** Of the package. */
  name: string;
  version: string;
  /** What it is written for; null for the newest. */
  api: number | null;
  /** The file that is edited. */
  entry: string;
  files: Record<string, string>;
  licence: string;
  /** Of what it was made from. */
  authors: { name: string; key: string | null }[];
  /** The package that it was made from. */
  parent: string | null;
  /** Ids of the packages that it imports, by its names for them. */
  imports?: Record<string, string>;
  /** The thing that gets it; null for none. */
  object: number | null;
  /** Which of its scripts it takes the place of; null for none. */
  script: number | null;
  /** The package that it is by now, if nothing was changed since. */
  published: string | null;
}

/** A panel of the dock. */
interface Panel {
  /** What it consists of; made by the dock for one with `parts`. */
  body?: HTMLElement;
  /** What is in it, anew each time it is opened. */
  parts?: () => (Node | string | null | false | undefined)[];
  /** It is opened, or opened again with another detail. */
  show?: (detail?: any) => void;
  hide?: () => void;
  /** Called a few times a second while it is open. */
  update?: () => void;
  /** Asks for what it shows, when it is opened and then again and again. */
  load?: () => Promise<void>;
  /** Milliseconds between two questions. */
  every?: number;
  /** When it asked last. */
  asked?: number;
  /** Says when that failed; whoever asks has it. */
  state?: HTMLElement;
  title?: string;
}

/** A light, and the colours that it makes. */
interface Palette {
  /** Below 4. */
  id: number;
  /** 'day' or 'dusk'. */
  name: string;
  /** Where the shadow of a metre of height falls, in metres: x east, y north. */
  cast: [number, number];
  /** What the light makes of red, green and blue. */
  tint: [number, number, number];
  /** Colour of shadows. */
  shadow: string;
  shadowAlpha: number;
  /** Tones of paving, 0xRRGGBB. */
  stone: number[];
  /** Between stones. */
  joint: number;
  /** Stones of the bands. */
  band: number[];
  /** The rose in the middle: terracotta, slate, cream. */
  accent: number[];
  grass: number;
  blades: number[];
  /** Strength of lamps, 0 by day. */
  glow: number;
  /** Of names. */
  ink: string;
  /** Behind names. */
  paper: string;
}

/** Where something would be. */
interface Ghost {
  x: number;
  y: number;
  angle: number;
  hx: number;
  hy: number;
  round: boolean;
  ok: boolean;
}

/** What is to be drawn. */
interface Picture {
  /** A scene, or two that are joined: objects, at(id, now). */
  sight: any;
  /** The own avatar. */
  me: number | null;
  selected: number | null;
  hover: number | null;
  /** What a hand would act on now. */
  near: number | null;
  /** May the selected thing be changed? */
  handles: boolean;
  bubbles: Map<number, {
    text: string;
    everywhere: boolean;
    from: number;
    until: number;
    by?: string | null;
    key?: string;
  }>;
  /** Where one walks to. */
  goal: { x: number; y: number } | null;
  ghosts: Ghost[];
  /** Things that are chosen together. */
  group: ReadonlySet<number>;
  /** Within which things are chosen. */
  box: { x: number; y: number; hx: number; hy: number } | null;
  /** Shown elsewhere than it is. */
  held: { id: number; x: number; y: number; angle: number; hx: number; hy: number } | null;
  /** Where to look without an avatar. */
  look: { x: number; y: number };
  lots: Lot[];
  joints: Joint[];
  /** That is near. */
  border: Border | null;
  /** In sight. */
  portals: Border[];
  /** Reduced motion. */
  calm: boolean;
  palette: Palette;
}

/** What a painter gets: the context stands at the middle of the footprint, y down, pixels. */
interface Sitting {
  ctx: CanvasRenderingContext2D;
  /** As the sight has it. */
  thing: any;
  /** Pixels a metre. */
  s: number;
  /** Metres, as its kind is. */
  tall: number;
  angle: number;
  palette: Palette;
  /** Milliseconds. */
  now: number;
  /** Without animation. */
  calm: boolean;
  /** Pixels of a long side that are on the screen. */
  cut?: { left: number; right: number } | null;
}

/** What is known of a kind of things. */
interface Facts {
  /** Metres of its height. */
  tall: number;
  /** Metres of height where labels hang. */
  top?: number;
  /** Metres by which it sticks out of its footprint. */
  wide?: number;
  /** Moves by itself. */
  lively?: boolean;
  /** Shines. */
  lamp?: boolean;
  /** No two look alike. */
  grain?: boolean;
  paint?: string;
  /** If that is all. */
  pieces?: any[][];
}

/** What is known of a person before she enters. */
interface Person { name: string; look: Look }

/** A point of a predicted path: x, y, vx, vy, angle. */
type PathPoint = [number, number, number, number, number];

/** Where a thing was at a tick. */
interface Sample extends Place { tick: number }

/** Asks something of the core, with its fields. */
type Ask = (what: string, fields?: any) => Promise<any>;

/** Who waits for an answer of the core. */
interface Waiter { resolve: (result: any) => void; reject: (error: Error) => void }

/** Who hears of the worker that runs the core. */
interface PortEars {
  /** What the core says by itself. */
  event: (event: any) => void;
  /** A frame for the server. */
  frame: (frame: Uint8Array) => void;
  /** The core is gone. */
  failed: (code: string, detail: string) => void;
}

/** What keeps a session connected. */
interface LinkParts {
  port: import('./web/core/port.js').Port;
  servers: import('./web/core/servers.js').Servers;
  prefer: 'webtransport' | 'websocket' | undefined;
  changed: () => void;
  /** The only one to speak with, if that is known. */
  sim: () => string | null;
  /** Makes ready for this server; gives why it cannot be entered, if so. */
  greet: (http: string, offer: Offer) => Promise<string | null>;
}

/** What replica mode needs of an engine. */
interface ReplicaParts {
  changed: () => void;
  /** Gives the answer's whole frame. */
  askRaw: (question: any) => Promise<{ kind: string; frame: Uint8Array }>;
  /** The newest decided one. */
  height: () => number;
}

/** What is tried; without a draft the script is only watched. */
interface TrialTask {
  object: number;
  script: number | null;
  author: string;
  draft: any;
  /** The author's in a sketch, which does not know her. */
  name?: string;
}

/** Who hears of a try. */
interface TrialEars {
  /** The replica is not there yet. */
  waits: (state: ReplicaState) => void;
  told: (report: TrialReport) => void;
  /** The try is over. */
  failed: (error: any) => void;
}

/** What makes keys. */
type Scheme = Pick<import('./web/prove/module.js').Module, 'publicKey' | 'keyDesk'>;

/** What reads the map of a world. */
interface MapParts { sim: string; world: string; module: import('./web/prove/module.js').Module }

/** The proofs of a map, as a node tells them. */
interface MapProofs { world: string; office: string; links: string; proofs: string[] }

/** What they prove. */
interface ProvenMap {
  squares: { x: number; y: number; side: number; sim: string; holder: string; shown: number }[];
  oldest: number | null;
}

/** A list of people as text, and what is changed in it. */
interface ListChange {
  text: string;
  secret: string;
  rotation: string | null;
  file?: string;
  add?: { key: string; name: string };
  remove?: string;
}

/** A list of people, signed, and what it says. */
interface PeopleList { text: string; people: { key: string; name: string }[] }

/** What the walk over a border needs of an engine. */
type Walker = Pick<Engine, 'me' | 'sight' | 'genesis' | 'sim' | 'borders' | 'approach' | 'start' | 'stop' | 'status' | 'port' | 'walk' | 'setPulse'>;

/** What the walk over a border is made of. */
interface WalkParts {
  /** Where the avatar is. */
  engine: Walker;
  /** Who walks. */
  person: () => Person;
  /** Digests of the house rules that she agreed to, and what asks her to agree to others. */
  rules: { agreed: () => string[]; agrees: (there: Walker) => Promise<unknown> };
  /** Makes the neighbour's. */
  open: (border: Border) => Walker;
  /** The avatar is there. */
  arrived: (there: Walker, border: Border) => void;
  /** The neighbour takes nobody over, by a code. */
  refused: (why: string, there: Walker) => void;
  /** A border is near, or none is any more; these portals are in sight, and from that border one came home. */
  near: (border: Border | null, there: Walker | null, portals: Border[], left?: Border) => void;
}

/** A neighbour that is looked after. */
interface Beside {
  border: Border;
  engine: Walker;
  sight: import('./web/core/joined.js').JoinedSight;
  /** Is its border near? */
  near: boolean;
  /** Does it let her over? */
  ok: boolean;
  /** When she is announced anew, and how often that is done at once. */
  due: number;
  atOnce: number;
  /** Why she was refused. */
  said: { why: string | null; times: number };
  /** Was it told of the heading? */
  told: boolean;
}

/** What is joined of an engine. */
interface Side { sight: import('./web/core/scene.js').Scene; sim: string | null; genesis: any; status: { simName: string } }

/** A room, and what joins it to others or to outside. */
interface Sector { name: string; corners: Spot[]; floor: number; light: number; sound: string }
interface Opening { from: Spot; to: Spot; joins: number[] }
interface FloorPlan { sectors: Sector[]; openings: Opening[] }

/** A piece of ground that is seen; `room` is -1 outside. */
interface Piece { room: number; points: Spot[] }

/** What canvases are painted with, the x and y of points, and what fills and strokes. */
type Paint = string | CanvasGradient | CanvasPattern;
type Points = readonly (readonly number[])[];
type Filling = (ctx: CanvasRenderingContext2D, paint: Paint, ...at: number[]) => void;
type Stroke = (ctx: CanvasRenderingContext2D, paint: Paint, width: number, at: number[]) => void;

/** A corner of an outline: x and y. */
type Corner = [number, number];

/** How an outline on the ground is drawn; widths in pixels, the margin in metres. */
interface OutlineStyle { color: string; width: number; margin: number; dash?: number[]; offset?: number; fill?: string }

/** A box in pixels; `up` is the height as drawn. */
interface Box {
  hx: number;
  hy: number;
  angle: number;
  up: number;
  color: number;
  palette: Palette;
  face?: (length: number, height: number, light: number) => void;
  lid?: () => void;
  base?: number;
  outline?: Corner[];
}

/** A box of a thing: half sides are shares of the footprint's, heights are metres. */
interface BoxPiece {
  hx?: number;
  hy?: number;
  up?: number;
  base?: number;
  color?: number | string;
  outline?: Corner[];
  face?: (length: number, height: number, light: number) => void;
  /** What is drawn on it; or strokes, as a table lists them. */
  lid?: (() => void) | any[][];
}

/** How a kind is drawn. */
type Kind = Omit<Facts, 'paint'> & { paint: (sitting: Omit<Sitting, 'tall'>) => void };

/** What paints a kind with pieces. */
type Painter = (sitting: Sitting & ReturnType<typeof import('./web/draw/pieces.js').piecesFor>) => void;

/** A thing that casts a shadow. */
interface Caster extends Footprint { tall: number; corners?: Corner[][] | null }

/** A thing in view: where it is, and the pixels of its middle. */
interface Placed { id: number; thing: any; at: Pose & { vx: number; vy: number }; x: number; y: number }

/** A thing that is chosen with others. */
interface Chosen { id: number; thing: any; at: Pose }

/** Words that are painted once. */
interface Label { canvas: HTMLCanvasElement; w: number; h: number }

/** Light on the ground. */
interface Lamp extends Spot { radius: number; strength: number }

/** What avatars wear. */
type AvatarPart = 'body' | 'head' | 'hands' | 'hat';

/** What there is to build with. */
interface PalettePart {
  id: string;
  kind: string;
  w: number;
  h: number;
  round: boolean;
  rod?: boolean;
  corners?: Corner[];
  movable: boolean;
  color: number;
}

/** What is placed somewhere. */
interface PlaceSpec extends Spot {
  kind: string;
  name: string;
  text?: string;
  color: number;
  round?: boolean;
  rod?: boolean;
  corners?: Corner[];
  outline?: string;
  w: number;
  h?: number;
  movable?: boolean;
  angle?: number;
  licence?: string;
}

/** An outline of something to place, and what else is known of it. */
interface Outline extends Pose { w: number; h: number; round: boolean; color: number; parts?: Outline[] }

/** What to place: parts around a middle. */
interface Plan { parts: Outline[]; angle: number }

/** What the pointer does: `move`, `turn` and `size` change one thing, `shift` and `copy` several, `pick` and `box` choose. */
interface Grip {
  how: 'move' | 'turn' | 'size' | 'shift' | 'copy' | 'pick' | 'box';
  id: number;
  dx: number;
  dy: number;
  moved: boolean;
  ids?: number[];
  at?: Spot;
  to?: Spot;
}

/** Code that a server offers. */
interface CodeOffer { code: string; version: string }

/** Values that can be chosen, each with its words. */
type Choices = (string | number)[][];

/**
 * What to work on: a thing of one's own (its first script, or the one that is named, or a new one if `fresh`), or a
 * package to fork.
 */
interface Task { object?: number | null; script?: number | null; fresh?: boolean; fork?: string }
