// @ts-check
/** What is in the state, as far as a client reads it: objects with their bodies, and packages. */
import {
  bool, bytes, choice, count, i32, option, seq, struct, text, textMap, tuple, u16, u32, u64, u8,
} from './postcard.js';
import { assetLicence, contact, fx, id, look, vec2 } from './types.js';

const q20 = i32;
const vector = struct({ x: q20, y: q20 });
/** The sim of a thing's birth and its number there: the same wherever the thing is. */
const origin = struct({ sim: id, number: count });
const object = struct({
  kind: text, name: text, owner: option(id), player: option(id), look, text, scripts: seq(count),
  licence: assetLicence, author: option(id), birth: option(origin),
  parent: option(origin), travels: bool,
});

/** Numbers have 20 fraction bits, but for `facing`, which has 30, and `mass`, which has 16. */
export const body = struct({
  id: count,
  geometry: choice({ Circle: q20, Rect: vector }),
  motion: choice({ Static: null, Kinematic: null, Dynamic: null }),
  sensor: bool,
  fixed_rotation: bool,
  mass: u32,
  friction: q20,
  restitution: q20,
  linear_damping: q20,
  angular_damping: q20,
  position: vector,
  facing: vector,
  velocity: vector,
  spin: q20,
  slow_steps: u8,
});

/** An entry of a tile: an object's id, itself and its body. */
export const entry = tuple(count, object, body);

/** Largest entry: as large as a leaf may be. */
export const ENTRY_BYTES_MAX = 64 * 1024;

export const manifest = struct({
  name: text,
  version: struct({ major: u32, minor: u32, patch: u32 }),
  api: u16,
  entry: text,
  files: textMap(id),
  imports: textMap(id),
  licence: struct({ expression: text, chosen: text }),
  authors: seq(struct({ name: text, key: option(id) })),
  parent: option(id),
});

/** A package as servers hand it out. */
export const sourcePackage = tuple(manifest, textMap(text));

/** How avatars move and reach. */
const avatar = struct({
  radius: fx, mass: fx, speed: fx, acceleration: fx, reach: fx, push: fx, spawn: vec2,
  spawn_radius: fx,
});

/** The agreed numbers of a sim. */
const parameters = struct({
  ticks_per_turn: u32,
  ground: struct({ low: vec2, high: vec2 }),
  avatar,
  hearing: fx,
  lease_ticks: count,
  grace_ticks: count,
  objects_max: u32,
  avatars_max: u32,
  building: struct({
    objects_per_player: u32, movable_per_player: u32, movable_max: u32, scripts_per_player: u32,
    text_bytes_per_player: u32, reach: fx, size_max: fx, open_ground: bool,
  }),
  gas: struct({
    tick: u64, script_refill: u64, script_capacity: u64, owner_refill: u64, owner_capacity: u64,
  }),
  admin_days: u32,
  player_days: u32,
  first_login: choice({ Open: null, Work: null, Invite: null, Closed: null }),
  first_login_tries: count,
  seen_days: u32,
});

/** What a genesis begins with; objects and licences follow. */
export const genesisHead = struct({
  name: text, engine: u32, rules: id, parameters, admins: seq(id),
  validators: seq(tuple(id, contact)),
  packages: seq(tuple(id, bytes)),
});

