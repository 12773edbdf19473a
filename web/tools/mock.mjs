// Serves the recorded answers of tests/fixtures/api as if it were the program, so that the page can
// be worked on without one: node tools/mock.mjs [port] (default 6007). Everything outside /api/v1 is
// a file of the folder named by SONDE_DIST, if set. `events` sends what is recorded, then stays open.
import {createServer} from 'node:http';
import {readFileSync, existsSync, statSync} from 'node:fs';
import {dirname, extname, join, normalize} from 'node:path';
import {fileURLToPath} from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const folder = join(here, '../../tests/fixtures/api');
const dist = process.env.SONDE_DIST;
const types = {
  '.json': 'application/json',
  '.bin': 'application/vnd.sonde.columns',
  '.png': 'image/png',
  '.wav': 'audio/wav',
  '.txt': 'text/event-stream',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

// True when everything in `part` is also in `whole`; lists must be of the same length.
function fits(part, whole) {
  if (part === null || typeof part !== 'object') return part === whole;
  if (whole === null || typeof whole !== 'object') return false;
  if (Array.isArray(part) && part.length !== whole.length) return false;
  return Object.entries(part).every(([key, value]) => fits(value, whole[key]));
}

function find(method, path, query, body) {
  const index = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8'));
  return index.find(
    entry =>
      entry.method === method && entry.path === path && fits(entry.query ?? {}, query) && fits(entry.body ?? {}, body),
  );
}

function send(response, status, file, headers = {}) {
  const type = types[extname(file)] ?? 'application/octet-stream';
  response.writeHead(status, {'content-type': type, 'cache-control': 'no-cache', ...headers});
  response.write(readFileSync(file));
  if (type !== 'text/event-stream') response.end();
}

const server = createServer((request, response) => {
  const url = new URL(request.url, 'http://localhost');
  const chunks = [];
  request.on('data', chunk => chunks.push(chunk));
  request.on('end', () => {
    const at = url.pathname.indexOf('/api/v1/');
    if (at < 0) {
      const file = dist && join(dist, normalize(url.pathname === '/' ? '/index.html' : url.pathname));
      if (file && existsSync(file) && statSync(file).isFile()) return send(response, 200, file);
      return send(response, 404, join(folder, 'error.json'));
    }
    let body = {};
    try {
      body = chunks.length ? JSON.parse(Buffer.concat(chunks).toString()) : {};
    } catch {
      return send(response, 400, join(folder, 'error.json'));
    }
    const path = url.pathname.slice(at + '/api/v1/'.length);
    const entry = find(request.method, path, Object.fromEntries(url.searchParams), body);
    if (!entry) return send(response, 404, join(folder, 'error.json'));
    return send(response, 200, join(folder, entry.file), {etag: `"${entry.file}"`});
  });
});
server.listen(Number(process.argv[2] ?? 6007), '127.0.0.1', () => {
  console.log(`mock of /api/v1 on http://127.0.0.1:${server.address().port}/`);
});
