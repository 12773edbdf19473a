// Asks the first questions while the page's own code is still on its way; data/client.ts takes the answers.
(() => {
  const token = new URL(location.href).searchParams.get('token');
  const headers = token === null ? {} : {Authorization: `Bearer ${token}`};
  const answers = {};
  for (const path of ['info', 'runs', 'tags', 'sidecar']) {
    answers[path] = fetch(new URL(`api/v1/${path}`, document.baseURI), {credentials: 'same-origin', headers});
    answers[path].catch(() => {}); // whoever takes the answer hears of it
  }
  globalThis.sondeEarly = answers;
})();
