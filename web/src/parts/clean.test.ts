import {expect, it} from 'vitest';
import {cleanHtml} from './clean.ts';

it('links open in a new tab', () => {
  expect(cleanHtml('<p><a href="http://a/">x</a></p>')).toBe(
    '<p><a href="http://a/" target="_blank" rel="noopener noreferrer">x</a></p>',
  );
});
it('pictures from elsewhere become links, relative ones their text', () => {
  expect(cleanHtml('<img src="http://a/i.png" alt="cat">')).toBe(
    '<a href="http://a/i.png" target="_blank" rel="noopener noreferrer">cat</a>',
  );
  expect(cleanHtml('a <img src="x"> b')).toBe('a x b');
  expect(cleanHtml('<img src="data:image/png;base64,AA">')).toContain('alt=""');
});
it('plain text stays', () => expect(cleanHtml('<p>a &lt;b&gt;</p>')).toBe('<p>a &lt;b&gt;</p>'));
