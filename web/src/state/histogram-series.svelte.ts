// Loads the histograms a card shows, again when its runs or data change; old data stay until new ones
// are here.
import {loadHistograms, type HistogramAnswer} from '../data/histograms.ts';
import type {Run, Tag} from '../data/types.ts';
import {onChange} from './live.svelte.ts';

export const STEPS = 160; // more slices than a card has pixels to tell apart
export const BINS = 60;

export interface Loaded {
  readonly data: ReadonlyMap<number, HistogramAnswer>; // by run id
  readonly error: string;
  readonly waiting: boolean;
}

/** Call while a component is set up; loads nothing until `near()` is true. */
export function createLoader(tag: () => Tag, wanted: () => readonly Run[], near: () => boolean): Loaded {
  let data = $state.raw<ReadonlyMap<number, HistogramAnswer>>(new Map());
  let error = $state('');
  let waiting = $state(true);
  let version = $state(0);

  $effect(() =>
    onChange(change => {
      if (wanted().some(run => change.touches(run.id, tag().id))) version++;
    }),
  );
  $effect(() => {
    void version;
    if (!near()) return;
    const list = wanted();
    const name = tag().name;
    const stop = new AbortController();
    Promise.all(
      list.map(
        async run =>
          [
            run.id,
            await loadHistograms({run: run.name, tag: name, steps: STEPS, bins: BINS}, {signal: stop.signal}),
          ] as const,
      ),
    ).then(
      answers => {
        data = new Map(answers);
        error = '';
        waiting = false;
      },
      (problem: unknown) => {
        if (stop.signal.aborted) return;
        error = problem instanceof Error ? problem.message : String(problem);
        waiting = false;
      },
    );
    return () => stop.abort();
  });
  return {
    get data() {
      return data;
    },
    get error() {
      return error;
    },
    get waiting() {
      return waiting;
    },
  };
}
