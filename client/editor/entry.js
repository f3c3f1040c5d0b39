/** What the page's editor takes of CodeMirror: `npm ci && npm run make` makes the one file that the page loads. */

export { CompletionContext, acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, ifNotIn } from '@codemirror/autocomplete';
export { history, historyKeymap, indentWithTab, insertNewlineAndIndent, standardKeymap, toggleComment } from '@codemirror/commands';
export { HighlightStyle, StreamLanguage, bracketMatching, indentOnInput, indentService, indentUnit, syntaxHighlighting } from '@codemirror/language';
export { lintGutter, nextDiagnostic, setDiagnostics } from '@codemirror/lint';
export { search, searchKeymap } from '@codemirror/search';
export { EditorState } from '@codemirror/state';
export { EditorView, highlightSpecialChars, keymap, lineNumbers, tooltips } from '@codemirror/view';
export { highlightTree, tags } from '@lezer/highlight';
