// @ts-check
/** A running plaza: real server processes on free ports of this machine, gone when the test is. */

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { until, within } from './wait.mjs';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The program: what a build for tests makes, unless another one is named. */
export const PROGRAM = process.env.METATOPIA ?? join(ROOT, 'target/debug/metatopia');

/** No plaza outlives a test that crashed by more than this. */
const LIFE = '20m';

/** Lines of each server's log that are shown when something fails. */
const LOG_LINES = 12;

/** @typedef {{index: number, pid: number, key: string, http: string}} Server */

export class Plaza {
  /**
   * Starts a plaza and waits until it is open.
   * @param {{servers?: number, host?: string, rule?: string, origin?: string, template?: string, grid?: string, place?: (text: string) => string}} [options]
   *   `host`: what pages call it; `rule`: what it asks of new keys; `origin`: whose pages it answers too;
   *   `template`: another place than the plaza; `place`: what is changed in its file; `grid`: a world of
   *   several sims instead, such as 2x1
   */
  static async start({ servers = 4, host, rule, origin, template, grid, place = (text) => text } = {}) {
    if (!existsSync(PROGRAM)) throw new Error(`there is no ${PROGRAM}; run \`cargo build\` first`);
    const plaza = new Plaza(await mkdtemp(join(tmpdir(), 'metatopia-browser-')));
    if (origin) await plaza.found(servers, origin);
    if (template) await plaza.write(template, place);
    plaza.process = spawn(
      PROGRAM,
      ['up', '--json', '--no-restart', '--servers', String(servers), '--http-port', '0', '--exit-after', LIFE, '--data-dir', join(plaza.folder, 'world'), ...(host ? ['--host', host] : []), ...(rule ? ['--first-login', rule] : []), ...(template ? ['--place', plaza.place] : []), ...(grid ? ['--grid', grid] : [])],
      { stdio: ['pipe', 'pipe', 'pipe'] },
    );
    plaza.process.stderr.on('data', (chunk) => (plaza.said += chunk));
    plaza.process.stdout.on('data', (chunk) => (plaza.out += chunk));
    plaza.ended = new Promise((resolve) => plaza.process.once('exit', resolve));
    try {
      const line = await until('the plaza opens', () => {
        if (plaza.process.exitCode !== null) throw new Error(`\`up\` ended: ${plaza.said}`);
        const end = plaza.out.indexOf('\n');
        return end > 0 && plaza.out.slice(0, end);
      });
      const ready = JSON.parse(line);
      // Of a world, its first sim is the plaza.
      plaza.sims = ready.sims ?? [];
      plaza.sim = ready.sim ?? plaza.sims[0].sim;
      plaza.servers = ready.servers ?? plaza.sims;
    } catch (error) {
      await plaza.stop();
      throw error;
    }
    return plaza;
  }

  /** @param {string} folder */
  constructor(folder) {
    this.folder = folder;
    this.sim = '';
    this.out = '';
    this.said = '';
    /** The sims of a grid. @type {{sim: string, http: string}[]} */
    this.sims = [];
    /** @type {Server[]} */
    this.servers = [];
    /** @type {import('node:child_process').ChildProcessWithoutNullStreams} */
    this.process = /** @type {any} */ (null);
    /** @type {Promise<unknown>} */
    this.ended = Promise.resolve();
  }

  /** Where the text of its place is, if it is of its own. */
  get place() {
    return join(this.folder, 'place');
  }

  /** Writes the place from a template. @param {string} template @param {(text: string) => string} change */
  async write(template, change) {
    await this.run('place', 'new', this.place, '--template', template);
    const path = join(this.place, 'place.toml');
    await writeFile(path, change(await readFile(path, 'utf8')));
  }

  /** Makes the world before it is started, with servers that answer pages of this origin too. @param {number} servers @param {string} origin */
  async found(servers, origin) {
    const world = join(this.folder, 'world');
    await this.run('up', '--servers', String(servers), '--http-port', '0', '--exit-after', '1ms', '--data-dir', world);
    for (let index = 0; index < servers; index += 1) {
      const path = join(world, `server-${index}`, 'metatopia.toml');
      await writeFile(path, `http_origins = ["${origin}"]\n${await readFile(path, 'utf8')}`);
    }
  }

  /** The page of a server. @param {number} index @param {Record<string, string>} [query] */
  address(index, query = {}) {
    const url = new URL(this.servers[index].http);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url.href;
  }

  /** A server as this machine reaches it, whatever pages call it. @param {number} index @param {string} path */
  here(index, path) {
    const url = new URL(path, this.servers[index].http);
    url.hostname = '127.0.0.1';
    return url;
  }

  /** What a server says of itself. @param {number} index */
  async status(index) {
    const answer = await fetch(this.here(index, '/api/status'));
    return answer.json();
  }

  /** Runs another command of the program, and gives its standard output. @param {string[]} args */
  async run(...args) {
    const child = spawn(PROGRAM, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, said] = ['', ''];
    child.stdout.on('data', (chunk) => (out += chunk));
    child.stderr.on('data', (chunk) => (said += chunk));
    const code = await within(`\`${args.join(' ')}\``, new Promise((resolve) => child.once('exit', resolve)));
    if (code !== 0) throw new Error(`\`${args.join(' ')}\` failed with ${code}: ${said}`);
    return out;
  }

  /** Ends one server as a loss of power would. @param {number} index */
  kill(index) {
    process.kill(this.servers[index].pid, 'SIGKILL');
  }

  /** The ends of the logs, for a test that failed. */
  async logs() {
    const ends = [this.said && `-- up\n${this.said}`];
    for (const { index } of this.servers) {
      const path = join(this.folder, 'world', `server-${index}`, 'node.log');
      const text = await readFile(path, 'utf8').catch(() => '(no log)');
      ends.push(`-- server ${index}\n${text.trimEnd().split('\n').slice(-LOG_LINES).join('\n')}`);
    }
    return ends.filter(Boolean).join('\n');
  }

  /** Stops all of it, and takes its folder away. */
  async stop() {
    if (this.process && this.process.exitCode === null && this.process.signalCode === null) {
      this.process.kill('SIGINT');
      try {
        await within('the plaza stops', this.ended, 15_000);
      } catch {
        // Its children notice the end of their standard input.
        this.process.kill('SIGKILL');
        await this.ended;
      }
    }
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
