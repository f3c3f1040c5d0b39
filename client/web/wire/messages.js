// @ts-check
/** Every message between a client and a node, version 1. */
import { Reader } from './buffer.js';
import {
  bool, bytes, choice, count, decode, encode, i32, option, seq, struct, text, tuple, u16, u32, u64,
  u8,
} from './postcard.js';
import {
  certificate, contact, emote, header, id, look, movement, outcome, receipt, signature,
  setChange, signedEnvelope, stateProof, submission, turn, validatorSet, vec2,
} from './types.js';

/** The version in every hello. */
export const VERSION = 3;

/** Largest frame from a server: a whole turn, asked for by height. */
export const SERVER_FRAME_BYTES_MAX = 448 * 1024 + 4096 + 64 * 1024;

/** Largest frame from a client: an act with the one blob it may name. */
export const CLIENT_FRAME_BYTES_MAX = 64 * 1024 + 2048;

/** Bytes of a genesis in one answer. */
export const GENESIS_PART_BYTES = 256 * 1024;

/** Tiles that a client may say it has. */
export const HAVE_MAX = 64;

const tile = struct({ x: i32, y: i32 });
const watching = struct({
  bytes_per_second: u32, turns_apart: u16, proofs: bool, at: option(vec2),
  have: seq(tuple(tile, count)),
});

export const challenge = struct({ version: u16, sim: id, server: id, nonce: id });
const hello = struct({ version: u16, key: id, signature });

const invite = struct({
  header, certificate, validators: validatorSet, addresses: seq(text),
  grant: choice({ Follow: null, StandBy: null }), uses: u32, expires: count, issuer: id, nonce: u64,
});
const applicant = struct({ key: id, contact });
const joinRequest = struct({
  invite: struct({ invite, signature }), applicant: option(applicant),
});

export const question = choice({
  Receipt: struct({ author: id, lane: u64, seq: count }),
  Turn: struct({ height: count }),
  Outcomes: struct({ height: count }),
  Links: struct({ after: count }),
  Source: struct({ package: id }),
  Order: struct({ height: count, script: count }),
  Root: struct({ height: count }),
  Players: null,
  Scripts: struct({ after: count }),
  Genesis: null,
  Turns: struct({ from: count }),
  Snapshot: null,
  SnapshotPart: struct({ height: count, part: u32 }),
  Servers: null,
  Governance: null,
  Things: struct({ owner: id }),
  Leaves: struct({ height: count, leaves: seq(u32) }),
  Join: joinRequest,
  Applicants: null,
  GenesisPart: struct({ part: u32 }),
  LoginTerms: struct({ key: id }),
  Tickets: null,
});

/** What a client says. */
export const clientMessage = choice({
  Hello: hello,
  Submit: submission,
  Ask: struct({ id: u32, question }),
  Ping: struct({ token: u64 }),
  View: option(watching),
  Seen: struct({ number: u32 }),
});

export const link = struct({ header, certificate, next: validatorSet });
export const entrance = struct({
  sim: id, server: id, http: text, quic: text, certificates: seq(id), issued: count,
});
export const signedEntrance = struct({ entrance, signature });

const receiptAnswer = struct({ act: signedEnvelope, receipt, outcome: option(outcome) });
const playerEntry = struct({ name: text, key: id, avatar: count, look });
const scriptEntry = struct({
  script: count, object: count, name: text, package: id, owner: option(id), failures: count,
  last_failure: option(tuple(count, text)), dropped: count, gas_used: count,
});
const thingEntry = struct({
  object: count, name: text, kind: text, position: vec2, text_bytes: u32,
  scripts: seq(tuple(count, id)),
});
const candidate = struct({ name: text, key: id, first_seen: count, last_login: count });
const delayedChange = struct({ change: setChange, by: id, left: count });
const governance = struct({
  admins: seq(id), temp_admin: option(id), admin_days: u32, player_days: u32, seen_days: u32, time: count,
  admin_login: count, countdown: count, players: u32, candidates: seq(candidate),
  exposed: seq(tuple(id, count)), delayed: seq(delayedChange),
});
const orderEntry = struct({ tick: count, sender: count, event: text });
const snapshotOffer = struct({ height: count, bytes: count, header, certificate });

/** Why a node is not let in as a follower. */
const joinRefusal = choice({
  OtherSim: id, Invalid: null, Expired: null, Issuer: id, Used: u32, Grant: null, Full: null,
});

export const answer = choice({
  Receipt: receiptAnswer,
  Turn: tuple(turn, certificate),
  Outcomes: tuple(stateProof, header, certificate),
  Links: seq(link),
  Source: bytes,
  Order: seq(orderEntry),
  Root: id,
  Players: seq(playerEntry),
  Scripts: seq(scriptEntry),
  Genesis: bytes,
  Turns: seq(tuple(turn, certificate)),
  Snapshot: snapshotOffer,
  SnapshotPart: bytes,
  Servers: seq(signedEntrance),
  Governance: governance,
  Things: seq(thingEntry),
  Unknown: null,
  Busy: null,
  Leaves: seq(bytes),
  Join: choice({ Ok: contact, Err: joinRefusal }),
  Applicants: seq(applicant),
  Pruned: struct({ oldest: count }),
  GenesisPart: bytes,
  LoginTerms: choice({
    Free: null, Work: struct({ height: count, header: id, tries: u64 }), Ticket: null,
    Closed: null,
  }),
  TooLong: null,
  Tickets: seq(struct({ ticket: id, by: id, left: u32, lasts: count })),
});

/** Why a server ends a session. */
const goodbye = choice({
  Version: u16, BadFrame: null, BadSignature: null, NoHello: null, Full: null, TooSlow: null,
  OtherSession: null, Stopping: null,
});

/** Why an act is not taken. */
const submitRefusal = choice({
  OtherSim: id,
  TooLong: u32,
  Expired: struct({ last_valid: count, height: count }),
  TooFarAhead: struct({ last_valid: count, height: count }),
  Replayed: count,
  BadSignature: null,
  BadBlob: null,
  QuotaExceeded: null,
  TooManyLanes: null,
  Full: null,
  NeedsWork: null,
  NobodyNew: null,
  NeedsTicket: null,
  NeedsLogin: null,
  UnknownAct: u16,
});

const chatLine = struct({ height: count, channel: u8, speaker: count, name: text, text });

const moved = tuple(count, movement);
const tileUpdate = struct({
  tile, since: option(count), entries: seq(bytes), moved: seq(moved), gone: seq(count),
  more: bool,
});
const view = struct({
  number: u32, height: count, tick: count, me: option(count), tiles: seq(tileUpdate),
  left: seq(tile), near: seq(moved), far: seq(bytes), gestures: seq(tuple(count, emote)),
});
const viewProof = struct({
  of: count, header, certificate,
  leaves: seq(struct({ tile, prefix: bytes, place: u32, hash: id })),
  beside: seq(struct({ key: text, content: id, place: u32 })),
  places: struct({ count: u32, siblings: seq(id) }),
});

/** What a server says. */
export const serverMessage = choice({
  Challenge: challenge,
  Welcome: struct({ height: count, turns_per_second: u32 }),
  Goodbye: goodbye,
  Refused: struct({ act: id, why: submitRefusal }),
  Receipt: struct({ act: id, receipt }),
  Outcome: struct({ act: id, height: count, outcome }),
  Heard: chatLine,
  Answer: struct({ id: u32, answer }),
  Pong: struct({ token: u64 }),
  View: view,
  ViewProof: viewProof,
});

/**
 * Looks at the beginning of a frame: is it an answer, to which question, and of which kind?
 * @param {Uint8Array} frame of a server
 * @returns {{id: number, kind: string}|null}
 */
export function peekAnswer(frame) {
  if (serverMessage.names[frame[0]] !== 'Answer') return null;
  const reader = new Reader(frame.subarray(1));
  const [id, kind] = [reader.uint(32), answer.names[reader.uint(32)]];
  return kind === undefined ? null : { id, kind };
}

/** @param {any} message @returns {Uint8Array} */
export const encodeClient = (message) => encode(clientMessage, message);

/** @param {Uint8Array} frame @returns {any} */
export const decodeClient = (frame) => decode(clientMessage, frame, CLIENT_FRAME_BYTES_MAX);

/** @param {any} message @returns {Uint8Array} */
export const encodeServer = (message) => encode(serverMessage, message);

/** @param {Uint8Array} frame @returns {any} */
export const decodeServer = (frame) => decode(serverMessage, frame, SERVER_FRAME_BYTES_MAX);
