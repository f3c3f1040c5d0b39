/**
 * The workshop: a script is written, looked over as one types by the compiler of the module, published
 * as a package, and put on a thing of one's own.
 */

import { refusal, t, why } from '../strings.js';
import { button, el, field, fill, options, put } from './dom.js';
import * as drafts from './drafts.js';
import { learn } from './highlight.js';
import { may } from './moderate.js';
import { choosing } from './own.js';
import { trialOf } from './trial.js';
import { versionsOf } from './versions.js';

/** The compiler looks at a source when nobody has typed for so long. */
const LOOK_MS = 250;

/** Under which name a draft is kept. @param {Task} task */
const slotOf = ({ object = null, script = null, fork }) => (fork ? `fork/${fork}` : `${object}/${script ?? 'new'}`);

/** Who may publish in a sim, and whether that lets somebody: of whom it has seen for how long is not known. @param {{values: [string, string][], lands: {title: string}[]}} charter @param {{admin: boolean, rights: {right: string}[]}} person @param {string} key */
export function publishing({ values, lands }, person, key) {
  const { publishers, seen_days: days } = Object.fromEntries(values);
  const who = t(`publish.${publishers}`, { days });
  if (publishers === 'anybody') return who;
  const lets = may(person, 'script') || (publishers === 'builders' && lands.some(({ title }) => title === key));
  return `${who} ${t(lets ? 'publish.lets' : publishers === 'seen' ? 'publish.maybe' : 'publish.not')}`;
}

/** @param {Page} page @param {() => Promise<typeof import('./editor.js')>} [editing] fetches the editor when it is first wanted, for it is large @returns {Panel} */
export function workshopPanel(page, editing = () => import('./editor.js')) {
  const { client } = page;
  const body = el('div', { class: 'stack' });
  const state = el('p', { class: 'quiet', role: 'status' });
  const found = el('p', { class: 'quiet', role: 'status' });
  const mistakes = el('ol', { class: 'mistakes', 'aria-label': t('script.mistakes') });
  const name = el('input', { type: 'text', maxlength: 64, autocapitalize: 'off', spellcheck: 'false', on: { input: describe } });
  const licences = el('datalist', { id: 'licences' });
  const licence = el('input', { type: 'text', maxlength: 256, list: 'licences', autocapitalize: 'off', spellcheck: 'false', on: { input: describe } });
  const thing = el('select', { on: { change: () => aim(Number(thing.value) || null, null) } });
  const which = el('select', { on: { change: () => aim(draft.object, Number(which.value) || null) } });
  const instead = field(t('script.instead'), which);
  const go = button({ text: t('script.publish'), class: 'button primary', click: publish });
  const hold = el('div', { class: 'editor' });
  const rule = el('p', { class: 'quiet' });
  const imports = el('p', { class: 'row' });
  const versions = versionsOf(page, () => draft, () => page.dock.show('script', task));
  const trial = trialOf(page, () => draft, (line, column) => editor.goTo(line, column));
  const words = el('ul', { class: 'words' });
  const search = el('input', { type: 'text', 'aria-label': t('script.words.search'), placeholder: t('script.words.search'), on: { input: () => explain() } });
  /** @type {ScriptDraft} */
  let draft = drafts.begun({ example: '', licences: [''] }, '');
  let task = /** @type {Task} */ ({});
  let slot = '';
  /** Own things with their scripts. @type {any[]} */
  let things = [];
  let editor = /** @type {ReturnType<typeof import('./editor.js').create>} */ (/** @type {any} */ (null));
  let reference = /** @type {Awaited<ReturnType<typeof client.reference>> | null} */ (null);
  /** What the source can name of its imports. @type {string[]} */
  let imported = [];
  let questions = 0;
  let looks = 0;
  let timer = /** @type {any} */ (0);
  let busy = false;
  /** Counts what somebody changes. */
  let edits = 0;

  const back = el('p', { class: 'row' }, button({ icon: 'back', text: t('back'), click: () => page.select(task.object ?? null) }));
  const form = [
    back, el('p', { class: 'quiet' }, t('script.intro')),
    hold, found, mistakes,
    el('div', { class: 'grid' }, field(t('script.name'), name), field(t('script.licence'), licence), field(t('script.on'), thing), instead), licences,
    el('p', { class: 'quiet' }, t('script.licence.how')),
    rule, el('p', { class: 'row' }, go, trial.button,
      button({ icon: 'undo', text: t('script.revert'), click: () => again(task) }),
      button({ text: t('script.fresh'), click: fresh })),
    state, trial.element, imports,
    choosing(page, { title: t('script.import'), go: t('script.import.do'), note: t('script.import.how') },
      async () => (await client.packages()).map((each) => [`${each.name} ${each.id}`, `${each.name} ${each.version}`]),
      (chosen) => bring(.../** @type {[string, string]} */ (chosen.split(' ')))),
    versions.element,
    el('details', { class: 'card' }, el('summary', null, t('script.words')), search, words),
  ];

  /** @param {Task} [wanted] */
  async function show(wanted) {
    if (!wanted) return;
    questions += 1;
    const question = questions;
    fill(body, el('p', { class: 'quiet', role: 'status' }, t('loading')));
    try {
      const [next, own, { create }] = await Promise.all([taken(wanted), client.things(), editing()]);
      // Somebody went on to another script by now.
      if (question !== questions) return;
      things = own;
      editor ??= create(hold, { value: '', onChange: write, names: () => [...imported.map((each) => ({ name: each })), ...(reference?.entries ?? [])] });
      open(wanted, next);
    } catch (error) {
      if (question !== questions) return;
      fill(body, el('p', { class: 'bad' }, t('failed', { why: why(error) })),
        button({ text: t('script.fresh'), click: () => show({ object: wanted.object, fresh: true }) }));
    }
  }

  /** What a task begins with: what was typed before, a package, or the example. @param {Task} wanted */
  async function taken({ object = null, script = null, fresh = false, fork }) {
    reference ??= await client.reference();
    const running = object === null || fresh ? [] : (await client.scripts()).filter((/** @type {any} */ entry) => entry.object === object);
    const entry = running.find((/** @type {any} */ each) => each.script === script) ?? running[0];
    const from = fork ?? entry?.package;
    const own = slotOf({ object, script: entry?.script, fork });
    const before = drafts.kept(client.status.sim, own);
    if (before) return { slot: own, draft: before, again: true };
    const place = { object, script: entry?.script ?? null };
    if (!from) return { slot: own, draft: { ...drafts.begun(reference, client.sight.objects.get(object ?? -1)?.name ?? ''), ...place }, again: false };
    const source = await client.source(from);
    // Nobody goes on from what only claims to be the parent.
    if (!source.verified) throw new Error(t('script.unverified'));
    return { slot: own, draft: { ...drafts.forked(source), ...place }, again: false };
  }

  /** @param {Task} wanted @param {Awaited<ReturnType<typeof taken>>} next */
  function open(wanted, next) {
    [task, slot, draft] = [wanted, next.slot, next.draft];
    learn((reference?.entries ?? []).map((entry) => entry.name));
    fill(licences, ...(reference?.licences ?? []).map((each) => el('option', { value: each })));
    [name.value, licence.value, editor.value] = [draft.name, draft.licence, draft.files[draft.entry] ?? ''];
    fill(thing, ...options([['', t('script.nowhere')], ...things.map((own) => [own.object, `${own.name} (#${own.object})`])]));
    put(state, next.again ? t('script.again') : '');
    back.hidden = (task.object ?? null) === null;
    trial.stop();
    bringable();
    fill(body, ...form);
    // Whoever pressed a button here stays in the panel.
    if (page.dock.open === 'script' && document.activeElement === document.body) page.dock.heading.focus({ preventScroll: true });
    target();
    explain();
    versions.again();
    look();
    rules();
  }

  /** Says who may publish here, before somebody tries. What cannot be asked is said by the refusal. */
  async function rules() {
    const told = await Promise.all([client.values(), client.person()]).catch(() => null);
    put(rule, told ? publishing(...told, page.identity.public) : '');
  }

  /** Throws away what was typed. @param {Task} wanted */
  function again(wanted) {
    drafts.drop(client.status.sim, slot);
    show(wanted);
  }

  /** Begins with the example; what was typed about another script stays. */
  function fresh() {
    const { object } = draft;
    if (slot === slotOf({ object })) drafts.drop(client.status.sim, slot);
    show({ object, fresh: true });
  }

  /** Shows where the script goes: never to a thing or script that is not there, or not one's own. */
  function target() {
    const own = things.find((each) => each.object === draft.object);
    const scripts = /** @type {any[]} */ (own?.scripts ?? []);
    if (!scripts.some(({ script }) => script === draft.script)) draft.script = null;
    draft.object = own?.object ?? null;
    thing.value = String(draft.object ?? '');
    fill(which, ...options([...scripts.map(({ script }) => [script, t('script.instead.of', { n: script })]), ['', t('script.beside')]]));
    which.value = String(draft.script ?? '');
    instead.hidden = scripts.length === 0;
  }

  /** @param {number | null} object @param {number | null} script */
  function aim(object, script) {
    [draft.object, draft.script] = [object, script];
    target();
    drafts.put(client.status.sim, slot, draft);
  }

  /** Keeps a package that is another one by now than what was published. */
  function edited() {
    edits += 1;
    draft.published = null;
    drafts.put(client.status.sim, slot, draft);
  }

  function describe() {
    [draft.name, draft.licence] = [name.value.trim(), licence.value.trim()];
    edited();
  }

  /** @param {string} text */
  function write(text) {
    draft.files[draft.entry] = text;
    edited();
    clearTimeout(timer);
    timer = setTimeout(look, LOOK_MS);
  }

  /** Shows what the source imports. */
  function bringable() {
    imported = [];
    fill(imports, ...Object.keys(draft.imports ?? {}).map((each) => button({ icon: 'close', class: 'small', text: t('script.import.drop', { name: each }), click: () => bring(each) })));
  }

  /** Has the source import a package under a name, or no more. @param {string} each @param {string} [id] */
  function bring(each, id) {
    const own = new RegExp(`^import "${each}" as (\\w+);[^\\S\\n]*\\n?`, 'm');
    const called = own.exec(editor.value)?.[1] ?? each.replaceAll('-', '_');
    const { [each]: _, ...others } = draft.imports ?? {};
    draft.imports = id ? { ...others, [each]: id } : others;
    editor.value = (id ? `import "${each}" as ${called};\n` : '') + editor.value.replace(own, '');
    bringable();
    write(editor.value);
  }

  /** Has the compiler look over the source. */
  async function look() {
    const text = editor.value;
    looks += 1;
    const number = looks;
    // What cannot be looked over for now is judged by the sim.
    const told = await client.check(text, draft.imports).catch((/** @type {unknown} */ error) => ({ mistakes: [], names: imported, lost: why(error) }));
    // Somebody has typed on, and that is looked over next.
    if (number !== looks || text !== editor.value) return;
    const list = told.mistakes;
    imported = told.names;
    editor.setMistakes(list);
    put(found, 'lost' in told ? t('failed', { why: told.lost }) : list.length === 0 ? t('script.good') : t(list.length === 1 ? 'script.mistake' : 'script.mistakes.count', { n: list.length }));
    found.className = list.length === 0 ? 'good' : 'bad';
    fill(mistakes, ...list.map(({ line, column, message }) => el('li', null, button({
      class: 'small mistake', text: line > 0 ? t('script.at', { line, message }) : message, click: () => editor.goTo(line, column),
    }))));
    go.disabled = trial.button.disabled = list.length > 0;
  }

  /** Publishes the script, unless that is done, and puts it where it goes. */
  async function publish() {
    if (busy) return;
    busy = true;
    // Somebody may go on typing meanwhile, also in another script.
    const [own, place, sent] = [draft, slot, edits];
    const { object, script, published, ...made } = own;
    let what = 'publish';
    put(state, t('script.publishing'));
    try {
      let outcome = /** @type {any} */ ({ ok: true });
      if (!published) {
        outcome = await client.publish(made);
        if (outcome.ok && sent === edits) drafts.put(client.status.sim, place, Object.assign(own, { published: outcome.package }));
      }
      const id = published ?? outcome.package;
      if (outcome.ok && object !== null) {
        what = script === null ? 'attach' : 'upgrade';
        outcome = await (script === null ? client.build.attach(object, id) : client.build.upgrade(object, script, id));
      }
      put(state, outcome.ok ? '' : t('act.refused', { what: t(`what.${what}`), why: refusal(outcome.refusal) }));
      if (outcome.ok) page.toasts.say(t(object === null ? 'script.published' : 'script.runs'));
      if (outcome.ok) await done(own, place, id, sent);
    } catch (/** @type {any} */ error) {
      const detail = typeof error?.detail === 'string' ? ` (${error.detail})` : '';
      put(state, t('act.lost', { what: t(`what.${what}`), why: why(error) + detail }));
    }
    busy = false;
  }

  /**
   * Goes on with what was published: with its source, or with what was typed since.
   * @param {ScriptDraft} own @param {string} place @param {string} id @param {number} sent the count of changes when it was sent
   */
  async function done(own, place, id, sent) {
    const { object, version } = own;
    const runs = (await client.things()).find((/** @type {any} */ each) => each.object === object)?.scripts ?? [];
    const script = runs.findLast((/** @type {any} */ each) => each.package === id)?.script ?? null;
    const next = object === null ? { fork: id } : { object, script };
    drafts.drop(client.status.sim, place);
    if (sent !== edits) drafts.put(client.status.sim, slotOf(next), { ...own, parent: id, version: drafts.nextVersion(version), script });
    if (draft === own) show(next);
  }

  /** Lists what scripts can call: all of it, or what somebody looks for. */
  function explain() {
    const wanted = search.value.trim().toLowerCase();
    const fits = (reference?.entries ?? []).filter((entry) => `${entry.form} ${entry.doc}`.toLowerCase().includes(wanted));
    fill(words, ...fits.map((entry) => el('li', null, el('code', null, entry.form), entry.doc && ` ${entry.doc}`)));
  }
  return { body, show };
}
