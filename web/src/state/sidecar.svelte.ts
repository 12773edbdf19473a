// What belongs to the logs and is kept beside them: names, colours, notes and tags of runs, saved
// views, annotations. Read once, changed by merge patches; created by the server on the first save.
import {ApiError, client} from '../data/client.ts';
import type {RunNotes, Sidecar} from '../data/types.ts';
import {toast} from './toast.svelte.ts';

let doc = $state.raw<Sidecar>({});
let etag = '';
let queue: Promise<void> = Promise.resolve();

export const sidecar = {
  get doc(): Sidecar {
    return doc;
  },
  notes(run: string): RunNotes {
    return doc.runs?.[run] ?? {};
  },
  /** The colour a person gave to a group, by what the runs are grouped by. */
  groupColour(spec: string, key: string): string | undefined {
    const all = doc.settings?.['group_colours'] as Record<string, Record<string, string>> | undefined;
    return all?.[spec]?.[key];
  },
};

export async function loadSidecar(): Promise<void> {
  try {
    const answer = await client().getTagged<Sidecar>('sidecar');
    doc = answer.value ?? {};
    etag = answer.etag;
  } catch {
    doc = {}; // a server without one: nothing is known, nothing can be saved
  }
}

/** Applies a JSON merge patch at once and saves it; on failure the page keeps it for this visit and says so. */
export function patchSidecar(patch: Record<string, unknown>): void {
  doc = mergePatch(doc, patch) as Sidecar;
  queue = queue.then(() => save(patch));
}

export function patchRun(name: string, notes: {[K in keyof RunNotes]: RunNotes[K] | null}): void {
  patchSidecar({runs: {[name]: notes}});
}

export function patchGroupColour(spec: string, key: string, colour: string | null): void {
  patchSidecar({settings: {group_colours: {[spec]: {[key]: colour}}}});
}

async function save(patch: Record<string, unknown>): Promise<void> {
  for (let tries = 0; tries < 4; tries++) {
    try {
      const answer = await client().send<Sidecar>('PATCH', 'sidecar', patch, etag === '' ? {} : {'If-Match': etag});
      etag = answer.etag;
      if (answer.value !== null && typeof answer.value === 'object' && 'sonde' in answer.value) doc = answer.value;
      return;
    } catch (problem) {
      if (problem instanceof ApiError && problem.status === 412) {
        const fresh = await client().getTagged<Sidecar>('sidecar');
        etag = fresh.etag;
        doc = mergePatch(fresh.value, patch) as Sidecar;
        continue;
      }
      toast(problem instanceof ApiError ? `${problem.message} ${problem.fix}`.trim() : String(problem));
      return;
    }
  }
}

/** RFC 7396. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const out: Record<string, unknown> =
    typeof target === 'object' && target !== null && !Array.isArray(target) ? {...target} : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete out[key];
    else out[key] = mergePatch(out[key], value);
  }
  return out;
}
