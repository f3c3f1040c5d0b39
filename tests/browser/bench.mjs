// @ts-check
/**
 * The page against the figures that are promised. Prints a table, or with `--json` a line for each
 * figure; exit code 1 when one is past twice its bound. Only a release build says anything.
 */

import { cpus } from 'node:os';

import { arrival } from './bench/arrival.mjs';
import { catchingUp } from './bench/catching_up.mjs';
import { drawing } from './bench/drawing.mjs';
import { checking } from './bench/checking.mjs';
import { others } from './bench/others.mjs';
import { weight } from './bench/weight.mjs';
import { fails, line } from './bench/figure.mjs';
import { launch } from './harness/chromium.mjs';
import { Plaza, PROGRAM } from './harness/plaza.mjs';

const json = process.argv.includes('--json');
const note = (/** @type {string} */ text) => console.error(text);

/** @type {import('./bench/figure.mjs').Figure[]} */
const figures = [];
const plaza = await Plaza.start();
const server = await launch();
try {
  for (const [what, measure] of Object.entries({ weight, arrival, others, drawing, checking, catchingUp })) {
    note(`measuring: ${what}`);
    const found = await measure({ plaza, browser: server });
    for (const figure of found) {
      figures.push(figure);
      console.log(json ? JSON.stringify(figure) : line(figure));
    }
  }
} finally {
  await server.close();
  await plaza.stop();
}
const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, program: PROGRAM, drawing: 'software' };
console.log(json ? JSON.stringify({ machine }) : `machine: ${machine.cpu}, ${machine.cores} cores, drawn in software, ${machine.program}`);
const past = figures.filter(fails).map(({ figure }) => figure);
if (past.length > 0) {
  note(`past twice the bound: ${past.join(', ')}`);
  process.exitCode = 1;
}
