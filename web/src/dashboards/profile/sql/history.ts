// The last queries of this browser, newest first.
const KEY = 'sonde.sql';
const MOST = 30;

export function storedQueries(): readonly string[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(list) ? list.filter((one): one is string => typeof one === 'string').slice(0, MOST) : [];
  } catch {
    return []; // private windows have no storage
  }
}

/** With a query that was run put first. */
export function remembered(queries: readonly string[], query: string): readonly string[] {
  return [query, ...queries.filter(one => one !== query)].slice(0, MOST);
}

export function storeQueries(queries: readonly string[]): void {
  try {
    if (queries.length > 0) localStorage.setItem(KEY, JSON.stringify(queries));
    else localStorage.removeItem(KEY);
  } catch {
    // the list lives until the page is closed
  }
}
