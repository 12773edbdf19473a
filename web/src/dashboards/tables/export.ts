// All rows that a question finds, as a file of JSON lines.
import {loadRow, loadRows, type RowsQuestion} from '../../data/run-files.ts';
import {safeName, saveFile} from '../../parts/clipboard.ts';

const PAGE = 1000;
const MOST = 100_000;

export async function exportRows(question: Omit<RowsQuestion, 'offset' | 'limit'>): Promise<void> {
  const lines: string[] = [];
  for (let offset = 0; offset < MOST; offset += PAGE) {
    const page = await loadRows({...question, offset, limit: PAGE});
    for (const row of page.rows) {
      // A list shows long texts shortened; the file has them whole.
      const whole = row.cut === undefined ? row : await loadRow(question.run, question.table, row.row);
      if (whole.cells !== undefined) lines.push(JSON.stringify({_step: row.step, _time: row.time, ...whole.cells}));
    }
    if (offset + PAGE >= page.matched) break;
  }
  saveFile(
    `${safeName(`${question.run}_${question.table}`)}.jsonl`,
    new Blob([lines.join('\n') + '\n'], {type: 'application/x-ndjson'}),
  );
}
