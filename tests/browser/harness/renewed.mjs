// @ts-check
/**
 * A server that gets other code for its page: everything goes through to a real one and back, and
 * from some moment on one file of the page is another one, under another digest. Speaks HTTP and
 * WebSocket.
 */

import { createHash } from 'node:crypto';
import http from 'node:http';
import net from 'node:net';

/** @param {string} text */
const sha256 = (text) => createHash('sha256').update(text).digest('hex');

export class Renewed {
  /** @param {string} target the real server */
  static async before(target) {
    const renewed = new Renewed(new URL(target));
    await new Promise((resolve) => renewed.server.listen(0, '127.0.0.1', () => resolve(null)));
    const address = /** @type {net.AddressInfo} */ (renewed.server.address());
    renewed.url = `http://127.0.0.1:${address.port}/`;
    return renewed;
  }

  /** @param {URL} target */
  constructor(target) {
    this.target = target;
    this.url = '';
    /** The digests of the real code and of the other one. */
    this.old = '';
    this.code = '';
    /** What is answered in place of the real server, by path. @type {Map<string, string>} */
    this.answers = new Map();
    /** Paths that were asked for. @type {string[]} */
    this.asked = [];
    /** @type {Set<net.Socket>} */
    this.sockets = new Set();
    this.server = http.createServer((request, response) => this.answer(request, response));
    this.server.on('connection', (socket) => this.hold(socket));
    this.server.on('upgrade', (request, socket, head) => this.upgrade(request, /** @type {net.Socket} */ (socket), head));
  }

  /** @param {net.Socket} socket */
  hold(socket) {
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  }

  /**
   * Has other code from now on.
   * @param {string} path of the file that changes @param {(text: string) => string} change
   * @param {string} version
   */
  async renew(path, change, version) {
    const text = async (/** @type {string} */ at) => (await fetch(new URL(at, this.target))).text();
    const facts = JSON.parse(await text('/api/page'));
    this.old = facts.code;
    const changed = change(await text(`/assets/${this.old}/${path}`));
    const lines = (await text(`/assets/${this.old}/files.txt`)).split('\n');
    const list = lines.map((line) => (line.endsWith(`  ${path}`) ? `${sha256(changed)}  ${path}` : line)).join('\n');
    this.code = sha256(list);
    const html = (await text('/')).replaceAll(this.old, this.code);
    this.answers = new Map([
      ['/', html], ['/api/page', JSON.stringify({ ...facts, code: this.code, version })],
      [`/assets/${this.code}/files.txt`, list], [`/assets/${this.code}/${path}`, changed],
    ]);
  }

  /** @param {http.IncomingMessage} request @param {http.ServerResponse} response */
  answer(request, response) {
    const { pathname } = new URL(request.url ?? '/', this.target);
    this.asked.push(pathname);
    const body = this.answers.get(pathname);
    if (body !== undefined) {
      const kind = pathname === '/' ? 'text/html' : pathname.endsWith('.js') ? 'text/javascript' : 'application/json';
      response.writeHead(200, { 'content-type': kind, 'cache-control': 'no-store' });
      response.end(body);
    } else if (this.code && pathname.startsWith(`/assets/${this.old}/`)) {
      response.writeHead(404);
      response.end();
    } else {
      this.pass(request, response, pathname.replace(`/assets/${this.code}/`, `/assets/${this.old}/`));
    }
  }

  /** @param {http.IncomingMessage} request @param {http.ServerResponse} response @param {string} path */
  pass(request, response, path) {
    const onward = http.request(new URL(path, this.target), { method: request.method, headers: this.headers(request) }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  }

  /** As the real server is called. @param {http.IncomingMessage} request */
  headers(request) {
    const { origin, ...headers } = request.headers;
    return { ...headers, host: this.target.host, ...(origin ? { origin: this.target.origin } : {}) };
  }

  /** @param {http.IncomingMessage} request @param {net.Socket} near @param {Buffer} head */
  upgrade(request, near, head) {
    const far = net.connect(Number(this.target.port), this.target.hostname);
    this.hold(far);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    const lines = Object.entries(this.headers(request)).map(([name, value]) => `${name}: ${value}`);
    far.write(`GET ${request.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    far.write(head);
    near.pipe(far);
    far.pipe(near);
  }

  async stop() {
    for (const socket of this.sockets) socket.destroy();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
