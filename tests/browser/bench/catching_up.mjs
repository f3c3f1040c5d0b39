// @ts-check
/** A replica in the tab that begins at genesis, and how long ten minutes of history would take it. */

import { spawn } from 'node:child_process';

import { PROGRAM } from '../harness/plaza.mjs';
import { Tab } from '../harness/tab.mjs';
import { within } from '../harness/wait.mjs';
import { tenth } from './figure.mjs';

/** Turns in ten minutes, at 20 a second. */
const HISTORY = 12_000;

/** People who make the history that is replayed. */
const CROWD = ['--count', '20', '--rate', '5', '--duration', '40s'];

/** Replays all there is, with the page's own module and session. */
const REPLAY = async (/** @type {any} */ page) => {
  const { assets, sim } = JSON.parse(document.getElementById('config')?.textContent ?? '{}');
  const { Module } = await import(`${assets}/prove/module.js`);
  const { client } = page;
  const module = await Module.compiled(client.compiled);
  const replica = module.replica(client.genesis.bytes, sim, 'genesis');
  const to = client.status.height;
  const began = performance.now();
  let turns = 0;
  while (turns < to) {
    const want = replica.want();
    if (want === null) break;
    const question = want.ask === 'links' ? { Links: { after: want.after } } : { Turns: { from: want.from } };
    const { frame } = await client.raw(question);
    turns += replica.frame(frame).applied;
  }
  const took = performance.now() - began;
  const status = replica.status();
  replica.free();
  return { turns, took, equal: status.ownRoot !== null && status.ownRoot === status.statedRoot };
};

/** @param {import('./figure.mjs').Place} place @returns {Promise<import('./figure.mjs').Figure[]>} */
export async function catchingUp({ plaza, browser }) {
  const nodes = plaza.servers.map((server) => server.http).join(',');
  const bots = spawn(PROGRAM, ['bots', '--node', nodes, ...CROWD], { stdio: 'ignore' });
  await within('a crowd makes history', new Promise((resolve) => bots.once('exit', resolve)), 180_000);
  const tab = await Tab.open(browser, plaza.address(0), { name: 'Historian' });
  await tab.badge('green');
  const { turns, took, equal } = await tab.read(REPLAY);
  await tab.close();
  return [
    { figure: 'turns replayed from genesis', value: turns, unit: 'turns' },
    { figure: 'roots equal at the end', value: equal ? 1 : 0, unit: '', at_least: 1 },
    { figure: 'ten minutes of history, at that rate', value: tenth((took / turns) * (HISTORY / 1_000)), unit: 's', at_most: 20 },
  ];
}
