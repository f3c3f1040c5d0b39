// @ts-check
/** What a sim says about itself in its genesis, as far as a client needs it. */
import { Reader } from '../wire/buffer.js';
import { genesisHead } from '../wire/state.js';
import { fromFx } from './acts.js';
import { digest } from './digest.js';

/** @typedef {{key: string, power: number}} Member a server that votes */

/**
 * @typedef {object} Genesis
 * @property {string} name
 * @property {number} engine
 * @property {number} ticksPerTurn
 * @property {{radius: number, speed: number, acceleration: number, reach: number,
 *   spawn: {x: number, y: number}}} avatar metres and seconds
 * @property {number} hearing metres
 * @property {string[]} admins the first ones
 * @property {Member[]} validators the first ones
 * @property {{id: string, bytes: Uint8Array}[]} packages that ship with the sim
 * @property {Uint8Array} bytes
 */

/**
 * Reads a genesis, which must be that of `sim`.
 * @param {Uint8Array} bytes
 * @param {string} sim
 * @returns {Genesis}
 */
export function readGenesis(bytes, sim) {
  if (digest('metatopia genesis v1', bytes) !== sim) throw new Error('other-sim');
  const head = genesisHead.read(new Reader(bytes));
  const { name, engine, parameters, admins } = head;
  const { avatar } = parameters;
  return {
    name,
    engine,
    ticksPerTurn: parameters.ticks_per_turn,
    avatar: {
      radius: fromFx(avatar.radius),
      speed: fromFx(avatar.speed),
      acceleration: fromFx(avatar.acceleration),
      reach: fromFx(avatar.reach),
      spawn: { x: fromFx(avatar.spawn.x), y: fromFx(avatar.spawn.y) },
    },
    hearing: fromFx(parameters.hearing),
    admins,
    validators: head.validators.map((/** @type {[string, any]} */ [key]) => ({ key, power: 1 })),
    packages: head.packages.map((/** @type {[string, Uint8Array]} */ [id, source]) => ({
      id,
      bytes: source,
    })),
    bytes,
  };
}
