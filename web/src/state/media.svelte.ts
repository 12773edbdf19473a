// Step cursors of media dashboards: what steps a (run, tag) has, and one cursor that all cards follow.
// Step lists are loaded when a card first asks and again when new data arrives.
import {mediaItems, mediaSteps, type MediaItem, type StepList} from '../data/media.ts';
import type {Run, Tag} from '../data/types.ts';
import {linkedStep} from './linked.svelte.ts';
import {onChange} from './live.svelte.ts';
import {slice} from './view.svelte.ts';

const PAGE = 50;

const own = slice<{step: number | null}>('media', {step: null});

/** The step all media cards show; null follows the newest. The step linked with the charts wins. */
export const cursor = {
  get step(): number | null {
    return linkedStep.on ? linkedStep.step : own.step;
  },
  set step(step: number | null) {
    if (linkedStep.on) linkedStep.step = step;
    else own.step = step;
  },
};

/** Steps of one (run, tag); reading `steps` in a component follows new data. */
export interface Source {
  readonly run: Run;
  readonly tag: Tag;
  readonly list: StepList | null; // null: not loaded yet
  readonly error: string;
  /** The item at an index of the step list. */
  item(index: number): Promise<MediaItem | null>;
  load(): Promise<void>;
}

type LoadSteps = (run: string, tag: string) => Promise<StepList>;

export function createSource(run: Run, tag: Tag, loadSteps: LoadSteps = mediaSteps): Source {
  let list = $state.raw<StepList | null>(null);
  let error = $state('');
  let pages = new Map<number, Promise<MediaItem[]>>();
  let asked = 0;
  return {
    run,
    tag,
    get list() {
      return list;
    },
    get error() {
      return error;
    },
    async load() {
      const mine = ++asked;
      try {
        const fresh = await loadSteps(run.name, tag.name);
        if (mine !== asked) return;
        // Only the last, possibly incomplete page can have changed when a log grows.
        if (list !== null && fresh.steps.length >= list.steps.length) pages.delete(Math.floor(Math.max(0, list.steps.length - 1) / PAGE));
        else pages = new Map();
        list = fresh;
        error = '';
      } catch (problem) {
        if (mine === asked) error = problem instanceof Error ? problem.message : String(problem);
      }
    },
    async item(index) {
      const page = Math.floor(index / PAGE);
      let known = pages.get(page);
      if (known === undefined) {
        known = mediaItems(run.name, tag.name, page * PAGE, PAGE);
        pages.set(page, known);
        known.catch(() => pages.delete(page));
      }
      const items = await known;
      for (const {samples} of items) noteSamples(tag, samples.length);
      return items[index - page * PAGE] ?? null;
    },
  };
}

let sampleCounts = $state.raw<ReadonlyMap<number, number>>(new Map());

/** Samples a step of a tag holds at most, as far as is known: the list of tags need not say. */
export function samplesOf(tag: Tag): number {
  return Math.max(1, tag.samples ?? 1, sampleCounts.get(tag.id) ?? 1);
}

export function noteSamples(tag: Tag, count: number): void {
  if (count > samplesOf(tag)) sampleCounts = new Map([...sampleCounts, [tag.id, count]]);
}

const sources = new Map<string, Source>();

/** The one source of a (run, tag); loads its steps when first asked for. */
export function sourceOf(run: Run, tag: Tag, loadSteps: LoadSteps = mediaSteps): Source {
  const key = `${run.id}\0${tag.id}\0${tag.kind}`;
  let source = sources.get(key);
  if (source === undefined) {
    source = createSource(run, tag, loadSteps);
    sources.set(key, source);
    void source.load();
  }
  return source;
}

onChange((change) => {
  for (const source of sources.values()) if (change.touches(source.run.id, source.tag.id)) void source.load();
});

/** Index in `steps` that a cursor means: null follows the end; otherwise the nearest step. */
export function indexAt(steps: Float64Array, cursor: number | null): number {
  if (cursor === null) return steps.length - 1;
  let best = -1; // steps may go back after a restart: no binary search
  for (let i = 0; i < steps.length; i++) {
    if (best < 0 || Math.abs(steps[i]! - cursor) < Math.abs(steps[best]! - cursor)) best = i;
  }
  return best;
}

/** All steps that any of the lists has, ascending, without repeats. */
export function unionSteps(lists: readonly (StepList | null)[]): Float64Array {
  const known = lists.filter((list) => list !== null);
  if (known.length === 1) return dedupe(known[0]!.steps);
  const all = new Set<number>();
  for (const {steps} of known) for (const step of steps) all.add(step);
  return Float64Array.from(all).sort();
}

function dedupe(steps: Float64Array): Float64Array {
  for (let i = 1; i < steps.length; i++) {
    if (!(steps[i]! > steps[i - 1]!)) return Float64Array.from(new Set(steps)).sort();
  }
  return steps;
}
