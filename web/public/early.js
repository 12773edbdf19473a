// Asks for the code of the dashboard in the link, and for the tracks of a trace in it, while the page's own code is
// still on its way; data/client.ts takes the answer. The build writes the files of each dashboard to this script's tag.
(() => {
  const here = new URL(location.href);
  const [tab, ...pairs] = here.hash.slice(1).split('&');
  for (const file of JSON.parse(document.currentScript.dataset.dashboards ?? '{}')[tab] ?? []) {
    const link = document.createElement('link');
    link.href = new URL(file, document.baseURI).href;
    link.rel = file.endsWith('.css') ? 'preload' : 'modulepreload';
    if (file.endsWith('.css')) link.as = 'style';
    link.crossOrigin = ''; // as the import will ask, or the file would be fetched twice
    document.head.append(link);
  }
  if (tab !== 'profile') return;
  try {
    const view = pairs.find((pair) => pair.startsWith('v=1.')) ?? '';
    const bytes = Uint8Array.from(atob(view.slice(4).replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
    const {session = '', tool, host = ''} = JSON.parse(new TextDecoder().decode(bytes)).profile;
    if (session === '' || tool !== 'trace_viewer' || host !== '') return;
    const base = new URL('api/v1/', document.baseURI).href;
    const url = new URL('trace/tracks', base);
    url.searchParams.set('session', session);
    url.searchParams.set('host', '0');
    const token = here.searchParams.get('token');
    const answer = fetch(url, {credentials: 'same-origin', headers: token === null ? {} : {Authorization: `Bearer ${token}`}});
    answer.catch(() => {}); // whoever takes the answer hears of it
    globalThis.sondeEarly = {path: url.href.slice(base.length), answer};
  } catch {
    // a link without a place
  }
})();
