// @ts-check
/** A plain web server for a folder: it knows nothing of what it serves. */

import { readFile } from 'node:fs/promises';
import http from 'node:http';
import { join, normalize } from 'node:path';

/** Types by the ends of names, as every web server has them. */
const KINDS = { html: 'text/html', js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml', json: 'application/json', wasm: 'application/wasm', txt: 'text/plain', webmanifest: 'application/manifest+json' };

/** Serves a folder below `/page/`. Gives its origin, and who ends it. */
export async function serveFolder() {
  const served = { folder: '', origin: '', stop: async () => {} };
  const server = http.createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://folder');
    const path = normalize(pathname.replace(/^\/page\//, '/')).replace(/\/$/, '/index.html');
    try {
      const body = await readFile(join(served.folder, path));
      const kind = KINDS[/** @type {keyof typeof KINDS} */ (path.split('.').at(-1))] ?? 'application/octet-stream';
      response.writeHead(200, { 'content-type': kind });
      response.end(body);
    } catch {
      response.writeHead(404);
      response.end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(null)));
  served.origin = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`;
  served.stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return served;
}
