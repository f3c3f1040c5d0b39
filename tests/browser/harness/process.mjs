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

/**
 * The threads of a process whose name begins so; their processor time is their own.
 * @param {number} pid @param {RegExp} name
 * @returns {Map<string, number>} seconds by `process/thread`
 */
export function threads(pid, name) {
  const found = new Map();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const path = `/proc/${pid}/task/${thread}`;
    try {
      if (name.test(readFileSync(`${path}/comm`, 'utf8'))) found.set(`${pid}/${thread}`, used(`${path}/stat`));
    } catch {
      // It ended while it was looked at.
    }
  }
  return found;
}

/**
 * The dedicated workers of all tabs of a browser.
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
      // So did this process.
    }
  }
  const found = new Map();
  const queue = [browser];
  for (let pid = queue.pop(); pid !== undefined; pid = queue.pop()) {
    queue.push(...(children.get(pid) ?? []));
    for (const [thread, seconds] of threads(pid, /^DedicatedWorker/)) found.set(thread, seconds);
  }
  return found;
}
