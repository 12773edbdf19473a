// The code of a saved report: one script and one style sheet, which the page puts into the HTML file it hands out.
import {svelte} from '@sveltejs/vite-plugin-svelte';
import {defineConfig} from 'vite';

export default defineConfig({
  plugins: [svelte()],
  publicDir: false,
  build: {
    target: 'es2023',
    lib: {
      entry: 'src/report.ts',
      formats: ['iife'],
      name: 'sondeReport',
      fileName: () => 'report.js',
      cssFileName: 'report',
    },
    rolldownOptions: {checks: {bundlerTimings: false}},
    emptyOutDir: true,
  },
});
