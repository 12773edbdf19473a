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
        const files: Record<string, string[]> = {};
        for (const chunk of chunks) {
          const folder = dirname(chunk.facadeModuleId ?? '');
          if (!chunk.isDynamicEntry || basename(dirname(folder)) !== 'dashboards') continue;
          const needed = [...reached([chunk.fileName], new Set(first))].filter((name) => !first.has(name));
          const styles = needed.flatMap((name) => [...(chunks.find((one) => one.fileName === name)?.viteMetadata?.importedCss ?? [])]);
          files[basename(folder)] = [...new Set([...(files[basename(folder)] ?? []), ...needed, ...styles])];
        }
        return html.replace('src="./early.js"', `src="./early.js" data-dashboards='${JSON.stringify(files)}'`);
      },
    },
  };
}

// base './' and no inlined assets: the page works behind any path prefix and under its strict CSP.
export default defineConfig({
  base: './',
  plugins: [svelte(), dashboardFiles()],
  build: {
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: {polyfill: false},
    chunkSizeWarningLimit: 900,
  },
  worker: {format: 'es'},
  server: {proxy: {'/api': 'http://127.0.0.1:6006', '/data': 'http://127.0.0.1:6006'}},
  test: {environment: 'happy-dom', include: ['src/**/*.test.ts']},
  resolve: process.env['VITEST'] ? {conditions: ['browser']} : {},
});
