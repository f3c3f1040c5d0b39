import assert from 'node:assert/strict';
import http from 'node:http';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { test } from 'node:test';

import { askGenesis, askHttp } from '../../web/core/carriers.js';

/** A server that sends so many pieces of a mebibyte to each who asks. */
async function sends(t, pieces) {
  let sent = 0;
  const piece = Buffer.alloc(1 << 20);
  function* body() {
    for (let n = 0; n < pieces; n += 1, sent += 1) yield piece;
  }
  const server = http.createServer((_, answer) => void Readable.from(body()).pipe(answer));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return { origin: `http://127.0.0.1:${server.address().port}`, sent: () => sent };
}

test('an answer of sixteen mebibytes is read, and one without end is left', async (t) => {
  const large = await sends(t, 16);
  assert.equal((await askGenesis(large.origin, '00')).length, 16 << 20);
  const endless = await sends(t, 1_000);
  await assert.rejects(askGenesis(endless.origin, '00'), /too-long/);
  await assert.rejects(async () => (await askHttp(endless.origin, '/api/session')).json(), /too-long/);
  assert.ok(endless.sent() < 100, `${endless.sent()} MiB were sent`);
});
