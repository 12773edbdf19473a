import {svelte} from '@sveltejs/vite-plugin-svelte';
import {defineConfig} from 'vitest/config';

// base './' and no inlined assets: the page works behind any path prefix and under its strict CSP.
export default defineConfig({
  base: './',
  plugins: [svelte()],
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
