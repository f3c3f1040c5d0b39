/** Replica mode: a worker runs the whole sim; here its questions are asked, and its state told. */

/** A node that is busy, or has no snapshot yet, is asked again after this long. */
const AGAIN_MS = 500;
/** Farther behind than this, it is still catching up. */
const FOLLOWING_TURNS = 40;

/** @type {() => ReplicaState} */
const off = () => ({
  on: false, phase: 'off', height: 0, certified: 0, ownRoot: null, certifiedRoot: null, equal: 0,
  behind: 0, received: 0, bytes: 0, capsule: null, why: null,
});

/** What a server is asked where the module wants this. @type {Record<string, (want: any) => any>} */
const QUESTIONS = {
  links: ({ after }) => ({ Links: { after } }),
  snapshot: () => 'Snapshot',
  part: ({ height, part }) => ({ SnapshotPart: { height, part } }),
  turns: ({ from }) => ({ Turns: { from } }),
};

export class ReplicaMode {
  /** @param {ReplicaParts} parts */
  constructor({ changed, askRaw, height }) {
    [this.changed, this.askRaw] = [changed, askRaw];
    this.decided = height;
    /** @type {ReplicaState} */
    this.state = off();
    this.worker = /** @type {Worker|null} */ (null);
    /** A question about turns that nobody has decided yet. @type {any} */
    this.early = null;
    /** Begins anew. */
    this.again = () => {};
    /** The try that uses its state. @type {import('./trial.js').Trial|null} */
    this.trial = null;
  }

  /** @param {WebAssembly.Module} compiled @param {Uint8Array} genesis @param {string} sim @param {'genesis'|'snapshot'} [from] */
  start(compiled, genesis, sim, from = 'snapshot') {
    this.#end(null);
    this.again = () => this.start(compiled, genesis, sim, from);
    this.state = { ...off(), on: true, phase: 'snapshot' };
    const worker = new Worker(new URL('../prove/replica-worker.js', import.meta.url), { type: 'module' });
    this.worker = worker;
    worker.onmessage = ({ data }) => {
      if (this.worker === worker) this.#told(data);
    };
    worker.onerror = () => this.stop('wasm-failed');
    worker.postMessage({ type: 'start', compiled, genesis, sim, from });
    this.#stands();
  }

  /** Says something to the worker, if there is one. @param {any} message */
  post = (message) => this.worker?.postMessage(message);

  /** How it stands is another thing than before. */
  #stands() {
    this.trial?.look();
    this.changed();
  }

  /** @param {string|null} [why] */
  stop(why = null) {
    this.#end(why);
    this.#stands();
  }

  /** @param {string|null} why */
  #end(why) {
    this.worker?.terminate();
    [this.worker, this.early] = [null, null];
    this.state = { ...off(), why };
    if (this.trial?.begun) this.trial.fail(why ?? 'NoState');
  }

  /** A turn was decided. */
  tick() {
    if (this.early === null || this.decided() < this.early.from) return;
    const want = this.early;
    this.early = null;
    this.#ask(want);
  }

  /** @param {any} message */
  #told(message) {
    if (message.type === 'status') this.#status(message.status);
    else if (message.type === 'want') {
      this.early = message.want.ask === 'turns' ? message.want : null;
      if (this.early === null) this.#ask(message.want);
      else this.tick();
    } else if (message.type === 'mismatch') {
      const capsule = new Blob([message.capsule], { type: 'application/octet-stream' });
      this.state = { ...this.state, phase: 'mismatch', capsule };
      this.#stands();
    } else if (message.type === 'tried') this.trial?.hear(message);
    else if (message.type === 'failed') this.stop(message.code);
  }

  /** @param {ReplicaStatus} status */
  #status({ phase, height, checked, ownRoot, statedRoot, received, bytes }) {
    const behind = Math.max(this.decided() - height, 0);
    const phases = /** @type {Record<string, ReplicaState['phase']>} */ ({
      following: behind > FOLLOWING_TURNS ? 'replaying' : 'following', mismatch: 'mismatch',
    });
    const { certified, equal } = this.state;
    const more = ownRoot === null || ownRoot !== statedRoot ? 0 : checked - certified;
    this.state = {
      ...this.state, height, behind, received, bytes, ownRoot, certifiedRoot: statedRoot,
      phase: phases[phase] ?? 'snapshot',
      certified: ownRoot === null ? 0 : checked,
      equal: equal + (certified === 0 ? Math.min(more, 1) : more),
    };
    this.#stands();
  }

  /** @param {any} want */
  #ask(want) {
    const { worker } = this;
    const later = () => {
      setTimeout(() => this.worker === worker && this.#ask(want), AGAIN_MS);
    };
    this.askRaw(QUESTIONS[want.ask](want)).then(
      ({ kind, frame }) => {
        if (this.worker !== worker || worker === null) return;
        // Turns that nobody has any more: it begins anew, with a newer snapshot. So it does by
        // itself where a snapshot is gone of which it has a part.
        const gone = kind === 'Unknown' || kind === 'Pruned';
        if (gone && want.ask === 'turns') this.again();
        else if (kind === 'Busy' || (kind === 'Unknown' && want.ask !== 'part')) later();
        else worker.postMessage({ type: 'frame', frame }, [frame.buffer]);
      },
      // Too many questions are under way.
      later,
    );
  }
}
