/**
 * The ways to a node: WebTransport where the browser has it and the page may use it, and WebSocket
 * everywhere. Both bring whole frames, in order.
 */
import { Unframer, enframe } from './framing.js';
import { fromHex } from './bytes.js';

/** Largest frame of a server, as the protocol has it: a whole turn, asked for by height. */
const SERVER_FRAME_BYTES_MAX = 448 * 1024 + 4096 + 64 * 1024;

/** No answer is longer: neither a genesis nor a map. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

/** WebTransport must be through within this time, or WebSocket is taken. */
const RACE_MS = 1_500;
/** Nothing waits longer for a connection. */
const CONNECT_MS = 5_000;
/** A genesis may be long, and the line slow. */
const GENESIS_MS = 30_000;

/**
 * Gives up after a time.
 * @template T
 * @param {Promise<T>} work @param {number} ms @returns {Promise<T>}
 */
function within(work, ms) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('no-answer')), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Asks a node over HTTP. A body that goes on for ever ends. @param {string} origin @param {string} path @param {number} [ms] it has to answer */
export async function askHttp(origin, path, ms = CONNECT_MS) {
  const answer = await fetch(new URL(path, origin), { signal: AbortSignal.timeout(ms), credentials: 'omit' });
  if (!answer.ok) throw new Error(`http-${answer.status}`);
  let left = ANSWER_BYTES_MAX;
  /** @type {(piece: Uint8Array, out: TransformStreamDefaultController) => void} */
  const transform = (piece, out) => ((left -= piece.byteLength) < 0 ? out.error(new Error('too-long')) : out.enqueue(piece));
  return answer.body ? new Response(answer.body.pipeThrough(new TransformStream({ transform })), answer) : answer;
}

/**
 * Asks a node what a client of a sim needs to connect.
 * @param {string} origin @param {string|null} sim the node's first one if none is named
 * @returns {Promise<Offer>} rejects with 'other-world' where the sim is not hosted
 */
export async function askSession(origin, sim) {
  const first = await (await askHttp(origin, '/api/session')).json();
  if (sim === null || first.sim === sim) return first;
  // A question that names a sim which is not there would be an error in the browser's console.
  const { sims } = await (await askHttp(origin, '/api/sims')).json();
  if (!sims.some((/** @type {{sim: string}} */ each) => each.sim === sim)) throw new Error('other-world');
  return (await askHttp(origin, `/api/session?sim=${sim}`)).json();
}

/**
 * Fetches the genesis of a sim. Its digest is the sim's id, so it does not matter which node gives it.
 * @param {string} origin @param {string} sim @returns {Promise<Uint8Array>}
 */
export async function askGenesis(origin, sim) {
  return new Uint8Array(await (await askHttp(origin, `/api/genesis?sim=${sim}`, GENESIS_MS)).arrayBuffer());
}

/**
 * Opens the best carrier that works.
 * @param {string} origin the node's, such as `http://127.0.0.1:8080` @param {Offer} offer
 * @param {Ears} ears @param {'webtransport'|'websocket'} [prefer] the only one to try
 * @returns {Promise<Carrier>}
 */
export async function connect(origin, offer, ears, prefer) {
  const possible = globalThis.isSecureContext && typeof globalThis.WebTransport === 'function';
  if (possible && offer.wt && prefer !== 'websocket') {
    try {
      return await webTransport(offer, ears);
    } catch (error) {
      if (prefer === 'webtransport') throw error;
    }
  }
  return webSocket(origin, offer, ears);
}

/** @param {Offer} offer @param {Ears} ears @returns {Promise<Carrier>} */
async function webTransport(offer, ears) {
  const hashes = (offer.certificates ?? []).map((hash) => ({ algorithm: 'sha-256', value: fromHex(hash) }));
  const options = /** @type {any} */ ({
    protocols: ['metatopia/1'],
    // A certificate of an authority is believed as that of a page; it may last too long to be named.
    ...(offer.authority ? {} : { serverCertificateHashes: hashes }),
    congestionControl: 'low-latency',
  });
  const transport = new WebTransport(/** @type {string} */ (offer.wt), options);
  transport.closed.catch(() => {});
  try {
    // The server opens the one stream there is.
    const { value: stream } = await within(
      transport.ready.then(() => transport.incomingBidirectionalStreams.getReader().read()),
      RACE_MS,
    );
    if (!stream) throw new Error('no-stream');
    return overStream(transport, stream, ears);
  } catch (error) {
    transport.close();
    throw error;
  }
}

/** @param {WebTransport} transport @param {any} stream @param {Ears} ears @returns {Carrier} */
function overStream(transport, stream, ears) {
  const writer = stream.writable.getWriter();
  const end = (/** @type {string} */ why) => {
    ears.closed(why);
    transport.close();
  };
  const read = async () => {
    const reader = stream.readable.getReader();
    const unframer = new Unframer(SERVER_FRAME_BYTES_MAX);
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      for (const frame of unframer.take(value)) if (frame.length > 0) ears.frame(frame);
    }
  };
  read().then(() => end('ended'), () => end('lost'));
  transport.closed.then(() => end('ended'), () => end('lost'));
  return {
    kind: 'webtransport',
    send: (frame) => void writer.write(enframe(frame)).catch(() => end('lost')),
    close: () => end('left'),
  };
}

/** @param {string} origin @param {Offer} offer @param {Ears} ears @returns {Promise<Carrier>} */
async function webSocket(origin, offer, ears) {
  const url = new URL(offer.ws ?? '/ws', origin);
  url.protocol = url.protocol === 'https:' || url.protocol === 'wss:' ? 'wss:' : 'ws:';
  const socket = new WebSocket(url, ['metatopia.1']);
  socket.binaryType = 'arraybuffer';
  const opening = new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error('no-answer'));
    socket.onclose = () => reject(new Error('refused'));
    socket.onmessage = (event) => ears.frame(new Uint8Array(event.data));
  });
  try {
    await within(opening, CONNECT_MS);
  } catch (error) {
    socket.onclose = null;
    socket.close();
    throw error;
  }
  socket.onerror = () => ears.closed('lost');
  socket.onclose = ({ code }) => ears.closed(code >= 4000 ? `closed-${code - 4000}` : 'lost');
  return {
    kind: 'websocket',
    send: (frame) => socket.readyState === WebSocket.OPEN && socket.send(frame),
    close: () => {
      ears.closed('left');
      socket.close(1000);
    },
  };
}
