// Step cursors of media dashboards: what steps a (run, tag) has, and one cursor that all cards follow.
// Step lists are loaded when a card first asks and again when new data arrives.
import {untrack} from 'svelte';
import {mediaItems, mediaSteps, type MediaItem, type StepList} from '../data/media.ts';
import type {Run, Tag} from '../data/types.ts';
import {linkedStep} from './linked.svelte.ts';
import {onChange, onReopen} from './live.svelte.ts';
import {runs} from './runs.svelte.ts';
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
  load(): Promise<void>; // never rejects: `error` says what went wrong
}

type LoadSteps = (run: string, tag: string) => Promise<StepList>;

export function createSource(run: Run, tag: Tag, loadSteps: LoadSteps = mediaSteps): Source {
  let list = $state.raw<StepList | null>(null);
  let error = $state('');
  let pages = new Map<number, Promise<MediaItem[]>>();
  let asked = 0;
  let boot = runs.boot;
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
        // Only the last, possibly incomplete page can have changed when a log grows; references are of one boot.
        if (boot === runs.boot && list !== null && fresh.steps.length >= list.steps.length)
          pages.delete(Math.floor(Math.max(0, list.steps.length - 1) / PAGE));
        else pages = new Map();
        boot = runs.boot;
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
const first = new WeakMap<Source, Promise<void>>(); // the first load of each

/** The one source of a (run, tag); loads its steps when first asked for. */
export function sourceOf(run: Run, tag: Tag, loadSteps: LoadSteps = mediaSteps): Source {
  const key = `${run.id}\0${tag.id}\0${tag.kind}`;
  let source = sources.get(key);
  if (source === undefined) {
    source = createSource(run, tag, loadSteps);
    sources.set(key, source);
    first.set(source, source.load());
  }
  return source;
}

onChange(change => {
  for (const source of sources.values()) if (change.touches(source.run.id, source.tag.id)) void source.load();
});

onReopen(() => {
  for (const source of sources.values()) if (source.error !== '') void source.load();
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
  const known = lists.filter(list => list !== null);
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

type Pair = Pick<Source, 'run' | 'tag'>;
const pairKey = ({run, tag}: Pair): string => `${run.id} ${tag.id}`;
const AT_ONCE = 8;
const MOST_ASKED = 400; // of more cards, the steps of those that were in view count too

export interface Steps {
  readonly all: Float64Array;
  /** A card in view has this source. */
  add(source: Source): void;
}

/** All steps of the given cards, also of those not in view: the slider must not change by scrolling. Call while a component is set up. */
export function createSteps(cards: () => readonly Pair[], loadSteps: LoadSteps = mediaSteps): Steps {
  let known: ReadonlyMap<string, Source> = $state.raw(new Map());
  const wanted = $derived(new Map(cards().map(card => [pairKey(card), card])));
  const all = $derived(unionSteps([...known].filter(([key]) => wanted.has(key)).map(([, source]) => source.list)));
  const add = (some: readonly Source[]): void => {
    if (some.some(source => !known.has(pairKey(source))))
      known = new Map([...known, ...some.map(source => [pairKey(source), source] as const)]);
  };
  $effect(() => {
    const pairs = [...wanted.values()].slice(0, MOST_ASKED);
    let stopped = false;
    const ask = async (): Promise<void> => {
      for (let i = 0; i < pairs.length && !stopped; i += AT_ONCE) {
        const some = pairs.slice(i, i + AT_ONCE).map(({run, tag}) => sourceOf(run, tag, loadSteps));
        await Promise.all(some.map(source => first.get(source)));
        if (!stopped) add(some);
      }
    };
    untrack(() => void ask());
    return () => void (stopped = true);
  });
  return {
    get all() {
      return all;
    },
    add: source => untrack(() => add([source])),
  };
}
