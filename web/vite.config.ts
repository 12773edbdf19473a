import {svelte} from '@sveltejs/vite-plugin-svelte';
import {writeFileSync} from 'node:fs';
import {basename, dirname} from 'node:path';
import type {Plugin} from 'vite';
import {defineConfig} from 'vitest/config';

const SHELL = '/src/shell/start.ts'; // what the entry loads after the first picture

/** Names in the HTML what is needed soon: the shell's files, which are fetched beside the entry, and on the tag of
 *  early.js those of each dashboard, by the dashboard's folder. */
function soonNeeded(): Plugin {
  return {
    name: 'soon-needed',
    transformIndexHtml: {
      order: 'post',
      handler(html, {bundle = {}}) {
        const chunks = Object.values(bundle).filter(one => one.type === 'chunk');
        const byName = (name: string): (typeof chunks)[number] | undefined =>
          chunks.find(chunk => chunk.fileName === name);
        const reached = (from: readonly string[], known: Set<string>): Set<string> => {
          for (const name of from) {
            if (known.has(name)) continue;
            known.add(name);
            reached(byName(name)?.imports ?? [], known);
          }
          return known;
        };
        const styles = (names: readonly string[]): string[] =>
          names.flatMap(name => [...(byName(name)?.viteMetadata?.importedCss ?? [])]);
        const entry = reached(
          chunks.filter(chunk => chunk.isEntry).map(chunk => chunk.fileName),
          new Set(),
        );
        const first = reached(
          chunks.filter(chunk => chunk.facadeModuleId?.endsWith(SHELL)).map(chunk => chunk.fileName),
          new Set(entry),
        );
        const shell = [...first].filter(name => !entry.has(name));
        const links = [
          ...shell.map(name => `<link rel="modulepreload" fetchpriority="low" crossorigin href="./${name}">`),
          ...styles(shell).map(name => `<link rel="stylesheet" crossorigin href="./${name}">`),
        ];

        const asked = new Set(chunks.filter(chunk => first.has(chunk.fileName)).flatMap(chunk => chunk.dynamicImports));
        const files: Record<string, string[]> = {};
        for (const chunk of chunks) {
          const folder = dirname(chunk.facadeModuleId ?? '');
          // A dashboard's own page, which the shell asks for; not the parts that this page may ask for in turn.
          if (!asked.has(chunk.fileName) || basename(dirname(folder)) !== 'dashboards') continue;
          const needed = [...reached([chunk.fileName], new Set(first))].filter(name => !first.has(name));
          files[basename(folder)] = [...new Set([...(files[basename(folder)] ?? []), ...needed, ...styles(needed)])];
        }
        return html
          .replace('</head>', `  ${links.join('\n    ')}\n  </head>`)
          .replace('src="./early.js"', `src="./early.js" data-dashboards='${JSON.stringify(files)}'`);
      },
    },
  };
}

/** Two first files: everything the entry imports statically, and what the shell imports beyond that. The browser is not
 *  told to compile all of it at once (allFunctionsCalledOnLoad): the first chart waits longer for that than for
 *  compiling what it calls. */
function firstFiles(): Plugin & {readonly nameOf: (id: string) => string | null} {
  const [entry, shell] = [new Set<string>(), new Set<string>()];
  return {
    name: 'first-files',
    nameOf: id => (entry.has(id) ? 'first' : shell.has(id) ? 'shell' : null),
    buildEnd() {
      const reach = (id: string, into: Set<string>): void => {
        if (into.has(id)) return;
        into.add(id);
        this.getModuleInfo(id)?.importedIds.forEach(one => reach(one, into));
      };
      for (const id of this.getModuleIds()) {
        if (this.getModuleInfo(id)?.isEntry) reach(id, entry);
        else if (id.endsWith(SHELL)) reach(id, shell);
      }
    },
  };
}
const first = firstFiles();

/** Lists the packages that left code in the page, beside the folder of the page: tools/components.py compares it with
 *  what the bill of materials names. */
function packagesInside(): Plugin {
  return {
    name: 'packages-inside',
    writeBundle({dir = ''}, bundle) {
      const inside = new Set<string>();
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk') continue;
        for (const [id, module] of Object.entries(chunk.modules)) {
          const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1];
          if (name !== undefined && module.renderedLength > 0) inside.add(name);
        }
      }
      writeFileSync(`${dir}.packages.json`, JSON.stringify([...inside].sort()));
    },
  };
}

// base './' and no inlined assets: the page works behind any path prefix and under its strict CSP.
export default defineConfig({
  base: './',
  plugins: [svelte(), soonNeeded(), first, packagesInside()],
  build: {
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: {polyfill: false},
    chunkSizeWarningLimit: 900,
    rolldownOptions: {
      checks: {bundlerTimings: false}, // says where a slow machine spent its time, in the middle of ./run
      output: {
        codeSplitting: {
          groups: [
            {name: 'first', test: (id: string) => first.nameOf(id) === 'first', priority: 3},
            {name: 'shell', test: (id: string) => first.nameOf(id) === 'shell', priority: 2},
            {name: 'shared', test: /src\/(parts|draw|text|state)\//, minShareCount: 3},
          ],
        },
      },
    },
  },
  worker: {format: 'es'},
  server: {proxy: {'/api': 'http://127.0.0.1:6006', '/data': 'http://127.0.0.1:6006'}},
  test: {environment: 'happy-dom', include: ['src/**/*.test.ts']},
  resolve: process.env['VITEST'] ? {conditions: ['browser']} : {},
});
