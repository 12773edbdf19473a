// Every visible sentence by its key. A folder keeps its English in its own messages.json and hands it
// over with addMessages(), so that a dashboard that loads on demand brings its texts with it.

export type Params = Readonly<Record<string, string | number>>;

const table = new Map<string, string>();

export function addMessages(messages: Readonly<Record<string, string>>): void {
  for (const [key, text] of Object.entries(messages)) table.set(key, text);
}

/** The text of a key with {name} replaced by the parameter and {name|run|runs} by the word for that many of them.
 *  `key.one` is taken when the parameter `n` is 1 and it exists. */
export function t(key: string, params: Params = {}): string {
  const text = (Number(params['n']) === 1 ? table.get(`${key}.one`) : undefined) ?? table.get(key) ?? key;
  return text.replace(/\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g, (whole, name: string, one?: string, many?: string) => {
    if (!(name in params)) return whole;
    return one === undefined ? String(params[name]) : Number(params[name]) === 1 ? one : many!;
  });
}

export function hasMessage(key: string): boolean {
  return table.has(key);
}
