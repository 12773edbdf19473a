// What the page of a run shows: its values beside those of another run, and what its program said about itself.
import {client} from '../../data/client.ts';
import type {Run, TableAnswer} from '../../data/types.ts';
import {hparams} from '../../state/hparams.svelte.ts';
import {live} from '../../state/live.svelte.ts';
import {tagHasRun, tags} from '../../state/tags.svelte.ts';
import {columnsFor, compare, type Comparison} from './compare.ts';

const MOST_TAGS = 1000; // metrics on the page; more are on Time series

export interface About {
  readonly about: Readonly<Record<string, unknown>> | null;
  readonly diff?: string;
  readonly problem?: string;
}

export interface RunFacts {
  readonly values: Comparison | null;
  readonly about: About | null;
  readonly left: number; // metrics that are not listed
  readonly error: string;
}

/** Follows the run, the run it is compared with, and what is logged meanwhile. */
export function createFacts(run: () => Run | undefined, other: () => Run | undefined): RunFacts {
  let values = $state.raw<Comparison | null>(null);
  let about = $state.raw<About | null>(null);
  let left = $state(0);
  let error = $state('');
  const say = (problem: unknown): void => void (error = problem instanceof Error ? problem.message : String(problem));

  $effect(() => {
    const [one, two] = [run(), other()];
    void live.lastChange;
    if (one === undefined) return;
    const params = hparams.all.map(({name}) => name);
    const having = tags
      .ofKind('scalar')
      .filter(tag => tagHasRun(tag, one.id) || (two !== undefined && tagHasRun(tag, two.id)));
    const names = having.slice(0, MOST_TAGS).map(tag => tag.name);
    left = having.length - names.length;
    const stop = new AbortController();
    const body = {
      columns: columnsFor(params, names),
      filter: [{col: 'name', in: [one.name, ...(two === undefined ? [] : [two.name])]}],
      sort: [],
      offset: 0,
      limit: 2,
      group: null,
    };
    client()
      .ask<TableAnswer>('table', body, {signal: stop.signal})
      .then(
        answer => {
          values = compare(answer, params, names, one.name, two?.name ?? '');
          error = '';
        },
        problem => void (stop.signal.aborted || say(problem)),
      );
    return () => stop.abort();
  });
  $effect(() => {
    const one = run();
    about = null;
    if (one === undefined) return;
    const name = one.name;
    client()
      .get<About>('run', {run: name})
      .then(answer => {
        if (run()?.name === name) about = answer;
      }, say);
  });
  return {
    get values() {
      return values;
    },
    get about() {
      return about;
    },
    get left() {
      return left;
    },
    get error() {
      return error;
    },
  };
}
