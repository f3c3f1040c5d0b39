/** What a script was made from, package after package, and what each of them changed. */

import { t, why } from '../strings.js';
import { button, el, fill, short } from './dom.js';
import { authorsOf } from './source.js';

/** Packages that are shown; a script may have more behind them. */
const VERSIONS_MAX = 16;

/** The source that runs. @param {any} source */
const entryOf = ({ manifest, files }) => files.find((/** @type {any} */ file) => file.path === manifest.entry)?.text ?? '';

/** What changed between two texts, line by line. @param {import('../prove/module.js').Module} module compares @param {string} before @param {string} after */
export function changes(module, before, after) {
  const rows = module.textChanges({ before, after }).map(({ sign, text }) => el('li', { 'data-sign': sign }, `${sign === '=' ? ' ' : sign} ${text}`));
  return el('ol', { class: 'diff', tabindex: '0' }, ...rows);
}

/**
 * @param {Page} page
 * @param {() => ScriptDraft} current the draft @param {() => void} back to it
 */
export function versionsOf(page, current, back) {
  const rows = el('ol', { class: 'stack' });
  const box = el('details', { class: 'card', on: { toggle: () => box.open && load() } }, el('summary', null, t('script.versions')), rows);

  async function load() {
    const draft = current();
    const found = /** @type {any[]} */ ([]);
    let next = /** @type {string | null} */ (draft.parent);
    let lost = '';
    fill(rows, el('li', { class: 'quiet' }, t(next ? 'loading' : 'script.noparent')));
    while (next && !lost && found.length < VERSIONS_MAX) {
      try {
        const source = await page.client.source(next);
        // What only claims to be an earlier version is none.
        if (!source.verified) throw new Error(t('script.unverified'));
        found.push(source);
        next = source.manifest.parent;
      } catch (error) {
        lost = why(error);
      }
    }
    if (draft !== current() || !draft.parent) return;
    fill(rows,
      found.length > 0 && row(el('b', null, t('script.version.own')), draft.files[draft.entry], found[0]),
      ...found.map((source, at) => row(title(source), entryOf(source), found[at + 1], source)),
      lost && el('li', null, short(next), el('p', { class: 'quiet' }, t('script.version.lost', { why: lost }))));
  }

  /** @param {any} source */
  function title({ manifest }) {
    return el('span', null, el('b', null, `${manifest.name} ${manifest.version}`), ` ${t('script.version.by', { authors: authorsOf(manifest) })}`);
  }

  /** @param {Node} head @param {string} text @param {any} before the package that it was made from @param {any} [source] */
  function row(head, text, before, source) {
    const shown = el('div');
    const show = () => {
      const fresh = !shown.firstChild;
      const list = fresh && changes(page.loaded.module, entryOf(before), text);
      fill(shown, list && (list.firstChild ? list : el('p', { class: 'quiet' }, t('script.version.same'))));
      compare.setAttribute('aria-expanded', String(fresh));
    };
    const compare = button({ text: t('script.version.changes'), class: 'small', 'aria-expanded': 'false', click: show });
    return el('li', { class: 'stack' }, head, el('p', { class: 'row' },
      source && button({ text: t('script.read'), class: 'small', click: () => page.dock.show('source', { source, back }) }), before && compare), shown);
  }
  return { element: box, again: () => box.open && load() };
}
