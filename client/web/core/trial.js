/**
 * A try: a draft of a script runs in the worker of replica mode, on a copy of the state, before anybody
 * else sees it. A watch: what a script logs and uses there, and where it fails, as the sim goes on.
 */
import { CoreError } from './port.js';

/** The largest state of which a copy is made, in bytes; the module has the same bound. */
export const STATE_BYTES_MAX = 32 * 1024 * 1024;

export class Trial {
  /**
   * Begins a try, as soon as the replica follows the sim.
   * @param {import('./replica.js').ReplicaMode} replica
   * @param {boolean} starts whether the replica goes on for this alone @param {TrialTask} task @param {TrialEars} ears
   */
  constructor(replica, starts, task, ears) {
    [this.replica, this.starts, this.task, this.ears] = [replica, starts, task, ears];
    [this.begun, this.ended] = [false, false];
    /** The copy holds all that was decided by now: also a thing that was just built. */
    this.from = replica.decided();
    replica.trial?.end();
    replica.trial = this;
  }

  /** Looks at how the replica stands. */
  look() {
    const { state } = this.replica;
    if (this.begun || this.ended) return;
    if (state.bytes > STATE_BYTES_MAX && this.task.draft !== null) {
      this.fail('TooLarge');
      // Nobody else asked for the rest of so large a state.
      if (this.starts) this.replica.stop();
    } else if (state.phase === 'following' && state.height >= this.from) {
      this.begun = true;
      this.replica.post({ type: 'try', task: this.task });
    } else if (state.phase === 'off' || state.phase === 'mismatch') this.fail(state.why ?? 'NoState');
    else this.ears.waits(state);
  }

  /** Takes what the worker says of it. @param {any} said */
  hear({ report, code, detail }) {
    if (this.ended) return;
    if (code) this.fail(code, detail);
    else this.ears.told(report);
  }

  /**
   * Has the author do something in the copy, and lets time go by.
   * @param {{do: string, [more: string]: any} | null} deed @param {number} seconds
   */
  go(deed, seconds) {
    if (this.begun && !this.ended) this.replica.post({ type: 'try-on', deed, seconds });
  }

  /** @param {string} code @param {any} [detail] */
  fail(code, detail = null) {
    if (this.ended) return;
    this.end();
    this.ears.failed(new CoreError(code, detail));
  }

  /** Lets go of the copy. */
  end() {
    if (this.ended) return;
    this.ended = true;
    if (this.begun) this.replica.post({ type: 'try-end' });
    if (this.replica.trial === this) this.replica.trial = null;
    // A sketch is for one try.
    if (this.task.name !== undefined) this.replica.stop();
  }
}
