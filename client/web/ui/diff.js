// @ts-check
/** What changed between two texts, line by line. */

import { el } from './dom.js';

/** So many pairs of lines are compared; above that all of the first goes and all of the second comes. */
const PAIRS_MAX = 4_000_000;

/** Lines that are shown around what changed. */
const AROUND = 2;

/** A line of both texts, of the first alone, or of the second alone. @typedef {{sign: '=' | '-' | '+', text: string}} Line */

/** @param {string} before @param {string} after @returns {Line[]} */
export function differences(before, after) {
  const [a, b] = [before.split('\n'), after.split('\n')];
  let head = 0;
  while (head < Math.min(a.length, b.length) && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(a.length, b.length) - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const same = (/** @type {string[]} */ lines) => lines.map((text) => /** @type {Line} */ ({ sign: '=', text }));
  const between = middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
  return [...same(a.slice(0, head)), ...between, ...same(a.slice(a.length - tail))];
}

/** The longest lines in common, by a table from the end. @param {string[]} a @param {string[]} b @returns {Line[]} */
function middle(a, b) {
  const width = b.length + 1;
  const fits = (a.length + 1) * width <= PAIRS_MAX;
  const common = new Uint16Array(fits ? (a.length + 1) * width : 0);
  for (let i = a.length - 1; fits && i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const [skip, take] = [Math.max(common[(i + 1) * width + j], common[i * width + j + 1]), common[(i + 1) * width + j + 1] + 1];
      common[i * width + j] = a[i] === b[j] ? take : skip;
    }
  }
  /** @type {Line[]} */
  const lines = [];
  for (let [i, j] = [0, 0]; i < a.length || j < b.length; ) {
    if (fits && i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ sign: '=', text: a[i] });
      [i, j] = [i + 1, j + 1];
    } else if (i < a.length && (j === b.length || !fits || common[(i + 1) * width + j] >= common[i * width + j + 1])) lines.push({ sign: '-', text: a[i++] });
    else lines.push({ sign: '+', text: b[j++] });
  }
  return lines;
}

/** The same as a list to read, without what is far from any change. @param {string} before @param {string} after */
export function changes(before, after) {
  const lines = differences(before, after);
  const near = (/** @type {number} */ at) => lines.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(({ sign }) => sign !== '=');
  const rows = lines.map(({ sign, text }, at) => near(at) && el('li', { 'data-sign': sign }, `${sign === '=' ? ' ' : sign} ${text}`));
  return el('ol', { class: 'diff', tabindex: '0' }, ...rows);
}
