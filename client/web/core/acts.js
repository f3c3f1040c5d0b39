// @ts-check
/** Acts as people mean them, in the words of the protocol, signed. */
import { fromHex, toHex } from '../wire/buffer.js';
import { encode, tuple } from '../wire/postcard.js';
import { challenge as challengeSchema } from '../wire/messages.js';
import { envelope as envelopeSchema, id } from '../wire/types.js';
import { blobId, digestBytes } from './digest.js';

const encoder = new TextEncoder();
const FX_ONE = 2 ** 32;
const TURN = 2 ** 32;

/** Metres or shares as the protocol's fixed-point bits. @param {number} value */
export const toFx = (value) => BigInt(Math.round(value * FX_ONE));
/** @param {bigint} bits */
export const fromFx = (bits) => Number(bits) / FX_ONE;
/** @param {number} x @param {number} y */
export const toVec = (x, y) => ({ x: toFx(x), y: toFx(y) });
/** Radians, counterclockwise. @param {number} radians */
export const toAngle = (radians) => {
  const turns = radians / (2 * Math.PI);
  return Math.round((turns - Math.floor(turns)) * TURN) % TURN;
};

/** @type {(name: string) => string} */
const capital = (name) => name[0].toUpperCase() + name.slice(1);

/** @param {{color?: number, shape?: string}} look */
export const toLook = ({ color = 0, shape = 'round' }) => ({ color, shape: capital(shape) });

/** @param {string} name @param {any} look @param {any} [pass] what a key shows that is new to the sim */
export const login = (name, look, pass = null) => ({
  Login: { name, look: toLook(look), bot: false, pass },
});
export const walk = (/** @type {number} */ x, /** @type {number} */ y) => ({
  Walk: { heading: toVec(x, y) },
});
export const touch = (/** @type {number} */ object) => ({ Touch: { object } });
export const push = (/** @type {number} */ object) => ({ Push: { object } });
export const emote = (/** @type {string} */ kind) => ({ Emote: capital(kind) });
export const setLook = (/** @type {any} */ look) => ({ SetLook: toLook(look) });

/**
 * Words, and the blob that carries them.
 * @param {string} words
 * @param {number} channel 0 nearby, 1 everywhere
 */
export function say(words, channel) {
  const blob = encoder.encode(words);
  return { act: { Say: { channel, body: blobId(blob) } }, blobs: [blob] };
}

/**
 * Signs an act.
 * @param {{public: string, sign: (message: Uint8Array) => Uint8Array}} identity
 * @param {{sim: string, lane: bigint, seq: number, lastValid: number, act: any}} parts
 * @returns {{id: string, signed: any}}
 */
export function signAct(identity, { sim, lane, seq, lastValid, act }) {
  const envelope = { sim, author: identity.public, lane, seq, last_valid: lastValid, act };
  const name = digestBytes('metatopia act v1', encode(envelopeSchema, envelope));
  const signature = toHex(identity.sign(name));
  return { id: toHex(name), signed: { envelope, signature } };
}

const helloParts = tuple(challengeSchema, id);

/**
 * The answer to a server's challenge.
 * @param {{public: string, sign: (message: Uint8Array) => Uint8Array}} identity
 * @param {any} challenge
 * @param {number} version
 */
export function hello(identity, challenge, version) {
  const message = digestBytes(
    'metatopia hello v1',
    encode(helloParts, [challenge, identity.public]),
  );
  return { Hello: { version, key: identity.public, signature: toHex(identity.sign(message)) } };
}

/** Is this key text? @param {string} text */
export const isKey = (text) => /^[0-9a-f]{64}$/.test(text) && fromHex(text).length === 32;
