/**
 * Keeps the page's code in this browser, so that the page opens when the server that it came from is
 * gone, and so that no server changes the code unasked.
 *
 * The code is the tree below `/assets/CODE/`. CODE is the SHA-256 of `files.txt` there, which lists
 * the SHA-256 of every file: so nothing is kept that is not what its name says. One code is used.
 * Another one that the server has by now is fetched, checked and used only when the page says so.
 *
 * Whatever is no page and no code goes to the server as if this worker were not there.
 */

const worker = /** @type {any} */ (self);

/** The code that this worker came with. */
const OWN = location.pathname.split('/').at(-2) ?? '';

/** Where a code is kept, and where it is noted which one is used and what the server last said. */
const SHELF = 'metatopia-code-';
const NOTES = 'metatopia-notes';

/** A server that does not say within this time what stands beside the code is taken to be gone. */
const ANSWER_MS = 3_000;

const PAGE = /^\/(w\/[0-9a-f]{64})?$/;
const CODE = /^[0-9a-f]{64}$/;

/** What files are, by the ends of their names: what a server says of it is not in the digest. */
const KINDS = {
  js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8', html: 'text/html; charset=utf-8', svg: 'image/svg+xml',
  json: 'application/json', txt: 'text/plain; charset=utf-8', webmanifest: 'application/manifest+json', wasm: 'application/wasm',
  png: 'image/png', ico: 'image/x-icon',
};

/** @param {ArrayBuffer} bytes */
async function sha256(bytes) {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return [...hash].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** @param {string} name @returns {Promise<any>} */
async function note(name) {
  const found = await (await caches.open(NOTES)).match(`/${name}`);
  return found ? found.json() : null;
}

/** @param {string} name @param {any} value */
async function write(name, value) {
  await (await caches.open(NOTES)).put(`/${name}`, new Response(JSON.stringify(value)));
}

/** @param {string} code @param {string} path */
const address = (code, path) => `/assets/${code}/${path}`;

/** A file of a code that is kept. @param {string} code @param {string} path @returns {Promise<Response | undefined>} */
async function kept(code, path) {
  if (!(await caches.has(SHELF + code))) return undefined;
  return (await caches.open(SHELF + code)).match(address(code, path));
}

/** A file of the server, if it has this hash. @param {string} at @param {string} hash */
async function fetched(at, hash) {
  const answer = await fetch(at);
  if (!answer.ok) throw new Error(`${at}: ${answer.status}`);
  const bytes = await answer.arrayBuffer();
  if ((await sha256(bytes)) !== hash) throw new Error(`${at} is not what its digest says`);
  return bytes;
}

/** The files of a list, as paths by their hashes. @param {string} list @returns {[string, string][]} */
const entries = (list) => list.split('\n').filter(Boolean).map((line) => [line.slice(0, 64), line.slice(66)]);

/** Fetches all files of a code and checks each one; what is kept already is not fetched again. @param {string} code */
async function keep(code) {
  if (await kept(code, 'files.txt')) return;
  const list = await fetched(address(code, 'files.txt'), code);
  const before = (await note('use'))?.code ?? '';
  const old = await kept(before, 'files.txt');
  const known = new Map(old ? entries(await old.text()) : []);
  const files = entries(new TextDecoder().decode(list));
  const page = files.find(([, path]) => path === 'index.html');
  if (!page) throw new Error(`${code} has no page`);
  const headers = { 'content-security-policy': policyOf(new TextDecoder().decode(await fetched(address(code, 'index.html'), page[0]))) };
  const shelf = await caches.open(SHELF + code);
  const put = (/** @type {string} */ path, /** @type {ArrayBuffer} */ bytes) => {
    const type = KINDS[/** @type {keyof typeof KINDS} */ (path.split('.').at(-1))] ?? 'application/octet-stream';
    return shelf.put(address(code, path), new Response(bytes, { headers: { ...headers, 'content-type': type, 'x-content-type-options': 'nosniff' } }));
  };
  await Promise.all(files.map(async ([hash, path]) => {
    const same = known.has(hash) ? await kept(before, known.get(hash) ?? '') : undefined;
    await put(path, same ? await same.arrayBuffer() : await fetched(address(code, path), hash));
  }));
  // The list comes last: where it is, all of it is.
  await put('files.txt', list);
}

/** What a page may load, in its own words. @param {string} html */
function policyOf(html) {
  return /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? "default-src 'none'";
}

/** Uses a code from now on. The one before stays for the tabs that still run it. @param {string} code */
async function use(code) {
  if (!CODE.test(code)) throw new Error('that is no digest');
  await keep(code);
  const before = (await note('use'))?.code ?? code;
  await write('use', { code });
  for (const name of await caches.keys()) {
    if (name.startsWith(SHELF) && name !== SHELF + code && name !== SHELF + before) await caches.delete(name);
  }
}

/** What the server says beside the code; nothing where it is gone, and `false` where it is no node of Metatopia. */
async function asked() {
  try {
    const answer = await fetch('/api/page', { credentials: 'omit', cache: 'no-store', signal: AbortSignal.timeout(ANSWER_MS) });
    if (answer.status === 404) return false;
    if (!answer.ok) return null;
    const facts = await answer.json().catch(() => null);
    if (!CODE.test(facts?.code)) return false;
    await write('said', facts);
    await write(`said/${facts.code}`, facts);
    return facts;
  } catch {
    return null;
  }
}

/** The page, of the code that is used. @param {Request} request */
async function page(request) {
  const code = (await note('use'))?.code ?? '';
  const template = await kept(code, 'index.html');
  if (!template || !(await kept(code, 'files.txt'))) return fetch(request);
  const now = await asked();
  // Something else is at this address by now.
  if (now === false) return fetch(request);
  const { sim = null, servers = [] } = now ?? (await note('said')) ?? {};
  const { version = '', stale = false } = (await note(`said/${code}`)) ?? {};
  const assets = `/assets/${code}`;
  const offered = now && now.code !== code ? { code: now.code, version: String(now.version) } : null;
  const config = JSON.stringify({
    assets, wasm: (await kept(code, 'metatopia.wasm')) ? `${assets}/metatopia.wasm` : null, code, version, stale, sim, servers,
    kept: { offered, answered: now !== null },
  });
  const html = await template.text();
  // No text of a server ends the element that it stands in.
  const filled = html.replaceAll('{{assets}}', assets).replace('{{config}}', () => config.replaceAll('<', '\\u003c'));
  return new Response(filled, {
    headers: {
      'content-type': KINDS.html, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'x-content-type-options': 'nosniff',
      'content-security-policy': `${policyOf(html)}; frame-ancestors 'none'`,
    },
  });
}

/** A file of a code: as it is kept, or from the server. @param {Request} request @param {string} path */
async function asset(request, path) {
  const [, code, name] = /^\/assets\/([0-9a-f]{64})\/(.+)$/.exec(path) ?? [];
  return (code && (await kept(code, name))) || fetch(request);
}

worker.addEventListener('install', (/** @type {any} */ event) => {
  const install = async () => {
    const code = (await note('use'))?.code ?? '';
    if (!(await kept(code, 'files.txt'))) {
      await use(OWN);
      await asked();
    }
    await worker.skipWaiting();
  };
  event.waitUntil(install());
});

worker.addEventListener('activate', (/** @type {any} */ event) => event.waitUntil(worker.clients.claim()));

worker.addEventListener('fetch', (/** @type {any} */ event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== location.origin) return;
  if (request.mode === 'navigate' && PAGE.test(pathname)) event.respondWith(page(request));
  else if (pathname.startsWith('/assets/')) event.respondWith(asset(request, pathname));
});

worker.addEventListener('message', (/** @type {any} */ event) => {
  const { data, ports } = event;
  if (data?.do !== 'use') return;
  event.waitUntil(use(String(data.code)).then(
    () => ports[0].postMessage({ ok: true }),
    (error) => ports[0].postMessage({ ok: false, why: String(error?.message ?? error) }),
  ));
});
