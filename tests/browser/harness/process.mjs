// @ts-check
/** What processes and their threads use, where the system says so. */

import { readFileSync, readdirSync } from 'node:fs';

/** Clock ticks a second of /proc: the same on every Linux. */
const TICKS = 100;

/** Seconds of processor time in a line of /proc/PID/stat. @param {string} path */
function used(path) {
  const text = readFileSync(path, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** @param {number} pid */
export const processSeconds = (pid) => used(`/proc/${pid}/stat`);

/**
 * The dedicated workers of all tabs of a browser, as threads: their processor time is their own.
 * @param {number} browser its process id
 * @returns {Map<string, number>} seconds by `process/thread`
 */
export function workers(browser) {
  /** @type {Map<number, number[]>} */
  const children = new Map();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number)) {
    try {
      const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const parent = Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]);
      children.set(parent, [...(children.get(parent) ?? []), pid]);
    } catch {
      // It ended while it was looked at.
    }
  }
  const found = new Map();
  const queue = [browser];
  for (let pid = queue.pop(); pid !== undefined; pid = queue.pop()) {
    queue.push(...(children.get(pid) ?? []));
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const path = `/proc/${pid}/task/${thread}`;
      try {
        if (readFileSync(`${path}/comm`, 'utf8').startsWith('DedicatedWorker')) found.set(`${pid}/${thread}`, used(`${path}/stat`));
      } catch {
        // So did this thread.
      }
    }
  }
  return found;
}
