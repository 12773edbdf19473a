// Answers that came with the page: the HTML names what its code asks for first, the server has written the answers
// into it (docs/api.md, "Answers in the page"). Each is taken once, but the columns of the first chart are drawn twice:
// before the shell is ready and in it.

const FINER = 2; // times the wanted pixels that are still worth taking
const COARSER = 0.85;

function elementOf(fits: (path: string) => boolean): HTMLElement | undefined {
  const all = document.querySelectorAll<HTMLElement>('script[data-answer]');
  return [...all].find(one => fits(one.dataset['answer'] ?? '') && one.textContent !== '');
}

export function takeEmbedded<T>(path: string): {value: T; etag: string} | undefined {
  const element = elementOf(answer => answer === `api/v1/${path}`);
  if (element === undefined) return undefined;
  element.remove();
  return {value: JSON.parse(element.textContent ?? '') as T, etag: element.dataset['etag'] ?? ''};
}

/** Whether the page came with the answers it begins with. */
export function hasEmbeddedAnswers(): boolean {
  return ['runs', 'tags'].every(path => elementOf(answer => answer === `api/v1/${path}`) !== undefined);
}

interface FirstColumns {
  readonly question: Readonly<Record<string, unknown>>;
  readonly columns: ArrayBuffer;
}

const element = (): HTMLElement | undefined => elementOf(answer => answer.startsWith('api/v1/columns/first'));
const read = new WeakMap<HTMLElement, FirstColumns>();

function firstColumns(): FirstColumns | undefined {
  const from = element();
  if (from === undefined || read.has(from)) return from && read.get(from);
  const {question, columns} = JSON.parse(from.textContent ?? '') as {
    question: FirstColumns['question'];
    columns: string;
  };
  const first = {question, columns: bytesOf(columns)};
  read.set(from, first);
  return first;
}

/** From here on the data have grown old: a question goes to the server. */
export function dropEmbeddedColumns(): void {
  element()?.remove();
}

/** The columns of the first chart, if they answer what is asked: the same question for about as many pixels. */
export function embeddedColumns(path: string, asked: object): ArrayBuffer | undefined {
  const first = path === 'columns' ? firstColumns() : undefined;
  return first !== undefined && sameQuestion(first.question, asked as Record<string, unknown>)
    ? first.columns
    : undefined;
}

export function sameQuestion(
  embedded: Readonly<Record<string, unknown>>,
  asked: Readonly<Record<string, unknown>>,
): boolean {
  const [have, want] = [Number(embedded['px']), Number(asked['px'])];
  if (!(have >= want * COARSER && have <= want * FINER)) return false;
  const names = new Set([...Object.keys(embedded), ...Object.keys(asked)]);
  names.delete('px');
  return [...names].every(name => JSON.stringify(embedded[name] ?? null) === JSON.stringify(asked[name] ?? null));
}

const decoder = Uint8Array as typeof Uint8Array & {fromBase64?: (text: string) => Uint8Array<ArrayBuffer>}; // not in every browser yet

function bytesOf(base64: string): ArrayBuffer {
  if (decoder.fromBase64 !== undefined) return decoder.fromBase64(base64).buffer;
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes.buffer;
}
