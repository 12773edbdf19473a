// Puts each piece of HTML of a JSON list into a page without any protection of its own and sees whether
// a script runs: on insertion, on loading, on clicking every link, on hovering. Prints "N passed, M failed".
import {createRequire} from 'node:module';
import {readFileSync} from 'node:fs';

const {chromium} = createRequire(import.meta.url)(process.env.PLAYWRIGHT);
const pieces = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const kAllowed = new Set('UL OL LI P PRE CODE BLOCKQUOTE H1 H2 H3 H4 H5 H6 HR BR STRONG EM A IMG TABLE THEAD TBODY TD TR TH'.split(' '));

const browser = await chromium.launch({executablePath: process.env.CHROMIUM, args: ['--no-sandbox']});
const page = await browser.newPage();
await page.route('**/*', (route) => (route.request().url() === 'http://test.invalid/' ? route.fulfill({contentType: 'text/html', body: '<div id=place></div>'}) : route.abort()));
page.on('dialog', (dialog) => dialog.dismiss());

// The trap itself works: an unsanitised piece is noticed.
async function hits(html) {
  await page.goto('http://test.invalid/');
  return page.evaluate(async ([text, allowed]) => {
    const place = document.getElementById('place');
    place.innerHTML = text;
    const names = new Set(allowed);
    const strange = [...place.querySelectorAll('*')].filter((e) => !names.has(e.tagName) || [...e.attributes].some((a) => !['href', 'title', 'src', 'alt'].includes(a.name)));
    const scripted = [...place.querySelectorAll('[href],[src]')].filter((e) => !['http:', 'https:', 'mailto:'].includes((e.href === undefined ? new URL(e.src) : new URL(e.href, document.baseURI)).protocol));
    for (const element of place.querySelectorAll('*')) {
      element.dispatchEvent(new MouseEvent('mouseover', {bubbles: true}));
      element.dispatchEvent(new FocusEvent('focus'));
      if (element.tagName === 'A') {
        element.target = '_self';
        element.addEventListener('click', (event) => { if (!/^\s*javascript:/i.test(element.href)) event.preventDefault(); });
        element.click();
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 15));
    return (window.hit ?? 0) + strange.length + scripted.length;
  }, [html, [...kAllowed]]);
}

let passed = 0;
let failed = 0;
const trap = await hits('<img src=x onerror="window.hit=(window.hit||0)+1">');
if (trap === 0) {
  console.log('FAIL the trap notices nothing');
  failed += 1;
}
for (const html of pieces) {
  const count = await hits(html);
  if (count > 0) {
    console.log(`FAIL ${JSON.stringify(html).slice(0, 200)}`);
    failed += 1;
  } else {
    passed += 1;
  }
}
await browser.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
