// @ts-check
/** One measured figure and what was promised of it. */

/**
 * @typedef {object} Figure
 * @property {string} figure
 * @property {number | null} value nothing where it cannot be measured
 * @property {string} unit
 * @property {number} [at_most]
 * @property {number} [at_least]
 * @property {boolean} [strict] fails past its bound, and not only past twice of it
 */

/**
 * @typedef {object} Place
 * @property {import('../harness/plaza.mjs').Plaza} plaza
 * @property {import('playwright-core').Browser} browser
 */

/** @param {Figure} figure is it as promised, as far as anything is? */
export function holds({ value, at_most, at_least }) {
  if (value === null) return true;
  return (at_most === undefined || value <= at_most) && (at_least === undefined || value >= at_least);
}

/** @param {Figure} figure is it past twice the bound? Machines differ, but not by that */
export function fails({ value, at_most, at_least, strict }) {
  if (value === null) return false;
  if (strict) return !holds({ figure: '', unit: '', value, at_most, at_least });
  return (at_most !== undefined && value > 2 * at_most) || (at_least !== undefined && 2 * value < at_least);
}

/** @param {Figure} figure */
function verdict(figure) {
  if (figure.value === null) return 'not measured here';
  if (figure.at_most === undefined && figure.at_least === undefined) return '';
  if (holds(figure)) return 'ok';
  return fails(figure) ? 'FAILS' : 'past its bound';
}

/** @param {Figure} figure */
export function line(figure) {
  const { value, at_most, at_least, unit } = figure;
  const bound = at_most !== undefined ? `at most ${at_most}` : at_least !== undefined ? `at least ${at_least}` : '';
  const shown = value === null ? '-' : String(value);
  return `${figure.figure.padEnd(44)}${shown.padStart(9)} ${unit.padEnd(12)}${bound.padEnd(16)}${verdict(figure)}`.trimEnd();
}

/** To three decimals. @param {number} value */
export const thousandth = (value) => Math.round(value * 1_000) / 1_000;

/** To one decimal. @param {number} value */
export const tenth = (value) => Math.round(value * 10) / 10;

/** The value below which so much of a sample is. @param {number[]} sample @param {number} share */
export function quantile(sample, share) {
  const sorted = [...sample].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
