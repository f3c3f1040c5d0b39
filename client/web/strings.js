/** The words that people read. To translate the page, translate `strings.json`: all of them are there. */

import words from './strings.json' with { type: 'json' };

const WORDS = /** @type {Record<string, string>} */ (words);

/**
 * The words for a key, with values put in.
 * @param {string} key @param {Record<string, string | number>} [values]
 */
export function t(key, values = {}) {
  return (WORDS[key] ?? key).replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ''));
}

/** Whether there are words for a key. @param {string} key */
export const has = (key) => key in WORDS;

/** The words for a time that went by. @param {number} seconds */
export function age(seconds) {
  const [unit, size] = [['days', 86_400], ['hours', 3_600], ['minutes', 60]].find(([, each]) => seconds >= 2 * Number(each)) ?? ['seconds', 1];
  return t(`age.${unit}`, { n: Math.floor(seconds / Number(size)) });
}

/** The words for the reason of a proof's state. @param {{reason: string | null, detail?: string | number | null}} proof */
export function reason({ reason: code, detail }) {
  if (!code) return t('unknown');
  return has(`reason.${code}`) ? t(`reason.${code}`, { age: age(Number(detail ?? 0)) }) : code.replaceAll(/[_-]/g, ' ');
}

/** The words for a rule that refused, by its name in the protocol, with a number if it says how long. @param {string | null} code */
export function refusal(code) {
  if (!code) return t('unknown');
  const [name, n = ''] = code.split(' ');
  return has(`no.${name}`) ? t(`no.${name}`, { n }) : code.replaceAll(/([a-z])([A-Z])/g, '$1 $2').replaceAll('-', ' ').toLowerCase();
}

/** What an error says. @param {any} error with a code, or words */
export function why(error) {
  const code = error?.code;
  if (typeof code === 'string') return refusal(code);
  return code === null ? t('unknown') : String(error?.message ?? error).replace(/\.$/, '');
}
