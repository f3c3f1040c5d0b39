/** Shapes of what the module and the workers tell the page. Its sources name them in comments. */

/** The sim of a thing's birth, and its number there. */
export interface Origin { sim: string; number: number }

/** What is worn on a body. */
export interface Wearable { shape: string; color: number }

/** How somebody looks. */
export interface Look {
  color: number;
  shape: string;
  head?: Wearable | null;
  hands?: Wearable | null;
  hat?: Wearable | null;
}

/** A thing in sight. */
export interface Thing {
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
export interface Place { x: number; y: number; angle: number; vx: number; vy: number }

/** What the core tells of a moment. */
export interface View {
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
export interface ReplicaState {
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
export interface TrialLine { at: number; kind: string; [more: string]: any }

/** What a try, or a script that is watched, has to tell. */
export interface TrialReport {
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
