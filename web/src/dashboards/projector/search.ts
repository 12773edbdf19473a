// Finding points by their metadata: plain text anywhere, or a regular expression, in one column or in all;
// capital letters do not count.
import type {LabelColumn} from '../../data/embeddings.ts';

/** null: the expression cannot be read. */
export function testerOf(text: string, regex: boolean): ((word: string) => boolean) | null {
  if (regex) {
    try {
      const pattern = new RegExp(text, 'i');
      return word => pattern.test(word);
    } catch {
      return null;
    }
  }
  const wanted = text.toLowerCase();
  return word => word.toLowerCase().includes(wanted);
}

export function findRows(columns: readonly LabelColumn[], rows: number, tester: (word: string) => boolean): number[] {
  const hit = new Uint8Array(rows);
  for (const column of columns) {
    const fits = column.words.map(tester);
    for (let i = 0; i < Math.min(rows, column.codes.length); i++) if (fits[column.codes[i]!]) hit[i] = 1;
  }
  const found: number[] = [];
  for (let i = 0; i < rows; i++) if (hit[i] === 1) found.push(i);
  return found;
}
