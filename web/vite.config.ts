import {svelte} from '@sveltejs/vite-plugin-svelte';
import {basename, dirname} from 'node:path';
import type {Plugin} from 'vite';
import {defineConfig} from 'vitest/config';

/** Writes to the tag of early.js which files each dashboard needs, by the dashboard's folder. */
function dashboardFiles(): Plugin {
  return {
    name: 'dashboard-files',
    transformIndexHtml: {
      order: 'post',
      handler(html, {bundle = {}}) {
        const chunks = Object.values(bundle).filter((one) => one.type === 'chunk');
        const reached = (from: readonly string[], known: Set<string>): Set<string> => {
          for (const name of from) {
            if (known.has(name)) continue;
            known.add(name);
            reached(chunks.find((chunk) => chunk.fileName === name)?.imports ?? [], known);
          }
          return known;
        };
        const first = reached(chunks.filter((chunk) => chunk.isEntry).map((chunk) => chunk.fileName), new Set());
        const shell = new Set(chunks.filter((chunk) => first.has(chunk.fileName)).flatMap((chunk) => chunk.dynamicImports));
        const files: Record<string, string[]> = {};
        for (const chunk of chunks) {
          const folder = dirname(chunk.facadeModuleId ?? '');
          // A dashboard's own page, which the shell asks for; not the parts that this page may ask for in turn.
          if (!shell.has(chunk.fileName) || basename(dirname(folder)) !== 'dashboards') continue;
          const needed = [...reached([chunk.fileName], new Set(first))].filter((name) => !first.has(name));
          const styles = needed.flatMap((name) => [...(chunks.find((one) => one.fileName === name)?.viteMetadata?.importedCss ?? [])]);
          files[basename(folder)] = [...new Set([...(files[basename(folder)] ?? []), ...needed, ...styles])];
        }
        return html.replace('src="./early.js"', `src="./early.js" data-dashboards='${JSON.stringify(files)}'`);
      },
    },
  };
}

/** Everything the entry imports statically as one file. The browser is not told to compile all of it at once
 *  (allFunctionsCalledOnLoad): the first chart waits longer for that than for compiling what it calls. */
function firstFile(): Plugin & {readonly holds: (id: string) => boolean} {
  const first = new Set<string>();
  return {
    name: 'first-file',
    holds: (id) => first.has(id),
    buildEnd() {
      const reach = (id: string): void => {
        if (first.has(id)) return;
        first.add(id);
        this.getModuleInfo(id)?.importedIds.forEach(reach);
      };
      for (const id of this.getModuleIds()) if (this.getModuleInfo(id)?.isEntry) reach(id);
    },
  };
}
const first = firstFile();

// base './' and no inlined assets: the page works behind any path prefix and under its strict CSP.
export default defineConfig({
  base: './',
  plugins: [svelte(), dashboardFiles(), first],
  build: {
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: {polyfill: false},
    chunkSizeWarningLimit: 900,
    rolldownOptions: {output: {codeSplitting: {groups: [{name: 'first', test: (id: string) => first.holds(id), priority: 2}, {name: 'shared', test: /src\/(parts|draw|text|state)\//, minShareCount: 3}]}}},
  },
  worker: {format: 'es'},
  server: {proxy: {'/api': 'http://127.0.0.1:6006', '/data': 'http://127.0.0.1:6006'}},
  test: {environment: 'happy-dom', include: ['src/**/*.test.ts']},
  resolve: process.env['VITEST'] ? {conditions: ['browser']} : {},
});
