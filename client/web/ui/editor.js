/**
 * An editor of sources: a field of text that lies over a coloured picture of the same text. Whoever
 * uses it knows only what `create` gives, so that another editor can take its place.
 */

import { t } from '../strings.js';
import { button, el, fill } from './dom.js';
import { sourceLines } from './highlight.js';

/** Spaces to the right, one level further in. */
const STEP = 4;

/** So many names are offered, and so many of an import. */
const [COMPLETIONS_MAX, IMPORTED_MAX] = [5, 16];

/** The language of what is edited, as the end of a name. */
const LANGUAGE = 'script.rhai';

/** A place is wrong. @typedef {{line: number, column: number, message: string}} Mistake */

/** `put` takes the place of `from` to `to`; then `start` to `end` is selected. @typedef {{from: number, to: number, put: string, start: number, end: number}} Edit */

/** The first place of the line that a place is in. @param {string} text @param {number} at */
const lineStart = (text, at) => text.slice(0, at).lastIndexOf('\n') + 1;

/** @param {number} from @param {number} to @param {string} put @returns {Edit} with the caret behind it */
const typed = (from, to, put) => ({ from, to, put, start: from + put.length, end: from + put.length });

/** Moves whole lines in or out. @param {string} text @param {number} start @param {number} end @param {boolean} out @returns {Edit} */
function shifted(text, start, end, out) {
  const from = lineStart(text, start);
  // A selection that ends before the first letter of a line leaves that line alone.
  const last = end > start && text[end - 1] === '\n' ? end - 1 : end;
  const rest = text.indexOf('\n', last);
  const to = rest < 0 ? text.length : rest;
  const lines = text.slice(from, to).split('\n');
  const moved = lines.map((line) => (out ? line.replace(/^( {1,4}|\t)/, '') : line && ' '.repeat(STEP) + line));
  const put = moved.join('\n');
  const first = Math.max(from, start + moved[0].length - lines[0].length);
  return { from, to, put, start: first, end: Math.max(first, end + put.length - (to - from)) };
}

/**
 * What a key does to a text; nothing where the browser knows better.
 * @param {string} text @param {number} start @param {number} end of what is selected
 * @param {string} key `Tab`, `Shift+Tab`, `Enter` or `}` @returns {Edit | null}
 */
export function edited(text, start, end, key) {
  const before = text.slice(lineStart(text, start), start);
  if (key === 'Shift+Tab') return shifted(text, start, end, true);
  if (key === 'Tab') {
    if (text.slice(start, end).includes('\n')) return shifted(text, start, end, false);
    return typed(start, end, ' '.repeat(STEP - (before.length % STEP)));
  }
  const indent = /^\s*/.exec(before)?.[0] ?? '';
  if (key === 'Enter') return typed(start, end, `\n${indent}${/[{[(]\s*$/.test(before) ? ' '.repeat(STEP) : ''}`);
  // A brace that closes stands below the line that opened it.
  if (key === '}' && indent === before) return typed(start - Math.min(STEP, /( *)$/.exec(before)?.[1].length ?? 0), end, '}');
  return null;
}

/**
 * What the name that ends at a place may become.
 * @param {string} text @param {number} at @param {string[]} names @returns {{from: number, names: string[]}}
 */
export function completions(text, at, names) {
  const begun = /[A-Za-z_](?:\w|::)*$/.exec(text.slice(0, at))?.[0] ?? '';
  const fit = begun.length < 2 ? [] : names.filter((name) => name.startsWith(begun) && name !== begun);
  return { from: at - begun.length, names: fit.slice(0, begun.includes('::') ? IMPORTED_MAX : COMPLETIONS_MAX) };
}

/** Where a line and column are in a text. @param {string} text @param {number} line @param {number} column both from 1; 0 is the first */
export function placeOf(text, line, column) {
  const lines = text.split('\n').slice(0, Math.max(1, line));
  const last = lines.pop() ?? '';
  const before = lines.reduce((sum, each) => sum + each.length + 1, 0);
  // The compiler counts characters, and strings of this language count halves of some.
  return before + [...last].slice(0, Math.max(0, column - 1)).join('').length;
}

/**
 * Makes an editor in an element.
 * @param {HTMLElement} element
 * @param {{value: string, onChange: (value: string) => void, names?: () => string[]}} begin `onChange` is told of what a
 * person types; `names` are offered to whoever has begun one
 * @returns {{value: string, setMistakes: (mistakes: Mistake[]) => void, goTo: (line: number, column: number) => void}}
 * `value` can be read and set
 */
export function create(element, { value, onChange, names = () => [] }) {
  const colours = el('div', { 'aria-hidden': 'true' });
  const area = el('textarea', {
    value, 'aria-label': t('editor'), 'aria-describedby': 'editor-keys', wrap: 'off', spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', autocorrect: 'off',
    on: { input: changed, keydown: press },
  });
  const offers = el('div', { class: 'row', role: 'group', 'aria-label': t('editor.offers') });
  // Whoever leaves the field by Escape goes on from here.
  const outside = el('span', { class: 'hidden', tabindex: '-1' }, t('editor.left'));
  let mistakes = /** @type {Mistake[]} */ ([]);
  let painted = '';

  function paint() {
    painted = area.value;
    // The last line is drawn even if it is empty: the caret may stand in it.
    fill(colours, sourceLines(`${painted}\u200B`, LANGUAGE));
    mark();
    area.scrollTop = area.scrollLeft = 0;
  }

  function mark() {
    const lines = colours.firstChild.children;
    for (const line of lines) line.classList.remove('mistake');
    for (const { line } of mistakes) lines[line - 1]?.classList.add('mistake');
    area.setAttribute('aria-invalid', String(mistakes.length > 0));
  }

  function changed() {
    if (area.value === painted) return;
    paint();
    offer();
    onChange(painted);
  }

  /** Offers the names that the one before the caret may become; the field keeps the focus when one is taken. */
  function offer() {
    const at = area.selectionStart;
    const { from, names: fit } = completions(area.value, at, names());
    fill(offers, ...fit.map((name) => button({ class: 'small', text: name, tabindex: '-1', click: () => apply(typed(from, at, name)) })));
  }

  /** @param {Edit} edit */
  function apply({ from, to, put, start, end }) {
    area.focus({ preventScroll: true });
    if (put !== area.value.slice(from, to)) {
      area.setSelectionRange(from, to);
      // What is typed so can be taken back by Ctrl+Z; the other way is for browsers that cannot.
      if (!document.execCommand(put ? 'insertText' : 'delete', false, put)) area.setRangeText(put);
    }
    area.setSelectionRange(start, end);
    changed();
  }

  function press(/** @type {KeyboardEvent} */ event) {
    if (event.ctrlKey && event.code === 'Space') {
      event.preventDefault();
      offers.firstChild?.click();
    }
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') {
      event.stopPropagation();
      outside.focus();
      return;
    }
    const key = event.key === 'Tab' && event.shiftKey ? 'Shift+Tab' : event.key;
    const edit = edited(area.value, area.selectionStart, area.selectionEnd, key);
    if (!edit) return;
    event.preventDefault();
    apply(edit);
  }

  fill(element, el('div', { class: 'editor-text' }, colours, area), offers, el('p', { id: 'editor-keys', class: 'quiet' }, t('editor.keys')), outside);
  paint();
  return {
    get value() {
      return area.value;
    },
    set value(text) {
      area.value = text;
      paint();
    },
    setMistakes(found) {
      mistakes = found;
      mark();
    },
    goTo(line, column) {
      const at = placeOf(area.value, line, column);
      area.focus({ preventScroll: true });
      area.setSelectionRange(at, at);
      colours.firstChild.children[Math.max(0, line - 1)]?.scrollIntoView({ block: 'center', inline: 'nearest' });
    },
  };
}
