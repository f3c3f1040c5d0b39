// The worker that keeps the page's code, without a browser: its caches and its server are made here.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { createContext, runInContext } from 'node:vm';

const SCRIPT = await readFile(new URL('../../web/sw.js', import.meta.url), 'utf8');
const HOME = 'http://plaza.test';
const POLICY = "script-src 'self'";
const PAGE = `<meta http-equiv="Content-Security-Policy" content="${POLICY}"><script id="config">{{config}}</script><script src="{{assets}}/main.js"></script>`;

const sha256 = (text) => createHash('sha256').update(text).digest('hex');

/** A tree of files, and the digest that is its name. */
function tree(files) {
  const all = { 'index.html': PAGE, 'sw.js': SCRIPT, ...files };
  const list = Object.entries(all).map(([path, text]) => `${sha256(text)}  ${path}\n`).join('');
  return { code: sha256(list), files: { ...all, 'files.txt': list } };
}

/** A browser with one worker and one server, which has one tree at a time. */
class Stage {
  constructor(first) {
    this.shelves = new Map();
    this.asked = [];
    this.facts = { version: '1', stale: false, sim: 'aa', servers: [] };
    this.serve(first);
    const key = (request) => new URL(typeof request === 'string' ? request : request.url, HOME).pathname;
    const shelf = (name) => ({
      match: async (request) => this.shelves.get(name)?.get(key(request))?.clone(),
      put: async (request, response) => void this.shelves.get(name).set(key(request), response),
    });
    this.handlers = {};
    const context = createContext({
      caches: {
        has: async (name) => this.shelves.has(name),
        keys: async () => [...this.shelves.keys()],
        delete: async (name) => this.shelves.delete(name),
        open: async (name) => {
          if (!this.shelves.has(name)) this.shelves.set(name, new Map());
          return shelf(name);
        },
      },
      fetch: (request) => this.fetch(key(request)),
      location: { pathname: `/assets/${first.code}/sw.js`, origin: HOME },
      self: {
        addEventListener: (type, call) => (this.handlers[type] = call),
        skipWaiting: async () => {}, clients: { claim: async () => {} },
      },
      crypto, Response, URL, TextDecoder, AbortSignal,
    });
    runInContext(SCRIPT, context);
  }

  serve({ code, files }) {
    this.answers = new Map(Object.entries(files).map(([path, text]) => [`/assets/${code}/${path}`, text]));
    this.code = code;
    this.here = true;
  }

  async fetch(path) {
    this.asked.push(path);
    if (!this.here) throw new TypeError('failed to fetch');
    if (path === '/api/page' && this.facts) return Response.json({ ...this.facts, code: this.code });
    if (this.answers.has(path)) return new Response(this.answers.get(path));
    return new Response(`the server's own ${path}`, { status: path.startsWith('/assets') || path === '/api/page' ? 404 : 200 });
  }

  /** Tells of an event, and waits for what the worker makes of it. */
  async happens(type, event = {}) {
    let work;
    this.handlers[type]({ waitUntil: (promise) => (work = promise), ...event });
    await work;
  }

  /** What a request is answered with; nothing where the worker leaves it to the browser. */
  async get(path, mode = 'navigate', method = 'GET') {
    let answer;
    const url = new URL(path, HOME).href;
    this.handlers.fetch({ request: { url, mode, method }, respondWith: (promise) => (answer = promise) });
    return answer && (await answer).text();
  }

  async config() {
    return JSON.parse(/id="config">(.*?)<\/script>/.exec(await this.get('/'))[1]);
  }

  async use(code) {
    let told;
    await this.happens('message', { data: { do: 'use', code }, ports: [{ postMessage: (answer) => (told = answer) }] });
    return told;
  }
}

const FIRST = tree({ 'main.js': 'first', 'same.js': 'same' });
const SECOND = tree({ 'main.js': 'second', 'same.js': 'same' });

async function installed() {
  const stage = new Stage(FIRST);
  await stage.happens('install');
  await stage.happens('activate');
  return stage;
}

test('the page and its code are there when the server is gone, and nothing else is', async () => {
  const stage = await installed();
  stage.here = false;
  const { code, sim, kept } = await stage.config();
  assert.deepEqual({ code, sim, kept }, { code: FIRST.code, sim: 'aa', kept: { offered: null, answered: false } });
  assert.equal(await stage.get(`/assets/${FIRST.code}/main.js`, 'no-cors'), 'first');
  assert.match(await stage.get(`/w/${'0'.repeat(64)}?node=x`), /main\.js/);
  for (const path of ['/api/session', '/api/page', '/ws', '/source', '/metrics', '/favicon.ico', 'http://elsewhere.test/']) {
    assert.equal(await stage.get(path, path === '/source' ? 'navigate' : 'cors'), undefined, path);
  }
  assert.equal(await stage.get('/', 'navigate', 'POST'), undefined);
});

test('other code is offered, and runs from the moment that it is used', async () => {
  const stage = await installed();
  stage.serve(SECOND);
  stage.facts.version = '2';
  const before = await stage.config();
  assert.equal(before.code, FIRST.code);
  assert.equal(before.version, '1');
  assert.deepEqual(before.kept.offered, { code: SECOND.code, version: '2' });

  stage.asked = [];
  assert.equal((await stage.use(SECOND.code)).ok, true);
  assert.ok(!stage.asked.some((path) => path.endsWith('/same.js')), 'what is kept already is not fetched again');
  const after = await stage.config();
  assert.equal(after.code, SECOND.code);
  assert.equal(after.version, '2');
  assert.equal(after.kept.offered, null);
  assert.equal(await stage.get(`/assets/${SECOND.code}/same.js`, 'no-cors'), 'same');
  assert.equal(await stage.get(`/assets/${FIRST.code}/main.js`, 'no-cors'), 'first', 'other tabs still run it');
});

test('code that is not what its digest says is never used', async () => {
  const liars = [
    { code: SECOND.code, files: { ...SECOND.files, 'main.js': 'evil' } },
    { code: SECOND.code, files: { ...SECOND.files, 'files.txt': FIRST.files['files.txt'] } },
    { code: SECOND.code, files: { 'files.txt': SECOND.files['files.txt'] } },
  ];
  for (const liar of liars) {
    const stage = await installed();
    stage.serve(liar);
    const { ok } = await stage.use(SECOND.code);
    assert.equal(ok, false);
    stage.here = false;
    assert.equal((await stage.config()).code, FIRST.code);
  }
  const stage = await installed();
  for (const code of ['', '../api', `${FIRST.code}/..`]) assert.equal((await stage.use(code)).ok, false, code);
});

test('a worker that comes later uses the code that was in use', async () => {
  const stage = await installed();
  const later = new Stage(SECOND);
  later.shelves = stage.shelves;
  await later.happens('install');
  assert.equal((await later.config()).code, FIRST.code);
});

test('where another program answers by now, that one is heard', async () => {
  const stage = await installed();
  stage.facts = null;
  assert.equal(await stage.get('/'), "the server's own /");
});

test('no text of a server becomes a part of the page', async () => {
  const stage = await installed();
  stage.facts.sim = '</script><script>evil()</script>$&';
  const html = await stage.get('/');
  assert.ok(!html.includes('evil()</script>'), html);
  assert.equal((await stage.config()).sim, stage.facts.sim);
});
