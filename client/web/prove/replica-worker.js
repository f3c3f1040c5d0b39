/**
 * Runs the whole sim in a worker: begins with a snapshot, applies every turn, and compares its own
 * roots with the certified ones. It asks nobody itself: what it wants is asked by the page.
 */
import { Module, Refused } from './module.js';

/** Turns that are computed before the sim's own are looked at again: a second of most sims. */
const TRIAL_TURNS = 20;

/** Simulated seconds that a try runs at first. */
const TRIAL_SECONDS = 10;

let replica = /** @type {import('./module.js').Replica|null} */ (null);

/** A draft that runs on a copy of the state. @type {import('./module.js').Trial|null} */
let trial = null;
/** The simulated second up to which it runs. */
let until = 0;
/** The simulated second that it has come to. */
let reached = 0;
let timer = /** @type {any} */ (0);
/** A script of the sim is watched. */
let watching = false;

const tell = (/** @type {any} */ message, /** @type {Transferable[]} */ transfer = []) =>
  /** @type {any} */ (globalThis).postMessage(message, transfer);

/** Says where it is, and what it wants next. */
function go() {
  if (replica === null) return;
  const status = replica.status();
  tell({ type: 'status', status });
  if (watching) tell({ type: 'tried', report: { ...replica.watched(), running: true } });
  if (status.phase === 'mismatch') {
    const capsule = replica.capsule();
    tell({ type: 'mismatch', status, capsule }, [capsule.buffer]);
    return;
  }
  const want = replica.want();
  if (want !== null) tell({ type: 'want', want });
}

/** Lets the try run a little, then whatever waits for this worker. */
function slice() {
  if (trial === null) return;
  const report = trial.run(TRIAL_TURNS);
  reached = report.at;
  const running = reached < until && !report.over;
  tell({ type: 'tried', report: { ...report, running } });
  clearTimeout(timer);
  if (running) timer = setTimeout(() => guarded(slice), 0);
}

/** Does something of a try. What it refuses is no fault of the replica. @param {() => void} act */
function guarded(act) {
  try {
    act();
  } catch (/** @type {any} */ error) {
    if (error instanceof Refused) tell({ type: 'tried', code: error.code, detail: error.message });
    else fail(error);
  }
}

/** Begins, goes on with or ends a try. @param {any} message */
function tried({ type, task, deed, seconds }) {
  if (type === 'try-on') {
    if (trial === null) return;
    if (deed !== null) trial.act(deed);
    until = reached + seconds;
    slice();
    return;
  }
  trial?.free();
  trial = null;
  if (watching) replica?.watch(null);
  watching = false;
  if (type !== 'try') return;
  if (task.draft === null) return void (watching = !!replica?.watch(task));
  trial = replica?.trial(task) ?? null;
  [reached, until] = [0, TRIAL_SECONDS];
  slice();
}

/** @param {any} error */
function fail(error) {
  trial = null;
  tell({ type: 'failed', code: error.code ?? error.name, detail: String(error.message) });
}

/** @param {any} message */
async function handle(message) {
  if (message.type.startsWith('try')) return guarded(() => tried(message));
  if (message.type === 'start') {
    const { compiled, genesis, sim, from } = message;
    const module = await Module.compiled(compiled);
    replica = module.replica(genesis, sim, from);
  } else if (message.type === 'frame') replica?.frame(message.frame);
  return go();
}

globalThis.onmessage = (/** @type {MessageEvent} */ { data }) => {
  handle(data).catch(fail);
};
