// What the tests of the profile pages share: the server's own answers, links to a page, and the place in a link.
import {check, serve} from './harness.mjs';

/** An answer of the program that serves `logs`; with a body it is posted. */
export async function api(logs, path, body) {
  const answer = await fetch(`${(await serve(logs)).replace(/\/$/, '')}/api/v1/${path}`, body === undefined ? {} : {method: 'POST', body: JSON.stringify(body), headers: {'Content-Type': 'application/json'}});
  check(answer.ok, `${path}: ${answer.status}`);
  return answer.json();
}
export const q = encodeURIComponent;
export const report = (logs, session, tool, more = '') => api(logs, `profile/report?session=${q(session)}&tool=${tool}${more}`);
export const hash = (view) => `#profile&v=1.${Buffer.from(JSON.stringify({profile: view})).toString('base64url')}`;
export const stateOf = (page) => {
  const text = /&v=1\.([\w-]+)/.exec(page.url())?.[1];
  return text === undefined ? {} : (JSON.parse(Buffer.from(text, 'base64url').toString()).profile ?? {});
};
/** Text as shown, with plain spaces and signs. */
export const plain = (text) => text.replaceAll('\u202f', ' ').replaceAll('\u2212', '-').trim();
export const region = (page, name) => page.getByRole('region', {name, exact: true});
export const column = (table, id) => table.columns.findIndex((one) => one.id === id);
export const tableOf = (found, id) => found.tables.find((one) => one.id === id);
/** A table of a report as objects. */
export const rowsOf = (found, id) => {
  const table = tableOf(found, id);
  return table.rows.map((row) => Object.fromEntries(table.columns.map((one, i) => [one.id, row[i]])));
};
