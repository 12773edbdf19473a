// What was found, counted the same way wherever it is shown.
import type {Diagnosis, DiagnosisFile} from './types.ts';

/** Every file found, whatever its kind. */
export function fileCount(diagnosis: Diagnosis): number {
  return (diagnosis.also ?? []).reduce((sum, one) => sum + one.files, diagnosis.total ?? diagnosis.files.length);
}

/** Captures, embeddings and debugger dumps as rows of the table of files. */
export function otherFiles(diagnosis: Diagnosis): DiagnosisFile[] {
  return (diagnosis.also ?? []).map(one => ({
    path: one.path,
    run: null,
    kind: one.kind,
    bytes: one.bytes,
    read: 0,
    records: one.files,
    damaged: 0,
    state: 'complete',
    damage: [],
  }));
}
