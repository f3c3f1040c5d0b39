// @ts-check
/**
 * The pictures of the README, made by going there: docs/images/plaza.png, phone.png, dark.png, and ten
 * seconds of a visit as plaza.webp.
 */

import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { launch } from './harness/chromium.mjs';
import { Plaza, PROGRAM, ROOT } from './harness/plaza.mjs';
import { Tab, t } from './harness/tab.mjs';
import { until, within } from './harness/wait.mjs';

const IMAGES = join(ROOT, 'docs/images');

/** People who walk about in the background, what each does in a second, and for how long at most. */
const CROWD = { count: 9, rate: 2, duration: '120s' };

/** How much a person sees. */
const SCREEN = { width: 1280, height: 800 };

/** The film: its size, its length in milliseconds, frames a second, and the most bytes it may have. */
const FILM = { width: 960, height: 600, length: 10_000, rate: 12, bytes: 2_000_000 };

/** From the best quality on, until the film is small enough. */
const QUALITIES = [62, 50, 40, 30];

/** Lets so much time pass: a film has its own pace. @param {number} ms */
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** People in the background; ends with the function it returns. @param {Plaza} plaza */
function crowd(plaza) {
  const { count, rate, duration } = CROWD;
  const nodes = plaza.servers.map((server) => server.http).join(',');
  const bots = spawn(PROGRAM, ['bots', '--node', nodes, '--count', String(count), '--rate', String(rate), '--duration', duration], { stdio: 'ignore' });
  const ended = new Promise((resolve) => bots.once('exit', resolve));
  return async () => {
    bots.kill('SIGINT');
    await within('the crowd goes home', ended);
  };
}

/** What happens in the film. @param {Tab} ada @param {Tab} bob */
async function story(ada, bob) {
  const keys = ada.page.keyboard;
  await ada.say('Push that crate with me?');
  await pause(900);
  await bob.say('Sure!');
  const crate = await ada.thing('crate');
  await ada.read((page, id) => page.input.walkTo(id), crate.id);
  await ada.until('the walk ends', (page) => page.input.goal === null);
  await keys.press('f');
  await pause(700);
  await keys.press('f');
  await pause(500);
  await keys.press('3');
  await bob.page.keyboard.press('5');
  await pause(600);
  await keys.down('w');
  await pause(1_600);
  await keys.up('w');
  await ada.say('help');
  await pause(1_800);
}

/** Films what a tab shows. @param {Tab} tab @param {() => Promise<void>} play @returns {Promise<string>} the frames' folder */
async function shoot(tab, play) {
  const folder = mkdtempSync(join(tmpdir(), 'metatopia-film-'));
  const camera = await tab.context.newCDPSession(tab.page);
  /** @type {{at: number, data: string}[]} */
  const seen = [];
  camera.on('Page.screencastFrame', ({ data, metadata, sessionId }) => {
    seen.push({ at: (metadata.timestamp ?? 0) * 1_000, data });
    camera.send('Page.screencastFrameAck', { sessionId }).catch(() => {});
  });
  await camera.send('Page.startScreencast', { format: 'jpeg', quality: 92, maxWidth: FILM.width, maxHeight: FILM.height });
  const playing = play();
  await until('the film is long enough', () => seen.length > 1 && seen[seen.length - 1].at - seen[0].at > FILM.length);
  await camera.send('Page.stopScreencast');
  await playing;
  // One picture for each moment: the last that was seen by then.
  let next = 0;
  for (let n = 0; n < (FILM.length / 1_000) * FILM.rate; n += 1) {
    const moment = seen[0].at + (n * 1_000) / FILM.rate;
    while (next + 1 < seen.length && seen[next + 1].at <= moment) next += 1;
    writeFileSync(join(folder, `${String(n).padStart(4, '0')}.jpg`), Buffer.from(seen[next].data, 'base64'));
  }
  return folder;
}

/** Makes the film of its frames, as good as fits. @param {string} folder */
function develop(folder) {
  const path = join(IMAGES, 'plaza.webp');
  for (const quality of QUALITIES) {
    const delay = String(Math.round(1_000 / FILM.rate));
    const script = `img2webp -loop 0 -min_size -lossy -q ${quality} -m 6 -d ${delay} "${folder}"/*.jpg -o "${path}"`;
    const made = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
    if (made.status !== 0) throw new Error(`img2webp: ${made.stderr}`);
    const { size } = statSync(path);
    console.log(`${path}: ${size} bytes at quality ${quality}`);
    if (size <= FILM.bytes) return;
  }
  throw new Error(`the film stays above ${FILM.bytes} bytes`);
}

const plaza = await Plaza.start();
const browser = await launch();
mkdirSync(IMAGES, { recursive: true });
process.env.PICTURES ??= IMAGES;
const home = crowd(plaza);
try {
  const ada = await Tab.open(browser, plaza.address(0), { name: 'Ada', ...SCREEN });
  const bob = await Tab.open(browser, plaza.address(1, { carrier: 'websocket' }), { name: 'Bob', ...SCREEN });
  await ada.badge('green');
  const folder = await shoot(ada, () => story(ada, bob));
  develop(folder);
  rmSync(folder, { recursive: true });

  await bob.say('The turntable is fun.');
  await ada.hears('The turntable is fun.');
  await ada.page.screenshot({ path: join(IMAGES, 'plaza.png') });

  const cleo = await Tab.open(browser, plaza.address(2), { name: 'Cleo', phone: true });
  await cleo.badge('green');
  await bob.say('Hello Cleo!');
  await cleo.hears('Hello Cleo!');
  await cleo.page.screenshot({ path: join(IMAGES, 'phone.png') });

  const dora = await Tab.open(browser, plaza.address(3), { name: 'Dora', scheme: 'dark' });
  await dora.badge('green');
  const door = await dora.thing('door');
  await dora.read((page, id) => page.select(id), door.id);
  await dora.page.getByText(t('script.verified')).waitFor();
  await dora.page.getByRole('button', { name: t('script.read') }).click();
  await dora.page.getByText('fn on_touch').first().waitFor();
  await dora.page.screenshot({ path: join(IMAGES, 'dark.png') });
} finally {
  await home().catch(() => {});
  await browser.close();
  await plaza.stop();
}
