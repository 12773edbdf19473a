// What needs a look, in words: damage by file, torn ends together, skipped files, restarts, hints.
import type {Diagnosis, DiagnosisFile, Info} from '../../data/types.ts';
import {formatBytes, formatCount, sentence} from '../../text/format.ts';
import {t} from '../../text/messages.ts';

export interface Issue {
  readonly key: string;
  readonly tone: 'bad' | 'warn' | 'note';
  readonly title: string;
  readonly text: string;
  readonly advice?: string | undefined;
  readonly file?: DiagnosisFile;
}

const MOST_FILES = 20; // told one by one, those that lost most first
const MOST_PLACES = 3;

/** What became of a file: words, not the codes of the report. */
export function stateText(file: DiagnosisFile): string {
  const lost = file.damage.filter(one => one.severity === 'loss').length;
  if (lost > 0) return t('files.state.damaged', {n: lost});
  return file.damage.length > 0 ? t('files.state.incomplete') : file.state;
}

export function issuesOf(diagnosis: Diagnosis, restarted: readonly string[]): Issue[] {
  const out: Issue[] = [];
  const lost = diagnosis.files
    .map(file => ({file, loss: file.damage.filter(one => one.severity === 'loss')}))
    .filter(one => one.loss.length > 0);
  const bytes = (loss: (typeof lost)[number]['loss']): number => loss.reduce((sum, one) => sum + one.length, 0);
  lost.sort((a, b) => bytes(b.loss) - bytes(a.loss));
  for (const {file, loss} of lost.slice(0, MOST_FILES)) {
    out.push({
      key: file.path,
      tone: 'bad',
      file,
      title: t('files.issue.damage', {n: loss.length, path: file.path}),
      text:
        loss
          .slice(0, MOST_PLACES)
          .map(one =>
            t('files.issue.place', {
              text: sentence(one.text),
              byte: formatCount(one.offset),
              bytes: formatBytes(one.length),
            }),
          )
          .join(' ') +
        (loss.length > MOST_PLACES
          ? ` ${t('files.issue.more_places', {n: formatCount(loss.length - MOST_PLACES)})}`
          : ''),
      advice: sentence(loss.find(one => one.advice)?.advice ?? ''),
    });
  }
  if (lost.length > MOST_FILES)
    out.push({
      key: 'more',
      tone: 'bad',
      title: t('files.issue.more_files', {n: formatCount(lost.length - MOST_FILES)}),
      text: t('files.issue.more_files_where'),
    });
  const torn = diagnosis.files.filter(
    file => file.damage.length > 0 && file.damage.every(one => one.severity !== 'loss'),
  );
  if (torn.length > 0) {
    const first = torn[0]!.damage[0]!;
    out.push({
      key: 'torn',
      tone: 'warn',
      title: t('files.issue.torn', {n: torn.length}),
      text: `${sentence(first.text)} ${torn
        .slice(0, 3)
        .map(file => file.path)
        .join(', ')}${torn.length > 3 ? ' …' : ''}`,
      advice: sentence(first.advice ?? ''),
    });
  }
  for (const hint of diagnosis.hints)
    out.push({key: hint.text, tone: 'warn', title: sentence(hint.text), text: sentence(hint.fix ?? '')});
  if (restarted.length > 0)
    out.push({
      key: 'restarts',
      tone: 'note',
      title: t('files.issue.restarts', {n: restarted.length}),
      text: `${restarted.slice(0, 5).join(', ')}${restarted.length > 5 ? ' …' : ''}. ${t('files.issue.restarts_text')}`,
    });
  if (diagnosis.skipped.length > 0) {
    const reasons = new Map<string, number>();
    for (const one of diagnosis.skipped) reasons.set(one.reason, (reasons.get(one.reason) ?? 0) + 1);
    out.push({
      key: 'skipped',
      tone: 'note',
      title: t('files.issue.skipped', {n: diagnosis.skipped.length}),
      text: [...reasons]
        .sort((a, b) => b[1] - a[1])
        .slice(0, 6)
        .map(([reason, n]) => `${reason} (${n})`)
        .join(', '),
    });
  }
  return out;
}

/** The diagnosis as text for a bug report. */
export function reportOf(diagnosis: Diagnosis, info: Info | null): string {
  const lines = [
    `Sonde ${info?.version ?? ''}`,
    `roots: ${diagnosis.roots.join(', ')}`,
    `scanned: ${JSON.stringify(diagnosis.scanned)}`,
    `watch: ${diagnosis.watch ?? ''}`,
  ];
  for (const file of diagnosis.files) {
    if (file.damage.length === 0) continue;
    lines.push(`${file.path}: ${file.state}, ${file.bytes} bytes, ${file.records} records`);
    for (const one of file.damage)
      lines.push(`  byte ${one.offset} + ${one.length}: ${one.kind} (${one.severity}): ${one.text}`);
  }
  for (const one of diagnosis.skipped.slice(0, 200)) lines.push(`skipped ${one.path}: ${one.reason}`);
  return `${lines.join('\n')}\n`;
}
