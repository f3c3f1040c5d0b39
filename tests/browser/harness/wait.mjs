// @ts-check
/** Waiting: for conditions, never for time to pass, and never for ever. */

/**
 * How long anything may take here. The servers are builds for tests, and the machine may be busy;
 * nothing waits for all of it unless something is wrong.
 */
export const PATIENCE = 45_000;

/** Milliseconds between two looks at a condition. */
const LOOK_AGAIN = 40;

/**
 * Looks at a condition until it holds, and gives what it gave.
 * @template T
 * @param {string} what is waited for, in words
 * @param {() => T | Promise<T>} condition
 * @param {number} [patience] milliseconds
 * @returns {Promise<T>}
 */
export async function until(what, condition, patience = PATIENCE) {
  const began = performance.now();
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() - began > patience) {
      throw new Error(`waited ${Math.round(patience / 1000)} s in vain: ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN));
  }
}

/**
 * The result of a promise, or an error after a while.
 * @template T
 * @param {string} what
 * @param {Promise<T>} promise
 * @param {number} [patience] milliseconds
 * @returns {Promise<T>}
 */
export async function within(what, promise, patience = PATIENCE) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited in vain: ${what}`)), patience);
  });
  try {
    return /** @type {T} */ (await Promise.race([promise, late]));
  } finally {
    clearTimeout(timer);
  }
}
