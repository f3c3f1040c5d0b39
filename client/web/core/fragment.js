/**
 * The end of a link, behind its #. Browsers send it to no server, so a ticket's secret can stand
 * there. A link that is shared says there how far the sim was when it was shared.
 */

/** A checkpoint is a short line; whatever is longer is none. */
const CHECKPOINT_CHARS_MAX = 200;

/** @param {string} hash such as `#ticket=...&at=...` */
const parts = (hash) => new URLSearchParams(hash.replace(/^#/, ''));

/** Returns the secret of a ticket, in hexadecimal digits. @param {string} hash @returns {string|null} */
export function ticketOf(hash) {
  const secret = parts(hash).get('ticket') ?? '';
  return /^[0-9a-f]{64}$/.test(secret) ? secret : null;
}

/** Returns the checkpoint that a link carries. @param {string} hash @returns {string|null} */
export function checkpointOf(hash) {
  const text = parts(hash).get('at') ?? '';
  return text !== '' && text.length <= CHECKPOINT_CHARS_MAX ? text : null;
}

/** Returns the end of a link that carries this checkpoint. @param {string|null} checkpoint */
export function fragmentOf(checkpoint) {
  return checkpoint === null ? '' : `#${new URLSearchParams({ at: checkpoint })}`;
}

/** `x,y` in metres. @param {string | null} text */
export function placeOf(text) {
  const [x, y] = (text ?? '').split(',').map(Number);
  return text && Number.isFinite(x) && Number.isFinite(y) ? { x, y } : null;
}
