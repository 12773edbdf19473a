// Turns Vite's output into one assembler file that embeds every asset, gzip'd and brotli'd where that
// is smaller, plus a table of (path, type, bytes). Usage: node pack.mjs DIST OUT; writes OUT/assets.S.
import {createHash} from 'node:crypto';
import {mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {brotliCompressSync, constants, gzipSync} from 'node:zlib';

const [dist, out] = process.argv.slice(2);
const types = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  json: 'application/json',
  png: 'image/png',
  wasm: 'application/wasm',
  txt: 'text/plain; charset=utf-8',
};

const files = readdirSync(dist, {recursive: true, withFileTypes: true})
  .filter(entry => entry.isFile())
  .map(entry => join(entry.parentPath ?? entry.path, entry.name))
  .sort();

mkdirSync(join(out, 'packed'), {recursive: true});
const lines = [
  '// Made by web/tools/pack.mjs. One row of sonde_assets: path, type, hash, then (pointer, size) of plain, gzip, brotli.',
  '.section .rodata',
];
const rows = [];
let count = 0;
const text = value => {
  const label = `.Ltext${lines.length}`;
  lines.push(`${label}: .asciz ${JSON.stringify(value)}`);
  return label;
};
const blob = (name, bytes) => {
  const path = join(out, 'packed', name);
  writeFileSync(path, bytes);
  const label = `.Lblob${lines.length}`;
  lines.push('.balign 16', `${label}: .incbin ${JSON.stringify(path)}`);
  return `.quad ${label}, ${bytes.length}`;
};
for (const file of files) {
  const path = file.slice(dist.length + 1);
  const bytes = readFileSync(file);
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  const gz = gzipSync(bytes, {level: 9});
  const br = brotliCompressSync(bytes, {
    params: {[constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length},
  });
  const worth = packed => packed.length < bytes.length * 0.95;
  const row = [
    `.quad ${text(path)}, ${text(types[path.split('.').pop()] ?? 'application/octet-stream')}, ${text(hash)}`,
  ];
  row.push(blob(`${count}.raw`, bytes));
  row.push(worth(gz) ? blob(`${count}.gz`, gz) : '.quad 0, 0');
  row.push(worth(br) ? blob(`${count}.br`, br) : '.quad 0, 0');
  rows.push(...row);
  count += 1;
}
lines.push(
  '.section .data.rel.ro, "aw"',
  '.balign 8',
  '.globl sonde_assets',
  'sonde_assets:',
  ...rows,
  '.globl sonde_asset_count',
  `sonde_asset_count: .quad ${count}`,
);
lines.push('.section .note.GNU-stack,"",%progbits', '');
writeFileSync(join(out, 'assets.S'), lines.join('\n'));
