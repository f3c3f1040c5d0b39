// @ts-check
/** Archives in the ustar format. */

const BLOCK = 512;
const encoder = new TextEncoder();

/**
 * @param {{path: string, bytes: Uint8Array}[]} entries paths of at most 255 bytes
 * @returns {Uint8Array}
 */
export function tar(entries) {
  const padded = (/** @type {number} */ length) => Math.ceil(length / BLOCK) * BLOCK;
  const size = entries.reduce((sum, entry) => sum + BLOCK + padded(entry.bytes.length), 2 * BLOCK);
  const out = new Uint8Array(size);
  let at = 0;
  for (const { path, bytes } of entries) {
    writeHead(out.subarray(at, at + BLOCK), path, bytes.length);
    out.set(bytes, at + BLOCK);
    at += BLOCK + padded(bytes.length);
  }
  return out;
}

/** Names longer than 100 bytes are cut in two at a slash. @param {string} path */
function split(path) {
  if (encoder.encode(path).length <= 100) return ['', path];
  for (let at = path.length - 1; at > 0; at--) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    const fits = encoder.encode(prefix).length <= 155 && encoder.encode(name).length <= 100;
    if (path[at] === '/' && fits) return [prefix, name];
  }
  throw new RangeError(`${path} is too long for an archive`);
}

/** @param {Uint8Array} head 512 bytes @param {string} path @param {number} length */
function writeHead(head, path, length) {
  const [prefix, name] = split(path);
  const put = (/** @type {number} */ at, /** @type {string} */ text) =>
    head.set(encoder.encode(text), at);
  const octal = (/** @type {number} */ value, /** @type {number} */ digits) =>
    value.toString(8).padStart(digits, '0');
  put(0, name);
  put(100, `${octal(0o644, 7)}\0`);
  put(108, `${octal(0, 7)}\0`);
  put(116, `${octal(0, 7)}\0`);
  put(124, `${octal(length, 11)}\0`);
  put(136, `${octal(0, 11)}\0`);
  put(148, ' '.repeat(8));
  put(156, '0');
  put(257, 'ustar\0');
  put(263, '00');
  put(345, prefix);
  const sum = head.reduce((all, byte) => all + byte, 0);
  put(148, `${octal(sum, 6)}\0 `);
}
