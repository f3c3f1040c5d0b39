/**
 * Scripts as they run: what one does on a copy of the sim, in this tab alone, before anybody else sees it; and what one
 * of the sim logs and uses, and where it fails, while one looks.
 */

import { refusal, t, why } from '../strings.js';
import { asking, lineInput, offered } from './asks.js';
import { button, el, field, fill, put } from './dom.js';

/** Simulated seconds after a touch or a word. */
const ANSWER_SECONDS = 3;

/** Simulated seconds of the button that lets more time go by. */
const MORE_SECONDS = 10;

/** Lines that are shown; the oldest go. */
const LINES_MAX = 300;

/** The words for what happened. @type {Record<string, (line: any) => string>} */
const WORDS = {
  said: ({ name, text, whispered }) => t(whispered ? 'try.whispered' : 'try.said', { name, text }),
  logged: ({ text }) => t('try.logged', { text }),
  failed: ({ file, line, column, why }) => (line > 0 ? t('try.failed.at', { file, line, column, why }) : t('try.failed', { why })),
  sound: ({ name, sound, pitch }) => t('try.sound', { name, sound: pitch ? `${sound} ${pitch > 0 ? '+' : ''}${pitch}` : sound }),
  form: ({ name, form }) => t('try.form', { name, title: form.offer ? offered(name, form.offer).join(' ') : form.title || form.text || form.field || '' }),
  look: ({ color, text }) => t(text ? 'try.look.text' : 'try.look', { color: `#${color.toString(16).padStart(6, '0')}`, text }),
  place: ({ x, y }) => t('try.place', { x: x.toFixed(1), y: y.toFixed(1) }),
  made: ({ name }) => t('try.made', { name }),
  gone: () => t('try.gone'),
  suspended: () => t('try.suspended'),
  fell_back: () => t('try.back'),
  refused: (line) => t('act.refused', { what: t(`what.${line.what}`), why: refusal(line.refusal) }),
};

/** What is bad news. */
const BAD = new Set(['failed', 'refused', 'suspended', 'fell_back', 'gone']);

/** What a script did, as it is told: lines, and gas by handler. @param {string} label */
function newsOf(label) {
  const lines = el('ol', { class: 'trial-lines', tabindex: '0', 'aria-label': label });
  const gas = el('dl', { class: 'facts' });
  /** @param {TrialReport} report @param {(line: TrialLine, text: string) => HTMLElement} row */
  const take = (report, row) => {
    const atEnd = lines.scrollTop + lines.clientHeight >= lines.scrollHeight - 8;
    for (const line of report.lines) {
      const text = WORDS[line.kind]?.(line) ?? line.kind;
      lines.append(el('li', { class: BAD.has(line.kind) ? 'bad' : '' }, el('small', null, t('try.at', { at: line.at.toFixed(1) })), row(line, text)));
    }
    if (report.more > 0) lines.append(el('li', { class: 'quiet' }, t('try.left', { n: report.more })));
    while (lines.children.length > LINES_MAX) lines.firstChild?.remove();
    if (atEnd) lines.scrollTop = lines.scrollHeight;
    fill(gas, ...Object.entries(report.gas).flatMap(([handler, { calls, gas: all, most }]) => [
      el('dt', null, el('code', null, handler)), el('dd', null, t('try.gas', { calls, mean: Math.round(all / Math.max(calls, 1)), most, max: report.gas_max })),
    ]));
  };
  return { lines, gas, take };
}

/** Words for a replica that is not there yet. @param {ReplicaState} replica */
function waiting({ phase, received, bytes, behind }) {
  const share = bytes ? Math.floor((100 * received) / bytes) : 0;
  return phase === 'snapshot' ? t('try.fetches', { share }) : t('try.follows', { behind });
}

/**
 * @param {Page} page @param {() => ScriptDraft} draftOf
 * @param {(line: number, column: number) => void} goTo shows a place in the source
 */
export function trialOf(page, draftOf, goTo) {
  const { client } = page;
  let trial = /** @type {import('../core/trial.js').Trial | null} */ (null);
  /** The file that the editor shows. */
  let entry = '';
  const state = el('p', { class: 'quiet', role: 'status' });
  const news = newsOf(t('try.lines'));
  const { lines, gas } = news;
  const asked = el('div', { class: 'stack' });
  const how = el('p', { class: 'quiet' });
  const words = lineInput();
  const touch = button({ text: t('try.touch'), click: () => trial?.go({ do: 'touch' }, ANSWER_SECONDS) });
  const more = button({ text: t('try.more', { n: MORE_SECONDS }), click: () => trial?.go(null, MORE_SECONDS) });
  const end = button({ text: t('try.end'), click: stop });
  const say = button({ text: t('chat.send'), click: speak });
  const deeds = [touch, more, say, words];
  words.addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => event.key === 'Enter' && speak());
  const element = el('section', { class: 'card trial', 'aria-label': t('try.title'), hidden: true },
    el('h3', null, t('try.title')), state, el('p', { class: 'row' }, touch, more, end), lines, asked,
    el('p', { class: 'row' }, field(t('try.say'), words), say), gas, how);
  const go = button({ text: t('try'), click: begin });

  function begin() {
    const draft = draftOf();
    stop();
    element.hidden = false;
    for (const part of [lines, gas, asked]) fill(part);
    allow(false);
    if (draft.object === null) return void put(state, t('try.nowhere'));
    entry = draft.entry;
    const { object, script, published, ...made } = draft;
    put(state, t('try.begins'));
    put(how, t('try.how'));
    trial = client.tryOut({ object, script, draft: made }, { waits, told, failed, sketched });
    element.scrollIntoView?.({ block: 'nearest' });
  }

  /** @param {import('../core/trial.js').Trial} next */
  function sketched(next) {
    trial = next;
    // What a copy told, which is lost in the midst of a try, is not of this one.
    for (const part of [lines, gas, asked]) fill(part);
    put(how, t('try.sketched'));
  }

  /** @param {boolean} can */
  function allow(can) {
    for (const each of deeds) each.disabled = !can;
  }

  const waits = (/** @type {ReplicaState} */ replica) => put(state, waiting(replica));

  /** @param {TrialReport} report */
  function told(report) {
    const at = report.at.toFixed(1);
    put(state, t(report.over ? 'try.over' : report.running ? 'try.runs' : 'try.stands', { at }));
    allow(!report.over);
    news.take(report, row);
    for (const line of report.lines) if (line.kind === 'form') fill(asked, form(line));
    if (!report.running && !report.over && report.lines.length === 0 && lines.children.length === 0) put(state, t('try.silent', { at }));
  }

  /** A place of the editor's file that one can go to. @param {TrialLine} line @param {string} text */
  function row(line, text) {
    const place = line.kind === 'failed' && line.line > 0 && line.file === entry;
    return place ? button({ class: 'small mistake', text, click: () => goTo(line.line, line.column) }) : el('span', null, text);
  }

  /** The answers to a form, and what goes back. @param {any} line */
  function form({ object, name, form }) {
    const go = (/** @type {any} */ deed) => {
      fill(asked);
      trial?.go({ ...deed, object }, ANSWER_SECONDS);
    };
    return el('section', { class: 'ask', 'aria-label': t('ask.from', { name }) }, form.title && el('h4', null, form.title),
      ...asking(name, form, (accepts) => go({ do: 'answer', terms: form.offer.terms, accepts }),
        (choice, text) => go({ do: 'reply', tag: form.tag, choice, text })));
  }

  function speak() {
    const text = words.value.trim();
    if (!text || words.disabled) return;
    words.value = '';
    trial?.go({ do: 'say', text }, ANSWER_SECONDS);
  }

  /** @param {any} error */
  function failed(error) {
    trial = null;
    allow(false);
    fill(asked);
    const detail = error.code === 'BadPackage' && error.detail ? ` (${error.detail})` : '';
    put(state, t('try.lost', { why: why(error) + detail }));
  }

  /** Lets go of the copy, and of all that is shown of it. */
  function stop() {
    trial?.end();
    trial = null;
    element.hidden = true;
  }
  return { element, button: go, stop };
}

/** The watch that is under way: the replica has room for one. */
let stop = () => {};

/** @param {Page} page @param {{object: number, script: number}} entry */
export function liveOf(page, { object, script }) {
  const state = el('p', { class: 'quiet', role: 'status' });
  const news = newsOf(t('live.lines'));
  const element = el('section', { class: 'stack live', hidden: true }, state, news.lines, news.gas);
  const go = button({ text: t('live'), click: () => (element.hidden ? begin() : stop()) });

  function begin() {
    stop();
    for (const part of [news.lines, news.gas]) fill(part);
    element.hidden = false;
    element.scrollIntoView?.({ block: 'nearest' });
    put(go, t('live.end'));
    put(state, t('try.begins'));
    const trial = page.client.watchScript(object, script, { waits: (replica) => put(state, waiting(replica)), told, failed });
    stop = () => {
      trial.end();
      element.hidden = true;
      put(go, t('live'));
      stop = () => {};
    };
  }

  /** @param {TrialReport} report */
  function told(report) {
    // Its panel shows another thing by now.
    if (!element.isConnected) return stop();
    put(state, t(report.over ? 'live.over' : 'live.runs', { at: report.at.toFixed(0) }));
    news.take(report, (_, text) => el('span', null, text));
  }

  const failed = (/** @type {any} */ error) => put(state, t('live.lost', { why: why(error) }));
  return { element, button: go };
}
