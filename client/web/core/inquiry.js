// @ts-check
/** Questions of people: who is here, what runs, who wrote it, and who decides. */
import { GENESIS_PART_BYTES } from '../wire/messages.js';
import { variant } from '../wire/postcard.js';
import { fromFx } from './acts.js';
import { ActError } from './pending.js';
import { archive, readPackage } from './packages.js';

/** A node that is busy is asked so often, this far apart. */
const TRIES = 8;
const BUSY_MS = 250;

/** An answer with fewer scripts is the last one. */
const SCRIPTS_PER_ANSWER = 1_024;

/** No genesis has more parts. */
const GENESIS_PARTS = 64;

/** Servers keep 4,096 set changes, and name 32 in an answer; the last answer is empty. */
const LINKS_ANSWERS_MAX = 129;

export class Inquiry {
  /**
   * @param {object} parts
   * @param {(question: any) => Promise<any>} parts.ask
   * @param {() => Promise<import('./genesis.js').Genesis>} parts.genesis
   * @param {() => {sim: string, height: number}} parts.world
   */
  constructor({ ask, genesis, world }) {
    this.askOnce = ask;
    this.genesis = genesis;
    this.world = world;
  }

  /**
   * The content of an answer of this kind.
   * @param {any} question
   * @returns {Promise<any>} rejects with the code 'Unknown', 'Pruned', 'Busy' or 'TooLong'
   */
  async ask(question) {
    const wanted = variant(question)[0];
    for (let tries = 1; ; tries += 1) {
      const [kind, content] = variant(await this.askOnce(question));
      if (kind === wanted) return content;
      if (kind !== 'Busy' || tries >= TRIES) throw new ActError(kind);
      await new Promise((resolve) => setTimeout(resolve, BUSY_MS));
    }
  }

  /** The encoded genesis, which comes in parts if it is long. */
  async genesisBytes() {
    const parts = [await this.ask('Genesis')];
    while (parts[parts.length - 1].length === GENESIS_PART_BYTES && parts.length < GENESIS_PARTS) {
      parts.push(await this.ask({ GenesisPart: { part: parts.length } }));
    }
    const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    parts.forEach((part, number) => bytes.set(part, number * GENESIS_PART_BYTES));
    return bytes;
  }

  players() {
    return this.ask('Players');
  }

  /** What runs, page after page. */
  async scripts() {
    const all = [];
    for (;;) {
      const after = all.length ? all[all.length - 1].script : 0;
      const page = await this.ask({ Scripts: { after } });
      all.push(...page);
      if (page.length < SCRIPTS_PER_ANSWER) return all;
    }
  }

  /** What somebody owns. @param {string} owner a key */
  async things(owner) {
    const things = await this.ask({ Things: { owner } });
    return things.map((/** @type {any} */ thing) => {
      const { x, y } = thing.position;
      const scripts = thing.scripts.map((/** @type {[number, string]} */ [script, name]) => ({
        script,
        package: name,
      }));
      return { ...thing, x: fromFx(x), y: fromFx(y), scripts };
    });
  }

  /** In which order a script got its events. @param {number} height @param {number} script */
  order(height, script) {
    return this.ask({ Order: { height, script } });
  }

  /** A package with its source, hashed again. @param {string} id */
  async source(id) {
    return readPackage(await this.ask({ Source: { package: id } }), id);
  }

  /** What ships with the sim. @returns {Promise<{id: string, name: string}[]>} */
  async packages() {
    const { packages } = await this.genesis();
    return packages.map(({ id, bytes }) => ({ id, name: readPackage(bytes, id).manifest.name }));
  }

  /** The source of all that runs here, and of what ships with the sim, as one archive. */
  async allSource() {
    const running = await this.scripts();
    const shipped = await this.packages();
    const names = [...running.map((/** @type {any} */ each) => each.package)];
    const ids = [...new Set([...names, ...shipped.map((each) => each.id)])].sort();
    const packages = [];
    for (const id of ids) {
      const bytes = await this.ask({ Source: { package: id } });
      packages.push({ bytes, source: readPackage(bytes, id) });
    }
    const list = packages.map(({ source: { id, manifest, verified } }) => ({
      id, name: manifest.name, verified,
    }));
    const tar = archive(packages, this.world());
    return { archive: new Blob([/** @type {any} */ (tar)], { type: 'application/x-tar' }), list };
  }

  /**
   * Who votes now, as the server says: the validators of the last change, or the first ones.
   * @returns {Promise<import('./genesis.js').Member[]>}
   */
  async validators() {
    let members = null;
    let after = 0;
    for (let answers = 0; answers < LINKS_ANSWERS_MAX; answers += 1) {
      const last = (await this.ask({ Links: { after } })).at(-1);
      // One that goes back would be asked for ever.
      if (last === undefined || last.header.height <= after) break;
      members = last.next.members;
      after = last.header.height;
    }
    return members ?? (await this.genesis()).validators;
  }
}
