/**
 * The editor of scripts: CodeMirror, with what it does not know of the language and of this page. Whoever uses it knows
 * only what `create` gives, so that another editor can take its place.
 */

import { t } from '../strings.js';
import * as cm from '../vendor/codemirror/index.js';
import { el, fill } from './dom.js';
/** How it looks, in the colours of the page. */
import LOOK from './editor.json' with { type: 'json' };
import { kindOf, RHAI } from './highlight.js';

/** Spaces to the right, one level further in. */
const STEP = 4;

const PIECE = new RegExp(RHAI, 'y');

/** What CodeMirror calls the classes of pieces. */
export const KINDS = { comment: cm.tags.comment, text: cm.tags.string, number: cm.tags.number, word: cm.tags.keyword, host: cm.tags.atom, name: cm.tags.name };

/** What may end in another line than it begins in: its class and its end. @type {Record<string, [string, RegExp]>} */
const SPANS = { '/*': ['comment', /^.*?\*\//], '\x60': ['text', /^(?:\\.|[^\x60\\])*\x60/] };

/** The language, line by line. */
export const language = cm.StreamLanguage.define({
  startState: () => ({ open: '' }),
  token(/** @type {any} */ stream, /** @type {{open: string}} */ state) {
    state.open ||= stream.match(/^(?:\/\*|\x60)/)?.[0] ?? '';
    if (state.open) {
      const [kind, end] = SPANS[state.open];
      if (stream.match(end)) state.open = '';
      else stream.skipToEnd();
      return kind;
    }
    PIECE.lastIndex = stream.pos;
    const match = PIECE.exec(stream.string);
    stream.pos += match?.[0].length ?? 1;
    return match && kindOf(match, stream.string.slice(stream.pos));
  },
  tokenTable: KINDS,
  languageData: { commentTokens: { line: '//' }, closeBrackets: { brackets: ['(', '[', '{', '"', '\x60'] }, indentOnInput: /^\s*[)\]}]$/ },
});

/** How far in a line begins: as the one before it, one step further behind what opens, and one step less where something closes. */
const indents = cm.indentService.of((/** @type {any} */ context, /** @type {number} */ at) => {
  const { doc } = context.state;
  let { number, text, from } = doc.lineAt(at);
  const breaks = context.simulatedBreak === at;
  if (breaks) text = text.slice(0, at - from);
  // Nobody else asks but a bracket that closes.
  else do text = number > 1 ? doc.line((number -= 1)).text : '{'; while (!text.trim());
  const column = context.countColumn(text, text.search(/\S|$/)) + (/[{[(]\s*$/.test(text) ? STEP : 0);
  return breaks ? column : Math.max(0, column - STEP);
});

/** Everything that does not depend on who uses it. */
export const basics = [
  language, cm.syntaxHighlighting(cm.HighlightStyle.define(Object.entries(KINDS).map(([kind, tag]) => ({ tag, class: `code-${kind}` })))),
  indents, cm.indentUnit.of(' '.repeat(STEP)), cm.EditorState.tabSize.of(STEP), cm.EditorState.lineSeparator.of('\n'),
  cm.history(), cm.indentOnInput(), cm.closeBrackets(), cm.bracketMatching(),
];

/**
 * What the name before the caret may become: behind a dot what things have and do, and elsewhere all else.
 * @param {() => ScriptName[]} names
 */
export const completions = (names) => cm.ifNotIn(['comment', 'text'], (/** @type {any} */ context) => {
  const { from, text } = context.matchBefore(/(?:(?<![\d.])\.)?(?:[A-Za-z_](?:\w|::)*)?/);
  const dotted = text.startsWith('.');
  if (!context.explicit && !dotted && text.length < 2) return null;
  const all = /** @type {Map<string, any>} */ (new Map());
  const told = (/** @type {ScriptName} */ { form, doc }) => el('p', null, el('code', null, form), doc && ` ${doc}`);
  for (const entry of names()) {
    const { name, form = '' } = entry;
    const [has, waits] = [form.includes(`.${name}:`), form.startsWith('fn ')];
    if (dotted ? waits : has) continue;
    const option = all.get(name) ?? { label: name, boost: dotted && has ? 1 : 0, of: [], info: form ? () => el('div', null, ...option.of.map(told)) : null };
    // A handler stands with what it is given.
    if (waits) option.apply = form.slice(3);
    option.of.push(entry);
    all.set(name, option);
  }
  return { from: from + Number(dotted), options: [...all.values()], validFor: /^(?:\w|::)*$/ };
});

/** Where a line and column are in a text. @param {any} doc @param {number} line @param {number} column both from 1; 0 is the first */
export function placeOf(doc, line, column) {
  const { from, text } = doc.line(Math.min(Math.max(line, 1), doc.lines));
  // The compiler counts characters, and strings of this language count halves of some.
  return from + [...text].slice(0, Math.max(0, column - 1)).join('').length;
}

/** What is underlined: the word at each mistake that is in a line. @param {any} doc @param {Mistake[]} mistakes */
export function marks(doc, mistakes) {
  return mistakes.filter(({ line }) => line > 0 && line <= doc.lines).map(({ line, column, message }) => {
    const from = placeOf(doc, line, column);
    const [word] = /^(?:\w+|.)?/u.exec(doc.sliceString(from, doc.line(line).to)) ?? [''];
    return { from, to: from + word.length, severity: 'error', message };
  });
}

/** Puts what is told of a name beside the list, or where that is too narrow below or above it, and never over it. @param {any} _ @param {DOMRect} list @param {DOMRect} name @param {DOMRect} told @param {DOMRect} space */
function positionInfo(_, list, name, told, space) {
  if (list.right + told.width <= space.right) return { style: `left: ${list.width}px; top: ${name.top - list.top}px` };
  return { style: `left: 0; max-width: ${space.right - list.left}px; top: ${list.bottom + told.height > space.bottom ? -told.height : list.height}px` };
}

/**
 * Makes an editor in an element.
 * @param {HTMLElement} element
 * @param {{value: string, onChange: (value: string) => void, names?: () => ScriptName[]}} begin `onChange` is told of what a
 * person types; `names` are offered to whoever has begun one
 * @returns {{value: string, setMistakes: (mistakes: Mistake[]) => void, goTo: (line: number, column: number) => void}}
 * `value` can be read and set
 */
export function create(element, { value, onChange, names = () => [] }) {
  const hold = el('div', { class: 'editor-text' });
  // Whoever leaves the field by Escape goes on from here.
  const outside = el('span', { class: 'hidden', tabindex: '-1' }, t('editor.left'));
  let wrong = false;
  const about = () => ({ 'aria-label': t('editor'), 'aria-description': t('editor.keys'), 'aria-invalid': String(wrong) });
  const extensions = [
    ...basics, cm.highlightSpecialChars(), cm.lineNumbers(), cm.lintGutter(), cm.search({ top: true }), cm.EditorView.theme(LOOK), cm.EditorView.contentAttributes.of(about),
    // What is told stays where no button of the page lies over it.
    cm.tooltips({ tooltipSpace: () => (element.closest('.panel') ?? document.documentElement).getBoundingClientRect() }),
    cm.autocompletion({ override: [completions(names)], icons: false, positionInfo }),
    cm.keymap.of([
      { key: 'Tab', run: cm.acceptCompletion }, ...cm.completionKeymap, ...cm.closeBracketsKeymap, ...cm.searchKeymap, ...cm.historyKeymap,
      { key: 'Mod-/', run: cm.toggleComment }, { key: 'F8', run: cm.nextDiagnostic }, cm.indentWithTab, ...cm.standardKeymap, { key: 'Escape', run: () => outside.focus() ?? true },
    ]),
    cm.EditorView.updateListener.of((/** @type {any} */ { docChanged, state }) => docChanged && onChange(state.sliceDoc())),
  ];
  const begun = (/** @type {string} */ doc) => cm.EditorState.create({ doc, extensions });
  // The page allows no styles in its text: in a root of its own the editor adds them as sheets.
  const root = hold.attachShadow({ mode: 'open' });
  const view = new cm.EditorView({ state: begun(value), parent: root, root });
  // What is typed here is nothing for the keys of the page.
  hold.addEventListener('keydown', (/** @type {Event} */ event) => event.stopPropagation());
  fill(element, hold, el('p', { class: 'quiet editor-keys' }, t('editor.keys')), outside);
  return {
    get value() {
      return view.state.sliceDoc();
    },
    set value(text) {
      view.setState(begun(text));
    },
    setMistakes(found) {
      wrong = found.length > 0;
      view.dispatch(cm.setDiagnostics(view.state, marks(view.state.doc, found)));
    },
    goTo(line, column) {
      const at = placeOf(view.state.doc, line, column);
      view.dispatch({ selection: { anchor: at }, effects: cm.EditorView.scrollIntoView(at, { y: 'center' }) });
      view.focus();
    },
  };
}
