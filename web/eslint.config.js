// What a reviewer would say every time. The compiler checks types, Prettier the layout; here are mistakes only.
import globals from 'globals';
import svelte from 'eslint-plugin-svelte';
import ts from 'typescript-eslint';

export default ts.config(
  {ignores: ['dist/', 'node_modules/']},
  ...ts.configs.recommended,
  ...svelte.configs.recommended,
  {
    languageOptions: {globals: {...globals.browser, ...globals.node}},
    linterOptions: {reportUnusedDisableDirectives: 'error'},
    rules: {
      // A map or set that nothing on the page reads is a plain one; those that are read are $state.
      'svelte/prefer-svelte-reactivity': 'off',
      // {' '} keeps a space that the layout would swallow.
      'svelte/no-useless-mustaches': 'off',
      // svelte-check judges which warnings there are.
      'svelte/no-unused-svelte-ignore': 'off',
      // A name that only marks a place begins with an underscore.
      '@typescript-eslint/no-unused-vars': [
        'error',
        {argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrorsIgnorePattern: '^_'},
      ],
    },
  },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: {parserOptions: {parser: ts.parser}},
  },
  {
    // HTML that the server made of Markdown, with a fixed set of tags and attributes (src/text).
    files: ['src/dashboards/audio/AudioCard.svelte', 'src/parts/Words.svelte', 'src/parts/Description.svelte'],
    rules: {'svelte/no-at-html-tags': 'off'},
  },
);
