// What the columns of the run table are called.

/** "validation" → "val": both train/loss and loss/train are written. */
function splitName(part: string): string {
  const found = /^(train|val|eval|test)/i.exec(part);
  return found === null ? '' : found[1]!.toLowerCase().replace('train', 'tr');
}

/** "metric:train/loss:last" → "loss"; "hparam:lr" → "lr". */
export function columnLabel(column: string): {short: string; full: string} {
  if (column.startsWith('hparam:')) return {short: column.slice(7), full: column.slice(7)};
  const found = /^metric:(.*):(last|first|min|max|mean|count|step|at_min:.*|at_max:.*)$/s.exec(column);
  if (found === null) return {short: column, full: column};
  const tag = found[1]!;
  const parts = tag.split('/');
  const [before, last] = [parts.at(-2) ?? '', parts.at(-1)!];
  const short =
    splitName(before) !== ''
      ? `${splitName(before)} ${last}`
      : splitName(last) !== '' && before !== ''
        ? `${splitName(last)} ${before}`
        : last;
  return {short: found[2] === 'last' ? short : `${found[2]} ${short}`, full: `${tag}, ${found[2]}`};
}
