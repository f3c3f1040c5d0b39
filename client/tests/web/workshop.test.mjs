// The workshop for scripts, without a browser: what it asks of the core, in which order, and what it keeps.
import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';

import { t } from '../../web/strings.js';
import { el } from '../../web/ui/dom.js';
import { publishing, workshopPanel } from '../../web/ui/workshop.js';
import { emptyDocument } from './elements.mjs';
import { drained } from './stage.mjs';

const EXAMPLE = 'fn on_touch(other) {\n    say("Hi");\n}\n';
const BELL = {
  id: 'be11', verified: true, files: [{ path: 'bell.rhai', text: 'fn on_start() {}\n' }],
  manifest: { name: 'bell', version: '1.2.3', api: 1, entry: 'bell.rhai', licence: 'MPL-2.0', authors: [{ name: 'Eve', key: null }], parent: null },
};

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout'] });
  const items = new Map();
  globalThis.localStorage = { getItem: (key) => items.get(key) ?? null, setItem: (key, value) => items.set(key, value), removeItem: (key) => items.delete(key) };
});

/** A field, in place of the editor, which needs a browser. */
class PlainEditor {
  constructor(element, { onChange, names }) {
    this.names = names;
    this.area = el('textarea', { on: { input: () => onChange(this.value) } });
    element.append(this.area);
  }

  get value() {
    return this.area.value;
  }

  set value(text) {
    this.area.value = text;
  }

  setMistakes(mistakes) {
    this.mistakes = mistakes;
  }

  goTo(...place) {
    this.shown = place;
  }
}

/** A page with a box of one's own without a script, a bell of one's own with one, and whatever outcomes a test wants. */
class FakePage {
  constructor(outcomes = {}) {
    const body = emptyDocument();
    this.asked = [];
    this.said = [];
    const things = [{ object: 1, name: 'Old box', scripts: [] }, { object: 2, name: 'bell', scripts: [{ script: 7, package: 'be11' }] }];
    const act = (what) => async (...fields) => {
      this.asked.push([what, ...structuredClone(fields)]);
      const outcome = outcomes[what]?.shift() ?? { ok: true, refusal: null };
      if (outcome instanceof Error) throw outcome;
      if (what === 'upgrade' && outcome.ok) things.find(({ object }) => object === fields[0]).scripts[0].package = fields[2];
      if (what === 'attach' && outcome.ok) things.find(({ object }) => object === fields[0]).scripts.push({ script: 8, package: fields[1] });
      return what === 'publish' ? { ...outcome, package: 'cafe' } : outcome;
    };
    this.client = {
      status: { sim: '5a' }, sight: { objects: new Map(things.map((thing) => [thing.object, thing])) },
      reference: async () => ({ example: EXAMPLE, licences: ['AGPL-3.0-or-later', 'MPL-2.0'], entries: [{ name: 'say', form: 'say(text: string)', doc: '' }] }),
      check: async (source, imports) => ({
        mistakes: source.includes('sya') ? [{ line: 2, column: 5, message: 'no function sya' }] : [],
        names: Object.keys(imports ?? {}).map((name) => `${name}::add`),
      }),
      packages: async () => [{ id: '5c0e', name: 'scores', version: '1.0.0' }, { id: 'be11', name: 'bell', version: '1.2.3' }],
      things: async () => structuredClone(things),
      scripts: async () => things.flatMap(({ object, scripts }) => scripts.map((each) => ({ ...each, object }))),
      source: async (id) => ({ ...BELL, id }), publish: act('publish'),
      values: async () => ({ values: [['publishers', 'admins'], ['seen_days', '3']], lands: [] }), person: async () => ({ admin: false, rights: [] }),
      build: { attach: act('attach'), upgrade: act('upgrade') },
    };
    this.identity = { public: 'ada' };
    this.toasts = { say: (text) => this.said.push(text) };
    this.dock = { heading: { focus: () => {} } };
    this.panel = workshopPanel(this, async () => ({ create: (...all) => (this.editor = new PlainEditor(...all)) }));
    body.append(this.panel.body);
  }

  async show(task) {
    await this.panel.show(task);
    await drained();
  }

  get area() {
    return this.editor.area;
  }

  get text() {
    return this.panel.body.textContent;
  }

  /** The field with this label. */
  field(key) {
    const label = this.panel.body.all('label').find((each) => each.textContent.startsWith(t(key)));
    return [...label.all('input'), ...label.all('select')][0];
  }

  button(text) {
    return this.panel.body.all('button').find((each) => each.textContent === text);
  }

  async publish() {
    this.button(t('script.publish')).click();
    await drained();
  }

  /** Types in place of all there is, and waits for the compiler. */
  async write(text) {
    this.area.setSelectionRange(0, this.area.value.length);
    this.area.type(text);
    mock.timers.tick(1_000);
    await drained();
  }
}

test('a thing without a script begins with the example, which is published and attached', async () => {
  const page = new FakePage();
  await page.show({ object: 1 });
  assert.equal(page.area.value, EXAMPLE);
  assert.deepEqual([page.field('script.name').value, page.field('script.licence').value], ['old-box', 'AGPL-3.0-or-later']);
  await page.publish();
  const [[, draft], attached] = page.asked;
  assert.deepEqual([draft.files, draft.parent, draft.version], [{ 'script.rhai': EXAMPLE }, null, '1.0.0']);
  assert.deepEqual(Object.keys(draft).sort(), ['api', 'authors', 'entry', 'files', 'licence', 'name', 'parent', 'version'], 'where it goes is no part of a package');
  assert.deepEqual(attached, ['attach', 1, 'cafe']);
  assert.deepEqual(page.said, [t('script.runs')]);
});

test('a script that runs is upgraded in its place, and the new one names the old one as its parent', async () => {
  const page = new FakePage();
  await page.show({ object: 2 });
  assert.equal(page.area.value, BELL.files[0].text);
  await page.publish();
  const [[, draft], upgraded] = page.asked;
  assert.deepEqual([draft.parent, draft.version, draft.entry, draft.licence, draft.authors], ['be11', '1.2.4', 'bell.rhai', 'MPL-2.0', BELL.manifest.authors]);
  assert.deepEqual(upgraded, ['upgrade', 2, 7, 'cafe']);
});

test('a fork goes nowhere until somebody says where, and then beside what runs there or in its place', async () => {
  const page = new FakePage();
  await page.show({ fork: 'be11' });
  await page.publish();
  assert.deepEqual(page.asked.map(([what]) => what), ['publish']);
  assert.deepEqual(page.said, [t('script.published')]);

  const other = new FakePage();
  await other.show({ fork: 'be11' });
  other.field('script.on').choose('2');
  assert.equal(other.field('script.instead').value, '', 'beside it, unless somebody says otherwise');
  await other.publish();
  assert.deepEqual(other.asked.at(-1), ['attach', 2, 'cafe']);

  const third = new FakePage();
  await third.show({ fork: 'abcd' });
  third.field('script.on').choose('2');
  third.field('script.instead').choose('7');
  await third.publish();
  assert.deepEqual(third.asked.at(-1), ['upgrade', 2, 7, 'cafe']);
});

test('with a mistake nothing can be published; it is listed with its line, and leads there', async () => {
  const page = new FakePage();
  await page.show({ object: 1 });
  await page.write('fn on_touch() {\n    sya(1);\n}\n');
  assert.match(page.text, new RegExp(t('script.mistake')));
  await page.publish();
  assert.deepEqual(page.asked, []);
  page.button(t('script.at', { line: 2, message: 'no function sya' })).click();
  assert.deepEqual([page.editor.shown, page.editor.mistakes.length], [[2, 5], 1]);
  await page.write('fn on_touch() {}\n');
  assert.match(page.text, new RegExp(t('script.good')));
  assert.equal(page.button(t('script.publish')).disabled, false);
});

test('a refusal is told in words with what the module adds, and what was typed stays', async () => {
  const wrong = Object.assign(new Error('BadPackage'), { code: 'BadPackage', detail: 'licence: "MIT" allows no copyleft choice' });
  const page = new FakePage({ publish: [{ ok: false, refusal: 'NotPublisher' }, wrong] });
  await page.show({ object: 1 });
  await page.write('fn on_start() {}\n');
  await page.publish();
  assert.ok(page.text.includes(t('no.NotPublisher')), page.text);
  await page.publish();
  assert.ok(page.text.includes(t('no.BadPackage')) && page.text.includes('"MIT"'), page.text);
  assert.deepEqual(page.said, []);
  const later = new FakePage();
  await later.show({ object: 1 });
  assert.equal(later.area.value, 'fn on_start() {}\n', 'after a reload, too');
  assert.ok(later.text.includes(t('script.again')));
});

test('what is published is not published again when only its place refused it, unless it was changed', async () => {
  const page = new FakePage({ attach: [{ ok: false, refusal: 'OutOfReach' }, { ok: false, refusal: 'OutOfReach' }] });
  await page.show({ object: 1 });
  await page.publish();
  assert.ok(page.text.includes(t('no.OutOfReach')));
  await page.publish();
  assert.deepEqual(page.asked.map(([what]) => what), ['publish', 'attach', 'attach']);
  await page.write('fn on_start() {}\n');
  await page.publish();
  assert.deepEqual(page.asked.slice(3).map(([what]) => what), ['publish', 'attach']);
});

test('what somebody types while a script is on its way is neither lost nor taken for published', async () => {
  const page = new FakePage();
  await page.show({ object: 1 });
  page.button(t('script.publish')).click();
  page.area.setSelectionRange(0, 0);
  page.area.type('// later\n');
  await drained();
  assert.deepEqual([page.said, page.area.value], [[t('script.runs')], `// later\n${EXAMPLE}`]);
  assert.equal(page.asked[0][1].files['script.rhai'], EXAMPLE);
  await page.publish();
  const [, , [, later], upgraded] = page.asked;
  assert.deepEqual([later.parent, later.version, later.files['script.rhai']], ['cafe', '1.0.1', `// later\n${EXAMPLE}`]);
  assert.deepEqual(upgraded, ['upgrade', 1, 8, 'cafe'], 'the script that runs by now');
});

test('what was typed about one script stays when another one is begun, and is gone when it is discarded', async () => {
  const page = new FakePage();
  await page.show({ object: 2 });
  await page.write('fn on_start() { log(1); }\n');
  page.button(t('script.fresh')).click();
  await drained();
  assert.equal(page.area.value, EXAMPLE);
  assert.equal(page.field('script.instead').value, '', 'a new one takes nobody\u2019s place');
  await page.show({ object: 2 });
  assert.equal(page.area.value, 'fn on_start() { log(1); }\n');
  page.button(t('script.revert')).click();
  await drained();
  assert.equal(page.area.value, BELL.files[0].text);
});

test('a source that is not its package is no parent, and does not keep one from a script of one\u2019s own', async () => {
  const page = new FakePage();
  page.client.source = async (id) => ({ ...BELL, id, verified: false });
  await page.show({ object: 2 });
  assert.ok(page.text.includes(t('script.unverified').slice(0, -1)), page.text);
  page.button(t('script.fresh')).click();
  await drained();
  assert.equal(page.area.value, EXAMPLE);
});

test('a draft whose thing or script is gone is not sent to another one', async () => {
  const page = new FakePage();
  await page.show({ object: 2 });
  await page.write('fn on_start() { log(1); }\n');
  const own = (scripts) => async () => [{ object: 2, name: 'bell', scripts }];
  page.client.things = own([{ script: 9, package: 'f00d' }]);
  await page.show({ object: 2 });
  assert.equal(page.field('script.instead').value, '', 'another script is not the one that was edited');
  page.client.things = async () => [{ object: 1, name: 'Old box', scripts: [] }];
  await page.show({ object: 2 });
  await page.publish();
  assert.deepEqual(page.asked.map(([what]) => what), ['publish']);
});

test('a source imports a package of the sim, whose names are offered, and imports it no more', async () => {
  const page = new FakePage();
  await page.show({ object: 1 });
  const box = page.panel.body.all('details').find((each) => each.textContent.includes(t('script.import')));
  box.open = true;
  box.listeners.toggle();
  await drained();
  const [which] = box.all('select');
  which.value = 'scores 5c0e';
  page.button(t('script.import.do')).click();
  const line = 'import "scores" as scores;\n';
  assert.equal(page.area.value, line + EXAMPLE);
  await page.write(`${line}fn on_touch(other) { scores::`);
  assert.deepEqual(page.editor.names().map(({ name, form }) => [name, form]), [['scores::add', undefined], ['say', 'say(text: string)']], 'what it has is offered');
  await page.publish();
  assert.deepEqual(page.asked[0][1].imports, { scores: '5c0e' });

  await page.show({ object: 1, fresh: true });
  assert.equal(page.button(t('script.import.drop', { name: 'scores' })), undefined);
  const other = new FakePage();
  await other.show({ object: 1, fresh: true });
  const [list] = other.panel.body.all('details').filter((each) => each.textContent.includes(t('script.import'))).map((each) => each.all('select')[0]);
  list.value = 'bell be11';
  other.button(t('script.import.do')).click();
  other.button(t('script.import.drop', { name: 'bell' })).click();
  assert.equal(other.area.value, EXAMPLE);
  await other.publish();
  assert.deepEqual(other.asked[0][1].imports, {});
});

test('who may publish is said before somebody tries, with the sim\u2019s own word', async () => {
  const page = new FakePage();
  await page.show({ object: 1 });
  assert.ok(page.text.includes(t('publish.admins')) && page.text.includes(t('publish.not')), page.text);
  const nobody = { admin: false, rights: [] };
  const told = (rule, person = nobody, lands = []) => publishing({ values: [['publishers', rule], ['seen_days', '3']], lands }, person, 'ada');
  for (const rule of ['seen', 'builders', 'admins']) {
    assert.match(told(rule), new RegExp(`publishers = "${rule}"`));
    for (const person of [{ admin: true, rights: [] }, { admin: false, rights: [{ right: 'script' }] }]) assert.ok(told(rule, person).endsWith(t('publish.lets')), rule);
  }
  assert.equal(told('anybody'), t('publish.anybody'));
  assert.match(told('seen'), /seen_days = 3\)\. Whether you were/);
  assert.ok(told('builders', nobody, [{ title: 'open' }, { title: 'bob' }]).endsWith(t('publish.not')));
  assert.ok(told('builders', nobody, [{ title: 'ada' }]).endsWith(t('publish.lets')));
  page.client.values = async () => {
    throw new Error('gone');
  };
  await page.show({ object: 1 });
  assert.ok(!page.text.includes(t('publish.admins')), 'what is not known is not said');
});

test('where the editor does not come the panel says so, and the next try asks for it again', async () => {
  const page = new FakePage();
  const [lost, come] = [async () => { throw new Error('no way there'); }, async () => ({ create: (...all) => new PlainEditor(...all) })];
  const tries = [lost, come];
  page.panel = workshopPanel(page, () => tries.shift()());
  await page.show({ object: 1 });
  assert.match(page.text, /no way there/);
  await page.show({ object: 1 });
  assert.match(page.text, new RegExp(t('script.intro')));
});
