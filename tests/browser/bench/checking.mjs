// @ts-check
/** What it costs a tab to check what it shows, and to compute all of it. */

import { Tab } from '../harness/tab.mjs';
import { workers } from '../harness/process.mjs';
import { until } from '../harness/wait.mjs';
import { tenth } from './figure.mjs';

/** Milliseconds for which a worker is watched. */
const WATCHED = 20_000;

/** @param {import('playwright-core').Browser} browser */
const pidOf = async (browser) => {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  return processInfo.find(({ type }) => type === 'browser')?.id ?? 0;
};

/** @param {number} pid @param {Set<string>} [known] the seconds of a worker that is not known yet */
function used(pid, known = new Set()) {
  const found = [...workers(pid)].filter(([name]) => !known.has(name));
  if (found.length !== 1) throw new Error(`${found.length} workers where one is looked for`);
  return found[0];
}

/** Processor seconds a second of a worker, for a while. @param {number} pid @param {Set<string>} known @param {Tab} tab */
async function share(pid, known, tab) {
  const [, before] = used(pid, known);
  const [began, from] = [performance.now(), await tab.read((page) => page.client.status.height)];
  await until('the time is over', () => performance.now() - began > WATCHED, WATCHED * 2);
  const [, after] = used(pid, known);
  const turns = (await tab.read((page) => page.client.status.height)) - from;
  const seconds = (performance.now() - began) / 1_000;
  return { percent: tenth(((after - before) / seconds) * 100), perTurn: ((after - before) * 1_000) / turns, rate: turns / seconds };
}

/** @param {import('./figure.mjs').Place} place @returns {Promise<import('./figure.mjs').Figure[]>} */
export async function checking({ plaza, browser }) {
  const pid = await pidOf(browser);
  const tab = await Tab.open(browser, plaza.address(0), { name: 'Checker' });
  await tab.badge('green');
  const proving = await share(pid, new Set(), tab);

  const known = new Set(workers(pid).keys());
  const asked = performance.now();
  await tab.read((page) => page.client.setReplica(true));
  await tab.until('the replica follows', (page) => page.client.replica.phase === 'following', null, 120_000);
  const caught = performance.now() - asked;
  const replica = await share(pid, known, tab);
  await tab.close();
  return [
    { figure: 'checking proofs', value: proving.percent, unit: '% of a core', at_most: 5 },
    { figure: 'turns while checking', value: tenth(proving.rate), unit: 'turns/s' },
    { figure: 'replica in the tab', value: replica.percent, unit: '% of a core' },
    { figure: 'replica in the tab, per turn', value: tenth(replica.perTurn), unit: 'ms' },
    { figure: 'replica: snapshot to following', value: Math.round(caught), unit: 'ms' },
  ];
}
