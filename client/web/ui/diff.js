/** What changed between two texts, line by line. */

import { el } from './dom.js';

/** @param {import('../prove/module.js').Module} module compares @param {string} before @param {string} after */
export function changes(module, before, after) {
  const rows = module.textChanges({ before, after }).map(({ sign, text }) => el('li', { 'data-sign': sign }, `${sign === '=' ? ' ' : sign} ${text}`));
  return el('ol', { class: 'diff', tabindex: '0' }, ...rows);
}
