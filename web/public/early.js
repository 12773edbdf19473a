// Asks for what the dashboard in the link needs while the page's own code is still on its way: its files, and of a trace
// the tracks, the names and the first cells. data/client.ts and data/trace.ts take the answers. The build writes the
// files of each dashboard to this script's tag. It is small and runs at once: browsers hold `async` scripts back until
// they have painted.
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
  const base = new URL('api/v1/', document.baseURI).href;
  const token = here.searchParams.get('token');
  const answers = {};
  const early = (globalThis.sondeEarly = {answers, view: null});

  function ask(path, query, body, first = null) {
    const url = new URL(path, base);
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
    const headers = {...(token === null ? {} : {Authorization: `Bearer ${token}`}), ...(body === undefined ? {} : {'Content-Type': 'application/json'})};
    const send = () => fetch(url, {credentials: 'same-origin', headers, ...(body === undefined ? {} : {method: 'POST', body: JSON.stringify(body)})});
    const answer = first === null ? send() : first.then(send);
    answer.catch(() => {}); // whoever takes the answer hears of it
    if (body === undefined) answers[url.href.slice(base.length)] = answer;
    return answer;
  }

  // The tracks at the top of the page, as draw/trace/lanes.ts will lay them when nothing was changed by hand. When the
  // two disagree, the viewer asks again.
  function topTracks(tracks, height) {
    const filled = (track) => track.slices > 0 || track.points > 0;
    const sorted = (list) => list.filter(Boolean).sort((a, b) => a.order - b.order || a.id - b.id);
    const wanted = {tracks: [], counters: []};
    let top = 0;
    for (const root of sorted(tracks.filter((track) => track.parent === undefined))) {
      const inner = sorted(tracks.filter((track) => track.parent === root.id && filled(track)));
      if (inner.length === 0 && !filled(root)) continue;
      top += 22;
      for (const track of [root, ...inner]) {
        if (top > height) return wanted;
        if (track.points > 0) wanted.counters.push(track.id);
        if (track.slices > 0) wanted.tracks.push(track.id);
        top += (track.points > 0 ? 40 : 0) + (track.slices > 0 ? Math.min(64, Math.max(1, track.depth)) * 17 + 5 : 0);
      }
    }
    return wanted;
  }

  function askView(info, place, query) {
    if (['pins', 'hide', 'fold', 'order', 'tracks', 'colour'].some((field) => field in place)) return;
    let [t0, t1] = [Number(place.t0), Number(place.t1)];
    if (!(t1 > t0)) {
      const room = Math.max(500, (Number(info.t1) - Number(info.t0)) * 0.01);
      [t0, t1] = [Number(info.t0) - room, Number(info.t1) + room];
    }
    const width = innerWidth - (innerWidth <= 900 ? 148 : 204) - 180; // tools, names of tracks
    const margin = (t1 - t0) * 0.5; // as capture.svelte.ts asks
    const wish = {t0: t0 - margin, t1: t1 + margin, px: 2 * Math.round(width), flat: [], argument: '', ...topTracks(info.tracks, innerHeight - 170)};
    const body = (ids) => ({t0: Math.floor(wish.t0), t1: Math.ceil(wish.t1), px: wish.px, rows: ids.map((track) => ({track}))});
    return {wish, cells: ask('trace/view', query, body(wish.tracks)), counters: wish.counters.length === 0 ? null : ask('trace/counters', query, body(wish.counters))};
  }

  try {
    const view = pairs.find((pair) => pair.startsWith('v=1.')) ?? '';
    const bytes = Uint8Array.from(atob(view.slice(4).replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
    const place = JSON.parse(new TextDecoder().decode(bytes)).profile;
    const {session = '', tool, host = ''} = place;
    if (session === '' || tool !== 'trace_viewer' || host !== '') return;
    const query = {session, host: '0'};
    // The rest is about what the first answer has read.
    const tracks = ask('trace/tracks', query);
    const copy = tracks.then((answer) => (answer.ok ? answer.clone().json() : null));
    early.view = {session, asked: copy.then((info) => (info === null ? undefined : askView(info, place, query))).catch(() => undefined)};
    ask('trace/names', {...query, from: '0'}, undefined, tracks);
  } catch {
    // a link without a place
  }
})();
