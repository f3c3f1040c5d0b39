// @ts-check
/** The nouns of the protocol: who, what, where, and what was agreed on. */
import { malformed } from './buffer.js';
import {
  bool, bytes, choice, count, fixed, i32, i64, numbered, option, seq, struct, text, tuple, u16, u32,
  u64, u8,
} from './postcard.js';

/** Servers that vote. */
export const VALIDATORS_MAX = 31;

/** A digest or a key: 64 hexadecimal digits. */
export const id = fixed(32);

/** @type {import('./postcard.js').Schema<string>} A signature: 128 hexadecimal digits. */
export const signature = {
  ...fixed(64),
  json: (value) => [id.json(value.slice(0, 64)), id.json(value.slice(64))],
};

/** A number with 32 fraction bits, as a BigInt of all its bits. */
export const fx = i64;
export const vec2 = struct({ x: fx, y: fx });
/** In units of 2^-32 turns. */
export const angle = u32;

const shape = choice({ Round: null, Square: null, Arrow: null, Star: null });
export const look = struct({ color: u32, shape });
export const emote = choice({ Wave: null, Nod: null, Dance: null, Bow: null, Laugh: null });

export const contact = struct({ peer_id: text, address: text });
export const setChange = choice({
  Add: struct({ key: id, contact }), Remove: struct({ key: id }),
  Reserve: struct({ key: id, contact }),
});

const voteKind = choice({ Prevote: null, Precommit: null });
const vote = struct({ kind: voteKind, height: count, round: u32, header: option(id), voter: id });
const proposal = struct({
  height: count, round: u32, header: id, valid_round: option(u32), proposer: id,
});
const signedVote = struct({ message: vote, signature });
const signedProposal = struct({ message: proposal, signature });
const evidence = choice({
  Votes: tuple(signedVote, signedVote),
  Proposals: tuple(signedProposal, signedProposal),
});

const outline = choice({
  Disc: struct({ radius: fx }),
  Box: struct({ half: vec2 }),
});
export const assetLicence = choice({ Cc0: null, CcBy: null, CcBySa: null, Reserved: null });
const blueprint = struct({
  kind: text, name: text, text, color: u32, outline, movable: bool, position: vec2, angle,
  licence: assetLicence,
});
export const build = choice({
  Place: blueprint,
  Move: struct({ object: count, position: vec2 }),
  Rotate: struct({ object: count, angle }),
  Resize: struct({ object: count, outline }),
  Recolor: struct({ object: count, color: u32 }),
  Rename: struct({ object: count, name: text }),
  Write: struct({ object: count, text }),
  Copy: struct({ object: count, position: vec2 }),
  Delete: struct({ object: count }),
  Give: struct({ object: count, to: id }),
  Attach: struct({ object: count, package: id }),
  Detach: struct({ object: count, script: count }),
  Undo: struct({ skip: u8 }),
});

const acts = {
  Login: struct({
    name: text, look, bot: bool, pass: option(choice({
      Work: struct({ height: count, nonce: u64 }), Ticket: struct({ ticket: id, signature }),
    })),
  }),
  Leave: null,
  Heartbeat: null,
  Walk: struct({ heading: vec2 }),
  Touch: struct({ object: count }),
  Push: struct({ object: count }),
  Say: struct({ channel: u8, body: id }),
  Emote: emote,
  SetLook: look,
  SetChange: setChange,
  Ready: struct({ height: count, proof: id }),
  Report: evidence,
  Build: build,
  Ticket: choice({
    Issue: struct({ ticket: id, uses: u32, days: u32 }), Withdraw: struct({ ticket: id }),
  }),
  Amend: struct({ name: text, value: text }),
};
/** The place of a name is the number of its act, for ever: new ones come behind the others. */
export const act = numbered(acts);

export const envelope = struct({
  sim: id, author: id, lane: u64, seq: count, last_valid: count, act,
});
export const signedEnvelope = struct({ envelope, signature });
export const submission = struct({ act: signedEnvelope, blobs: seq(bytes) });

/** Why an act that was decided is not done. */
const refusal = choice({
  NotLoggedIn: null, OtherSession: null, NotAdmin: null, BadText: null, NoObject: null,
  OutOfReach: null, Immovable: null, NoBlob: null, NoChannel: null, Full: null, OutOfRange: null,
  TooOften: null, BadSetChange: null, WrongProof: null, BadEvidence: null, Crashed: null,
  NotYours: null, Person: null, ClosedLand: null, Occupied: null, KeptClear: null, BadSize: null,
  TooManyObjects: null, TooManyScripts: null, TooMuchText: null, NoPlayer: null,
  NoRoomForGifts: null, NoPackage: null, NoScript: null, NotFree: null, NothingToUndo: null,
  GiftStays: null, NoSeat: null, ChangesWait: null, NoTicket: null,
  TooManyTickets: null, TooManyMovable: null, NotPermanent: null, NoParameter: null,
});
export const outcome = choice({ Ok: null, Refused: refusal, Made: count });

export const header = struct({
  sim: id, engine: u32, height: count, previous: id, proposer: id, round: u32, time: count,
  acts: id, act_count: u32, blobs: id, blob_count: u32, root: id, validators: id,
  next_validators: id, reserved: id,
});
export const certificate = struct({
  height: count, round: u32, header: id, signatures: seq(tuple(id, signature)),
});
export const turn = struct({
  header, body: struct({ acts: seq(signedEnvelope), blobs: seq(bytes) }),
});
export const validatorSet = struct({
  members: seq(struct({ key: id, power: u32 }), VALIDATORS_MAX), leaders: seq(u16),
});

/** Where a leaf is in a Merkle tree. */
export const place = struct({ index: u32, count: u32, path: seq(id) });
export const receipt = struct({ header, certificate, place });
export const stateProof = struct({ key: text, content: bytes, place });

const pair = tuple(i32, i32);
/** The parts of a movement, in the order of the bits of its first byte. */
const PARTS = /** @type {[string, import('./postcard.js').Schema<any>][]} */ ([
  ['position', pair], ['facing', pair], ['velocity', pair], ['spin', i32], ['slow_steps', u8],
]);

/** @param {any} value a movement @returns {number} the bits of the parts that it has */
const maskOf = (value) =>
  PARTS.reduce((mask, [name], bit) => mask | (value[name] === null ? 0 : 1 << bit), 0);

/**
 * What changed of how a body moves; what did not is null.
 * @type {import('./postcard.js').Schema<any>}
 */
export const movement = {
  read: (reader) => {
    const mask = reader.byte();
    if (mask >> PARTS.length !== 0) throw malformed('an unknown part');
    return Object.fromEntries(
      PARTS.map(([name, part], bit) => [name, (mask >> bit) & 1 ? part.read(reader) : null]),
    );
  },
  write: (writer, value) => {
    writer.byte(maskOf(value));
    for (const [name, part] of PARTS) if (value[name] !== null) part.write(writer, value[name]);
  },
  json: (value) => {
    const held = PARTS.filter(([name]) => value[name] !== null);
    return [maskOf(value), ...held.map(([name, part]) => part.json(value[name]))];
  },
};
