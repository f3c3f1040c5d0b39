// Serves the page with an engine that is connected to nothing: `node serve.mjs [PORT]`, then open
// http://127.0.0.1:PORT/?crates=1000&avatars=50. Only the engine, keys and
// module are replaced; all else is what ships.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

const TYPES = { js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml', html: 'text/html', webmanifest: 'application/manifest+json', json: 'application/json', rhai: 'text/plain' };
const CSP = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; img-src 'self' data: blob:; manifest-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const FAKE = { 'core/engine.js': 'fake-engine.js', 'core/keys.js': 'fake-engine.js', 'core/load.js': 'fake-engine.js', 'core/sample.rhai': 'sample.rhai' };

/** @param {number} port 0 lets the system choose */
export function serve(port) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://host');
    try {
      let file;
      if (pathname === '/' || pathname.startsWith('/w/')) file = '../../web/index.html';
      else if (pathname.startsWith('/assets/-/') && !pathname.includes('..')) {
        const path = pathname.slice('/assets/-/'.length);
        file = FAKE[path] ? `./${FAKE[path]}` : `../../web/${path}`;
      } else throw new Error('nothing here');
      let body = await readFile(fileURLToPath(new URL(file, import.meta.url)));
      if (file.endsWith('index.html')) {
        const config = JSON.stringify({ assets: '/assets/-', wasm: null, sim: '00', version: '0' });
        body = Buffer.from(body.toString().replaceAll('{{assets}}', '/assets/-').replace('{{config}}', config));
      }
      const type = TYPES[file.split('.').at(-1)] ?? 'application/octet-stream';
      response.writeHead(200, { 'content-type': `${type}; charset=utf-8`, 'content-security-policy': CSP, 'cache-control': 'no-store' });
      response.end(body);
    } catch (error) {
      response.writeHead(404, { 'content-type': 'text/plain' });
      response.end(String(error));
    }
  });
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = await serve(Number(process.argv[2] ?? 18499));
  console.log(`http://127.0.0.1:${server.address().port}/`);
}
