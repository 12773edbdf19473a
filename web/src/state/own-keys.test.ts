import {expect, it} from 'vitest';
import {usesKey} from './own-keys.ts';

const element = (html: string): Element => {
  document.body.innerHTML = html;
  return document.body.firstElementChild!;
};

it.each([
  ['<button>x</button>', ' ', true],
  ['<button>x</button>', 'ArrowLeft', false],
  ['<button role="switch">x</button>', ' ', true],
  ['<button role="radio">x</button>', 'ArrowRight', true],
  ['<input type="range">', 'ArrowRight', true],
  ['<input type="range">', ' ', false],
  ['<input type="checkbox">', ' ', true],
  ['<a href="#x">x</a>', 'Enter', true],
  ['<a href="#x">x</a>', ' ', false],
  ['<section tabindex="0">x</section>', 'ArrowLeft', false],
  ['<button>x</button>', 'w', false],
])('%s uses %j: %s', (html, key, uses) => expect(usesKey(element(html), key)).toBe(uses));
