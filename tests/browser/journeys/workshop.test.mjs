// @ts-check
/** Somebody writes a script in the page, publishes it, mends what runs, and forks what others wrote. */

import assert from 'node:assert/strict';

import { setting } from '../harness/journey.mjs';
import { pasted, written } from '../harness/source.mjs';
import { t } from '../harness/tab.mjs';

const journey = setting({ servers: 1 });

/** A script that shows this word when it is touched. @param {string} word @param {string} [tell] a function */
const showing = (word, tell = 'say') => `fn on_touch(other) {\n    self_.text = "${word}";\n    ${tell}("${word}");\n}\n`;

/** Leaves the sim, so that nobody stands where the next one builds. @param {import('../harness/tab.mjs').Tab} tab */
async function gone(tab) {
  await tab.read((page) => page.client.leave());
}

/** Builds a box some steps to the north of where people arrive. @param {import('../harness/tab.mjs').Tab} tab */
async function built(tab) {
  const own = /** @type {number} */ (await tab.read((page) => page.client.me));
  await tab.page.keyboard.down('w');
  await tab.until('she is out of the way', (page, id) => page.client.sight.known(id)?.y > -1.5, own);
  await tab.page.keyboard.up('w');
  await tab.until('she stands', (page, id) => page.client.sight.known(id)?.vy === 0, own);
  await tab.panel('build');
  await tab.page.getByRole('button', { name: t('kind.box'), exact: true }).click();
  await tab.page.keyboard.press('Enter');
  const id = await tab.until('her box is there', (page) =>
    [...page.client.sight.objects.values()].find((thing) => thing.kind === 'block' && thing.owner === page.identity.public)?.id);
  await tab.page.keyboard.press('Escape');
  return /** @type {number} */ (id);
}

/** Opens the workshop for a thing of one's own, and gives it. @param {import('../harness/tab.mjs').Tab} tab @param {number} id */
async function workshop(tab, id) {
  const name = await tab.read((page, which) => {
    page.select(which);
    return page.client.sight.objects.get(which).name;
  }, id);
  await tab.page.getByRole('region', { name, exact: true }).getByRole('button', { name: t('panel.script'), exact: true }).click();
  return shown(tab);
}

/** The workshop, once there is something in it. @param {import('../harness/tab.mjs').Tab} tab */
async function shown(tab) {
  const panel = tab.page.getByRole('region', { name: t('panel.script'), exact: true });
  const source = panel.getByRole('textbox', { name: t('editor'), exact: true });
  await source.waitFor();
  return { panel, source, publish: panel.getByRole('button', { name: t('script.publish'), exact: true }) };
}

/** Touches a thing until it shows a word. @param {import('../harness/tab.mjs').Tab} tab @param {number} id @param {string} word */
async function touched(tab, id, word) {
  await tab.walkTo(id);
  await tab.read((page, which) => page.touch(which), id);
  await tab.until(`the box shows ${word}`, (page, [which, text]) => page.client.sight.objects.get(which)?.text === text, /** @type {const} */ ([id, word]));
}

/** The packages of the scripts of a thing. @param {import('../harness/tab.mjs').Tab} tab @param {number} id */
async function running(tab, id) {
  return tab.read(async (page, which) => (await page.client.things()).find((/** @type {any} */ thing) => thing.object === which).scripts, id);
}

/** A script that logs a touch, and fails soon after it. */
const WATCHED = `fn on_touch(other) {
    log(\`touched by \${other.name}\`);
    self_.text = "seen";
    timer("late", 0.2);
}

fn on_timer(name) {
    let parts = [1];
    self_.color = parts[7];
}
`;

journey('an author watches what her script logs and uses, and where it fails, while the sim goes on', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada' });
  const id = await built(ada);
  const { source, publish } = await workshop(ada, id);
  await pasted(source, WATCHED);
  await publish.click();
  await ada.page.getByText(t('script.runs'), { exact: true }).waitFor();

  const name = await ada.read((page, which) => {
    page.unselect();
    page.select(which);
    return page.client.sight.objects.get(which).name;
  }, id);
  const panel = ada.page.getByRole('region', { name, exact: true });
  await panel.getByRole('button', { name: t('live'), exact: true }).click();
  await panel.getByText(/^Watched for/).waitFor();
  await touched(ada, id, 'seen');
  const lines = panel.getByRole('list', { name: t('live.lines'), exact: true });
  await lines.getByText(t('try.logged', { text: 'touched by Ada' }), { exact: true }).waitFor();
  await lines.getByText(/^Failed in .*line 9, column .*there is no place 7/).waitFor();
  await panel.getByText('on_touch', { exact: true }).waitFor();
  await ada.picture('watched');
  await panel.getByRole('button', { name: t('live.end'), exact: true }).click();
  await lines.waitFor({ state: 'hidden' });
  await gone(ada);
});

journey('a script with a mistake says where, and mended and published it runs on a box of one\'s own', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada' });
  const id = await built(ada);
  const fetched = () => ada.page.evaluate(() => performance.getEntriesByType('resource').filter(({ name }) => name.includes('codemirror')).length);
  assert.equal(await fetched(), 0, 'whoever writes no script fetches no editor');
  const { panel, source, publish } = await workshop(ada, id);
  assert.equal(await fetched(), 1);
  // What one begins with works as it is.
  await panel.getByText(t('script.good'), { exact: true }).waitFor();
  await panel.getByText(t('publish.anybody'), { exact: true }).waitFor();

  await pasted(source, showing('once', 'sya'));
  await panel.getByText(t('script.mistake'), { exact: true }).waitFor();
  assert.ok(await publish.isDisabled());
  await ada.picture('workshop');
  await source.getByText('sya', { exact: true }).hover();
  await panel.getByText(/sya/).and(panel.locator('.cm-diagnosticText')).waitFor();
  await ada.picture('editor-mistake');
  await panel.getByRole('button', { name: /^Line 3: .*sya/ }).click();
  for (const key of ['Delete', 'Delete', 'Delete']) await ada.page.keyboard.press(key);
  await ada.page.keyboard.type('sa');
  await panel.getByRole('option', { name: 'say', exact: true }).waitFor();
  await panel.getByText('the object says something').filter({ visible: true }).waitFor();
  await ada.picture('editor-offers');
  await ada.page.keyboard.press('Enter');
  await panel.getByText(t('script.good'), { exact: true }).waitFor();
  assert.equal(await written(source), showing('once'));

  // Escape closes what is offered, and then leads out; what was typed can be taken back, also what a key did.
  await ada.page.keyboard.press('ControlOrMeta+End');
  await ada.page.keyboard.type('fn help(x) {');
  await ada.page.keyboard.press('Enter');
  await ada.page.keyboard.type('sa');
  await panel.getByRole('option', { name: 'say', exact: true }).waitFor();
  await ada.page.keyboard.press('Escape');
  await panel.getByRole('option', { name: 'say', exact: true }).waitFor({ state: 'hidden' });
  await ada.page.keyboard.press('Tab');
  assert.equal(await written(source), `${showing('once')}fn help(x) {\n        sa\n}`);
  while ((await written(source)) !== showing('once')) await ada.page.keyboard.press('ControlOrMeta+z');

  await publish.click();
  await ada.page.getByText(t('script.runs'), { exact: true }).waitFor();
  await touched(ada, id, 'once');
  await gone(ada);
});

journey('a script is tried on a copy of the sim: what it does is seen here, and nobody else sees any of it', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada' });
  const bob = await open(plaza.address(0), { name: 'Bob' });
  const id = await built(ada);
  await bob.until('the box is there', (page, which) => page.client.sight.objects.has(which), id);
  const { panel, source, publish } = await workshop(ada, id);
  await pasted(source, `fn on_start() { log("it begins"); }\n${showing('tried')}fn on_chat(from, text) {\n    sound("bell");\n    let none = [][text.len()];\n}\n`);
  await panel.getByText(t('script.good'), { exact: true }).waitFor();

  const began = Date.now();
  await panel.getByRole('button', { name: t('try'), exact: true }).click();
  const card = panel.getByRole('region', { name: t('try.title'), exact: true });
  await card.getByText(t('try.logged', { text: 'it begins' }), { exact: true }).waitFor();
  await card.getByText(/^Time stands still/).waitFor();
  process.stdout.write(`# a try with the state fetched: ${Date.now() - began} ms\n`);
  await card.getByRole('button', { name: t('try.touch'), exact: true }).click();
  await card.getByText(t('try.said', { name: 'block', text: 'tried' }), { exact: true }).waitFor();
  await card.getByRole('textbox', { name: t('try.say'), exact: true }).fill('hello');
  await card.getByRole('button', { name: t('chat.send'), exact: true }).click();
  await card.getByRole('button', { name: /^Failed in script\.rhai, line 8, column/ }).waitFor();
  await ada.picture('try');
  for (const tab of [ada, bob]) {
    assert.notEqual(await tab.read((page, which) => page.client.sight.objects.get(which).text, id), 'tried');
  }
  assert.deepEqual(await running(ada, id), [], 'nothing was published');

  const again = Date.now();
  await panel.getByRole('button', { name: t('try'), exact: true }).click();
  await card.getByText(/^Time stands still/).waitFor();
  process.stdout.write(`# a try with the state there: ${Date.now() - again} ms\n`);
  await card.getByRole('button', { name: t('try.end'), exact: true }).click();
  await card.waitFor({ state: 'hidden' });
  await publish.click();
  await ada.page.getByText(t('script.runs'), { exact: true }).waitFor();
  await gone(ada);
  await gone(bob);
});

journey('what was typed outlives a reload, Escape and Tab lead out of the editor, and an upgrade takes the place of what ran', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada' });
  const id = await built(ada);
  const first = await workshop(ada, id);
  await pasted(first.source, showing('first'));
  await ada.page.reload();
  await ada.here();
  await ada.until('her box is there', (page, which) => page.client.sight.objects.has(which), id);
  const { source, panel, publish } = await workshop(ada, id);
  assert.equal(await written(source), showing('first'));
  await panel.getByText(t('script.again'), { exact: true }).waitFor();

  await source.press('Tab');
  assert.match(await written(source), /^ {4}fn|\n {4}$/);
  await pasted(source, showing('first'));
  await source.press('Escape');
  await ada.page.keyboard.press('Tab');
  await ada.until('the next field has the focus', () => document.activeElement?.closest('.field') !== null);
  await publish.click();
  await ada.page.getByText(t('script.runs'), { exact: true }).waitFor();
  await touched(ada, id, 'first');
  const [before] = await running(ada, id);

  const again = await workshop(ada, id);
  assert.equal(await written(again.source), showing('first'));
  await pasted(again.source, showing('second'));
  await again.panel.getByText(t('script.versions'), { exact: true }).click();
  await again.panel.getByRole('button', { name: t('script.version.changes') }).first().click();
  await again.panel.getByText(/^\+\s+self_\.text = "second";$/).waitFor();
  await again.publish.click();
  await ada.until('another package runs', async (page, [which, old]) => {
    const own = (await page.client.things()).find((/** @type {any} */ thing) => thing.object === which);
    return own.scripts.length === 1 && own.scripts[0].package !== old;
  }, /** @type {const} */ ([id, before.package]));
  const [now] = await running(ada, id);
  assert.equal(now.script, before.script, 'it is the same script');
  const { manifest } = await ada.read((page, which) => page.client.source(which), now.package);
  assert.deepEqual([manifest.parent, manifest.version], [before.package, '1.0.1']);
  await touched(ada, id, 'second');
  await gone(ada);
});

journey('a fork of the door names the door as its parent, and runs beside what ran', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada' });
  const id = await built(ada);
  const door = await ada.thing('door');
  await ada.read((page, which) => page.select(which), door.id);
  await ada.page.getByRole('region', { name: 'door', exact: true }).getByRole('button', { name: t('script.fork'), exact: true }).click();
  const { source, panel, publish } = await shown(ada);
  assert.match(await written(source), /^\/\/ A sliding door\./);

  // What may not be is said in words, and nothing is published.
  const licence = panel.getByRole('combobox', { name: t('script.licence'), exact: true });
  await licence.fill('MIT');
  await publish.click();
  await panel.getByText(t('no.BadPackage')).waitFor();
  await licence.fill('AGPL-3.0-or-later');
  await panel.getByRole('combobox', { name: t('script.on'), exact: true }).selectOption({ value: String(id) });
  await publish.click();
  await ada.page.getByText(t('script.runs'), { exact: true }).waitFor();

  const [script] = await running(ada, id);
  const fork = await ada.read((page, which) => page.client.source(which), script.package);
  const of = await ada.read(async (page, which) => (await page.client.scripts()).find((/** @type {any} */ each) => each.object === which).package, door.id);
  assert.equal(fork.manifest.parent, of);
  assert.deepEqual(fork.manifest.authors.map((/** @type {any} */ author) => author.name), ['The Metatopia authors', ada.name]);
  assert.equal(fork.verified, true);
});

journey('on a phone the workshop fits, and its letters are large enough not to be zoomed at', async ({ plaza, open }) => {
  const ada = await open(plaza.address(0), { name: 'Ada', phone: true });
  const door = await ada.thing('door');
  const packages = await ada.read(async (page, which) => (await page.client.scripts()).filter((/** @type {any} */ each) => each.object === which), door.id);
  await ada.read((page, fork) => page.dock.show('script', { fork }), packages[0].package);
  const { panel, source, publish } = await shown(ada);
  const size = await source.evaluate((field) => Number.parseFloat(getComputedStyle(field).fontSize));
  assert.ok(size >= 16, `${size} px`);
  await source.tap();
  await ada.page.keyboard.press('ControlOrMeta+Home');
  await ada.page.keyboard.type('// ');
  await ada.page.keyboard.press('Enter');
  await ada.page.keyboard.type('self_.');
  await panel.getByRole('option', { name: 'color', exact: true }).waitFor();
  await ada.picture('editor-phone');
  await panel.getByRole('option', { name: 'color', exact: true }).tap();
  assert.match(await written(source), /^\/\/ \nself_\.color\/\/ A sliding/);
  while (!/^\/\/ A sliding/.test(await written(source))) await ada.page.keyboard.press('ControlOrMeta+z');
  await publish.scrollIntoViewIfNeeded();
  const wide = await ada.page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(wide <= 0, `${wide} px too wide`);
  await ada.picture('workshop-phone');
  const trial = ada.page.getByRole('button', { name: t('try'), exact: true });
  await trial.click();
  const card = ada.page.getByRole('region', { name: t('try.title'), exact: true });
  await card.getByText(t('try.nowhere'), { exact: true }).waitFor();
  await ada.picture('try-phone');
});
