// @ts-check
/**
 * The page against the figures that are promised. Prints a table, or with `--json` a line for each
 * figure; exit code 1 when one is past twice its bound, or past a bound that is strict. Only a release build
 * says anything. `node bench.mjs crossing` measures these alone.
 */

import { cpus } from 'node:os';

import { arrival } from './bench/arrival.mjs';
import { catchingUp } from './bench/catching_up.mjs';
import { crossing } from './bench/crossing.mjs';
import { drawing } from './bench/drawing.mjs';
import { checking } from './bench/checking.mjs';
import { others } from './bench/others.mjs';
import { weight } from './bench/weight.mjs';
import { fails, line } from './bench/figure.mjs';
import { launch } from './harness/chromium.mjs';
import { Plaza, PROGRAM } from './harness/plaza.mjs';

const json = process.argv.includes('--json');
const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const note = (/** @type {string} */ text) => console.error(text);

const all = { weight, arrival, others, drawing, checking, catchingUp, crossing };
const unknown = wanted.filter((word) => !Object.hasOwn(all, word));
if (unknown.length > 0) {
  note(`unknown: ${unknown.join(', ')}; known are ${Object.keys(all).join(', ')}`);
  process.exit(2);
}
const chosen = Object.entries(all).filter(([what]) => wanted.length === 0 || wanted.includes(what));

/** @type {import('./bench/figure.mjs').Figure[]} */
const figures = [];
let plaza = /** @type {Plaza | null} */ (null);
const server = await launch();
try {
  for (const [what, measure] of chosen) {
    note(`measuring: ${what}`);
    // A border is in a world of its own, and nothing else is to run beside it.
    if (measure === crossing) {
      await plaza?.stop();
      plaza = null;
    } else plaza ??= await Plaza.start();
    const found = await measure({ plaza: /** @type {Plaza} */ (plaza), browser: server });
    for (const figure of found) {
      figures.push(figure);
      console.log(json ? JSON.stringify(figure) : line(figure));
    }
  }
} finally {
  await server.close();
  await plaza?.stop();
}
const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, program: PROGRAM, drawing: 'software' };
console.log(json ? JSON.stringify({ machine }) : `machine: ${machine.cpu}, ${machine.cores} cores, drawn in software, ${machine.program}`);
const past = figures.filter(fails).map(({ figure }) => figure);
if (past.length > 0) {
  note(`past twice the bound, or past a strict one: ${past.join(', ')}`);
  process.exitCode = 1;
}
