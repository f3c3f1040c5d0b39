// @ts-check
/**
 * A server that lies: everything goes through to an honest one and back, but what is seen is changed
 * on the way, as its owner could change it. Speaks HTTP and WebSocket.
 */

import http from 'node:http';
import net from 'node:net';

import { readView, viewBytes } from './view.mjs';

const BINARY = 0x82;

/** @typedef {import('./view.mjs').View} View */
/** @typedef {(view: View) => View | null} Lie */

/** The bytes of one unmasked frame that holds a whole message. @param {Uint8Array} payload */
function framed(payload) {
  const { length } = payload;
  const head = length < 126 ? Buffer.from([BINARY, length]) : length < 65_536 ? Buffer.alloc(4) : Buffer.alloc(10);
  if (length >= 126) {
    head[0] = BINARY;
    head[1] = length < 65_536 ? 126 : 127;
    if (length < 65_536) head.writeUInt16BE(length, 2);
    else head.writeBigUInt64BE(BigInt(length), 2);
  }
  return Buffer.concat([head, payload]);
}

/** Cuts a stream of unmasked frames. Gives whole ones, and keeps the rest. */
class Frames {
  constructor() {
    this.rest = Buffer.alloc(0);
  }

  /** @param {Buffer} chunk @returns {{first: number, whole: Buffer, payload: Buffer}[]} */
  cut(chunk) {
    this.rest = Buffer.concat([this.rest, chunk]);
    const frames = [];
    for (;;) {
      const { rest } = this;
      if (rest.length < 2) return frames;
      const short = rest[1] & 0x7f;
      const from = short === 126 ? 4 : short === 127 ? 10 : 2;
      if (rest.length < from) return frames;
      const length = short === 126 ? rest.readUInt16BE(2) : short === 127 ? Number(rest.readBigUInt64BE(2)) : short;
      if (rest.length < from + length) return frames;
      const whole = rest.subarray(0, from + length);
      frames.push({ first: rest[0], whole, payload: whole.subarray(from) });
      this.rest = rest.subarray(from + length);
    }
  }
}

export class Liar {
  /**
   * @param {string} target the honest server
   * @param {Lie} lie changes what a server shows; nothing leaves it as it is
   */
  static async before(target, lie) {
    const liar = new Liar(new URL(target), lie);
    await new Promise((resolve) => liar.server.listen(0, '127.0.0.1', () => resolve(null)));
    const address = /** @type {net.AddressInfo} */ (liar.server.address());
    liar.url = `http://127.0.0.1:${address.port}/`;
    return liar;
  }

  /** @param {URL} target @param {Lie} lie */
  constructor(target, lie) {
    this.target = target;
    this.lie = lie;
    /** Off, it is as honest as what is behind it. */
    this.on = false;
    this.lies = 0;
    this.url = '';
    /** @type {Set<net.Socket>} */
    this.sockets = new Set();
    this.server = http.createServer((request, response) => this.pass(request, response));
    this.server.on('upgrade', (request, socket, head) => this.upgrade(request, /** @type {net.Socket} */ (socket), head));
  }

  /** @param {http.IncomingMessage} request @param {http.ServerResponse} response */
  pass(request, response) {
    const headers = { ...request.headers, host: this.target.host };
    if (headers.origin) headers.origin = this.target.origin;
    const onward = http.request(new URL(request.url ?? '/', this.target), { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  }

  /** @param {http.IncomingMessage} request @param {net.Socket} near @param {Buffer} head */
  upgrade(request, near, head) {
    const far = net.connect(Number(this.target.port), this.target.hostname);
    for (const socket of [near, far]) {
      this.sockets.add(socket);
      socket.on('close', () => {
        this.sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
      socket.on('error', () => socket.destroy());
    }
    // Without extensions frames are never compressed.
    const headers = { ...request.headers, host: this.target.host, origin: this.target.origin, 'sec-websocket-extensions': undefined };
    const lines = Object.entries(headers).filter(([, value]) => value !== undefined).map(([name, value]) => `${name}: ${value}`);
    far.write(`GET ${request.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    far.write(head);
    near.pipe(far);
    this.answer(near, far);
  }

  /** Hands on what the honest server says. @param {net.Socket} near @param {net.Socket} far */
  answer(near, far) {
    let before = Buffer.alloc(0);
    let open = false;
    const frames = new Frames();
    far.on('data', (chunk) => {
      let rest = chunk;
      if (!open) {
        before = Buffer.concat([before, chunk]);
        const end = before.indexOf('\r\n\r\n');
        if (end < 0) return;
        open = true;
        near.write(before.subarray(0, end + 4));
        rest = before.subarray(end + 4);
      }
      for (const frame of frames.cut(rest)) near.write(this.changed(frame));
    });
  }

  /** @param {{first: number, whole: Buffer, payload: Buffer}} frame */
  changed({ first, whole, payload }) {
    if (!this.on || first !== BINARY) return whole;
    const view = readView(payload);
    const lie = view && this.lie(view);
    if (!lie) return whole;
    this.lies += 1;
    return framed(viewBytes(lie));
  }

  async stop() {
    for (const socket of this.sockets) socket.destroy();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
