// Trying a script: the worker's side of the page, and what somebody sees of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ReplicaMode } from '../../web/core/replica.js';
import { STATE_BYTES_MAX, Trial } from '../../web/core/trial.js';
import { t } from '../../web/strings.js';
import { trialOf } from '../../web/ui/trial.js';
import { emptyDocument } from './elements.mjs';
import { FakeWorker } from './fake-worker.mjs';

const TASK = { object: 1, script: null, author: 'ab', draft: {} };
const status = (over) => ({ phase: 'following', height: 9, tick: 27, checked: 7, ownRoot: 'aa', statedRoot: 'aa', received: 0, bytes: 0, ...over });

/** A replica that is off, with what a try on it said. */
function begun({ starts = true, task = TASK } = {}) {
  const stage = { said: [] };
  stage.mode = new ReplicaMode({ changed: () => {}, height: () => 9, askRaw: () => new Promise(() => {}) });
  const ear = (name) => (what) => void stage.said.push([name, what]);
  if (!starts) stage.mode.start('compiled', new Uint8Array(3), 'ab');
  stage.trial = new Trial(stage.mode, starts, task, { waits: ear('waits'), told: ear('told'), failed: ear('failed') });
  if (starts) stage.mode.start('compiled', new Uint8Array(3), 'ab');
  stage.worker = FakeWorker.last;
  return stage;
}

test('a try waits until the replica follows the sim, and says meanwhile how far that is', () => {
  const { said, worker, trial } = begun();
  worker.say({ type: 'status', status: status({ phase: 'snapshot', received: 40, bytes: 100 }) });
  assert.deepEqual(said.map(([what, { phase, received }]) => [what, phase, received]), [['waits', 'snapshot', 0], ['waits', 'snapshot', 40]]);
  assert.deepEqual(worker.tries, []);
  // A thing that was just built is not in a copy of an earlier turn.
  worker.say({ type: 'status', status: status({ height: 8 }) });
  assert.deepEqual(worker.tries, []);
  worker.say({ type: 'status', status: status() });
  worker.say({ type: 'status', status: status({ height: 10 }) });
  assert.deepEqual(worker.tries, [{ type: 'try', task: TASK }], 'once');

  trial.go({ do: 'touch' }, 3);
  worker.say({ type: 'tried', report: { at: 1 } });
  assert.deepEqual([worker.tries.at(-1), said.at(-1)], [{ type: 'try-on', deed: { do: 'touch' }, seconds: 3 }, ['told', { at: 1 }]]);
  trial.end();
  worker.say({ type: 'tried', report: { at: 2 } });
  assert.deepEqual([worker.tries.at(-1), said.at(-1)], [{ type: 'try-end' }, ['told', { at: 1 }]]);
});

test('a state that is too large is not fetched to its end for a try alone, and a person\u2019s own replica goes on', () => {
  for (const starts of [true, false]) {
    const { said, worker, mode } = begun({ starts });
    worker.say({ type: 'status', status: status({ phase: 'snapshot', received: 1, bytes: STATE_BYTES_MAX + 1 }) });
    assert.equal(said.at(-1)[1].code, 'TooLarge');
    assert.equal(mode.state.on, !starts);
    assert.deepEqual(worker.tries, []);
  }
});

test('a try fails when the worker refuses it, ends, or is switched off; the replica minds only the last two', () => {
  const refused = begun();
  refused.worker.say({ type: 'status', status: status() });
  refused.worker.say({ type: 'tried', code: 'BadPackage', detail: 'licence' });
  const [what, { code, detail }] = refused.said.at(-1);
  assert.deepEqual([what, code, detail, refused.mode.state.on], ['failed', 'BadPackage', 'licence', true]);

  const broken = begun();
  broken.worker.say({ type: 'status', status: status() });
  broken.worker.say({ type: 'failed', code: 'wasm-ended' });
  assert.deepEqual([broken.said.at(-1)[1].code, broken.mode.state.on], ['wasm-ended', false]);

  const off = begun();
  off.mode.stop();
  assert.deepEqual(off.said.map(([, { code: why }]) => why).at(-1), 'NoState');
});

test('a script is watched in a state of any size, because nothing of it is copied', () => {
  const watched = { ...TASK, script: 7, draft: null };
  const { said, worker, trial } = begun({ starts: false, task: watched });
  worker.say({ type: 'status', status: status({ phase: 'snapshot', received: 1, bytes: STATE_BYTES_MAX + 1 }) });
  assert.equal(said.at(-1)[0], 'waits');
  worker.say({ type: 'status', status: status({ bytes: STATE_BYTES_MAX + 1 }) });
  assert.deepEqual(worker.tries, [{ type: 'try', task: watched }]);
  trial.end();
  assert.deepEqual(worker.tries.at(-1), { type: 'try-end' });
});

/** A workshop's card of a draft for this thing, and a client that tries nothing. */
function card(object = 1) {
  const body = emptyDocument();
  const stage = { went: [], places: [], draft: { object, script: 7, published: null, entry: 'lamp.rhai', files: { 'lamp.rhai': '' }, name: 'lamp' } };
  const client = {
    tryOut: (what, ears) => {
      Object.assign(stage, { what, ears, ended: false });
      return { go: (deed, seconds) => stage.went.push([deed, seconds]), end: () => (stage.ended = true) };
    },
  };
  stage.card = trialOf({ client }, () => stage.draft, (line, column) => stage.places.push([line, column]));
  body.append(stage.card.button, stage.card.element);
  stage.press = (text) => body.all('button').find((each) => each.textContent === text).click();
  stage.text = () => body.textContent;
  return stage;
}

const report = (over) => ({ at: 10, running: false, over: false, lines: [], more: 0, gas: {}, gas_max: 12_000, ...over });

test('a draft is tried on the thing that it is for, and each thing that happens has words', () => {
  const stage = card();
  stage.press(t('try'));
  assert.deepEqual(stage.what, { object: 1, script: 7, draft: { entry: 'lamp.rhai', files: { 'lamp.rhai': '' }, name: 'lamp' } });
  stage.ears.waits({ phase: 'snapshot', received: 1, bytes: 4, behind: 0 });
  assert.ok(stage.text().includes(t('try.fetches', { share: 25 })));
  stage.ears.told(report({
    running: true,
    lines: [
      { at: 0.1, kind: 'said', name: 'lamp', text: 'Hi', whispered: false }, { at: 0.1, kind: 'logged', text: 'one' },
      { at: 0.2, kind: 'failed', file: 'lamp.rhai', line: 3, column: 5, why: 'index: none' }, { at: 0.3, kind: 'sound', name: 'lamp', sound: 'bell', pitch: 5 },
      { at: 0.4, kind: 'look', color: 0x112233, text: 'on', name: 'lamp' }, { at: 0.5, kind: 'place', x: 1, y: -2 }, { at: 0.6, kind: 'made', name: 'apple' },
      { at: 0.7, kind: 'refused', what: 'touch', refusal: 'OutOfReach' }, { at: 0.8, kind: 'suspended' }, { at: 0.9, kind: 'fell_back' }, { at: 1, kind: 'gone' },
    ],
    more: 4, gas: { on_touch: { calls: 2, gas: 300, most: 200 } },
  }));
  const text = stage.text();
  for (const words of ['lamp: Hi', 'log: one', 'bell +5', '#112233', 'on', '1.0, -2.0', 'apple', t('no.OutOfReach'), t('try.suspended'), t('try.back'), t('try.gone'), t('try.left', { n: 4 }), t('try.gas', { calls: 2, mean: 150, most: 200, max: 12_000 }), t('try.runs', { at: '10.0' })]) {
    assert.ok(text.includes(words), `${words} is not in ${text}`);
  }
  stage.press(t('try.failed.at', { file: 'lamp.rhai', line: 3, column: 5, why: 'index: none' }));
  assert.deepEqual(stage.places, [[3, 5]]);
});

test('one touches it, says something, replies to its form and lets more time go by', () => {
  const stage = card();
  stage.press(t('try'));
  stage.ears.told(report());
  assert.ok(stage.text().includes(t('try.silent', { at: '10.0' })));
  stage.press(t('try.touch'));
  stage.press(t('try.more', { n: 10 }));
  const [words] = stage.card.element.all('input');
  words.value = ' hello ';
  stage.press(t('chat.send'));
  stage.ears.told(report({ lines: [{ at: 11, kind: 'form', object: 1, name: 'lamp', form: { tag: 'tea', title: 'Tea?', text: '', choices: ['Yes', 'No'], field: null } }] }));
  stage.press('No');
  assert.deepEqual(stage.went, [
    [{ do: 'touch' }, 3], [null, 10], [{ do: 'say', text: 'hello' }, 3], [{ do: 'reply', object: 1, tag: 'tea', choice: 1, text: '' }, 3],
  ]);
  stage.press(t('try.end'));
  assert.ok(stage.ended);
});

test('a try that goes on in a sketch says so, begins with no lines, and ends when the next one begins', () => {
  const stage = card();
  stage.press(t('try'));
  assert.ok(stage.text().includes(t('try.how')));
  stage.ears.told(report({ lines: [{ at: 1, kind: 'logged', text: 'of the copy' }] }));
  const sketch = { ended: 0, gone: [], end: () => (sketch.ended += 1), go: (deed, seconds) => sketch.gone.push([deed, seconds]) };
  stage.ears.sketched(sketch);
  assert.ok(stage.text().includes(t('try.sketched')) && !stage.text().includes('of the copy'));
  stage.ears.told(report());
  stage.press(t('try.touch'));
  assert.deepEqual([sketch.gone, stage.went, sketch.ended], [[[{ do: 'touch' }, 3]], [], 0]);
  stage.press(t('try'));
  assert.equal(sketch.ended, 1);
  assert.ok(stage.text().includes(t('try.how')));
});

test('a try that cannot be says why, and that publishing is free to go on', () => {
  const stage = card();
  stage.press(t('try'));
  stage.ears.failed({ code: 'TooLarge' });
  assert.ok(stage.text().includes(t('try.lost', { why: t('no.TooLarge') })));

  const nowhere = card(null);
  nowhere.press(t('try'));
  assert.equal(nowhere.what, undefined);
  assert.ok(nowhere.text().includes(t('try.nowhere')));
});
