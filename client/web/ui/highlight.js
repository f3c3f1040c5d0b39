/** Colours for sources: comments, texts, numbers, words of the language, names of calls. */

import { el } from './dom.js';

const WORDS = new Set(['fn', 'let', 'const', 'if', 'else', 'for', 'in', 'while', 'loop', 'break', 'continue', 'return', 'true', 'false', 'import', 'export', 'as', 'switch', 'do', 'until', 'private', 'this', 'throw', 'try', 'catch']);
/** What scripts get from the world, as far as the page knows it by itself. */
const HOST = new Set(['self_', 'state', 'say', 'timer', 'vec2', 'now', 'direction', 'send', 'on_start', 'on_touch', 'on_timer', 'on_chat', 'on_event', 'on_upgrade']);

/** Learns what else they get. @param {string[]} names */
export function learn(names) {
  for (const name of names) HOST.add(name);
}

/** The pieces of a script, by groups: comments, texts, numbers, words, and the rest. */
export const RHAI = /(\/\/[^\n]*|\/\*[\s\S]*?\*\/)|("(?:\\.|[^"\\])*"|\x60(?:\\.|[^\x60\\])*\x60|'(?:\\.|[^'\\])*')|(\b0x[0-9a-fA-F_]+|\b\d[\d_]*(?:\.\d+)?)|([A-Za-z_]\w*)|(\s+)|([^\s\w])/g;
const TOML = /(#[^\n]*)|("(?:\\.|[^"\\])*")|(\b\d[\d_.]*\b|\btrue\b|\bfalse\b)|([A-Za-z_][\w-]*)|(\s+)|([^\s\w])/g;

/** The class of a piece that was found, '' for plain ones. @param {RegExpMatchArray} match @param {string} rest what follows it @param {boolean} [toml] */
export function kindOf([piece, ...groups], rest, toml = false) {
  const kind = ['comment', 'text', 'number', 'word'][groups.findIndex((group) => group !== undefined)] ?? '';
  if (kind !== 'word') return kind;
  if (toml) return /^\s*=/.test(rest) ? 'name' : '';
  if (WORDS.has(piece)) return 'word';
  if (HOST.has(piece)) return 'host';
  return rest.startsWith('(') ? 'name' : '';
}

/**
 * Pieces of a source with their class. Their texts joined are the source.
 * @param {string} text @param {string} path tells the language by its ending
 * @returns {{kind: string, text: string}[]}
 */
export function tokens(text, path) {
  const toml = path.endsWith('.toml');
  const pieces = /** @type {{kind: string, text: string}[]} */ ([]);
  const put = (/** @type {string} */ kind, /** @type {string} */ piece) => {
    const last = pieces.at(-1);
    if (last && last.kind === kind) last.text += piece;
    else pieces.push({ kind, text: piece });
  };
  let at = 0;
  for (const match of text.matchAll(toml ? TOML : RHAI)) {
    if (match.index > at) put('', text.slice(at, match.index));
    at = match.index + match[0].length;
    put(kindOf(match, text.slice(at, at + 8), toml), match[0]);
  }
  if (at < text.length) put('', text.slice(at));
  return pieces;
}

/** A source as lines of coloured text. @param {string} text @param {string} path */
export function sourceLines(text, path) {
  const list = el('ol', { class: 'code' });
  let line = el('li');
  const close = () => {
    if (!line.firstChild) line.append('\u200B');
    list.append(line);
    line = el('li');
  };
  for (const { kind, text: piece } of tokens(text, path)) {
    piece.split('\n').forEach((part, i) => {
      if (i > 0) close();
      if (part) line.append(kind ? el('span', { class: `code-${kind}` }, part) : part);
    });
  }
  if (line.firstChild) list.append(line);
  return list;
}
