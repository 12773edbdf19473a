// One capture in the viewer: what is known of it and the cells of what is in view. One question is under way at a
// time; when it is answered, the next asks for what is in view by then, so panning never waits for its end.
import {
  earlyCells,
  NO_NAMES,
  traceSource,
  type CounterView,
  type TraceAbout,
  type TraceInfo,
  type TraceNames,
  type TraceSource,
  type TraceSteps,
  type TraceView,
} from '../../../data/trace.ts';

export interface Wanted {
  readonly t0: number; // in the capture's own time
  readonly t1: number;
  readonly px: number;
  readonly tracks: readonly number[];
  readonly flat: readonly number[];
  readonly counters: readonly number[];
  readonly argument: string; // whose values the cells are marked with
}

export interface OpenCapture {
  readonly source: TraceSource;
  readonly info: TraceInfo | null;
  readonly names: readonly string[];
  readonly categories: readonly string[];
  readonly category: readonly number[]; // of each name
  readonly steps: TraceSteps | null;
  readonly cells: TraceView | null;
  readonly counters: readonly CounterView[];
  readonly failed: string;
  /** What there is to choose from; null until somebody has asked for it. */
  readonly about: TraceAbout | null;
  askAbout(): void;
  want(wanted: Wanted): void;
  close(): void;
}

const textOf = (problem: unknown): string => (problem instanceof Error ? problem.message : String(problem));

export function openCaptureData(session: string, host: number): OpenCapture {
  const source = traceSource(session, host);
  const stop = new AbortController();
  const options = {signal: stop.signal};
  let info = $state.raw<TraceInfo | null>(null);
  let named = $state.raw<TraceNames>(NO_NAMES);
  let about = $state.raw<TraceAbout | null>(null);
  let asked = false;
  let steps = $state.raw<TraceSteps | null>(null);
  let cells = $state.raw<TraceView | null>(null);
  let counters = $state.raw<readonly CounterView[]>([]);
  let failed = $state('');
  let next: Wanted | null = null;
  let held: Wanted | null = null; // what `cells` were asked for
  let asking = false;

  const fail = (problem: unknown): void => {
    if (!stop.signal.aborted) failed = textOf(problem);
  };
  source
    .info(options)
    .then(answer => {
      info = answer;
      source.names(page => (named = page), options).catch(fail);
    })
    .catch(fail);
  /** Steps follow the first paint: finding them takes the server longer than any picture. */
  const askSteps = (): void =>
    void source
      .steps(options)
      .then(found => (steps = found))
      .catch(() => undefined);

  /** Whether the cells at hand serve a wish: they cover it, at about its scale, with its tracks. */
  function serves(wish: Wanted): boolean {
    if (held === null) return false;
    const [now, then] = [(wish.t1 - wish.t0) / wish.px, (held.t1 - held.t0) / held.px];
    const known = new Set([...held.tracks, ...held.counters, ...held.flat.map(id => -1 - id)]);
    return (
      held.argument === wish.argument &&
      held.t0 <= wish.t0 &&
      held.t1 >= wish.t1 &&
      then <= now * 1.01 &&
      then >= now / 2 &&
      wish.tracks.every(id => known.has(id)) &&
      wish.counters.every(id => known.has(id)) &&
      wish.flat.every(id => known.has(-1 - id) || known.has(id))
    );
  }
  /** What was asked for before this code ran; a wish it does not serve is asked for as any other. */
  async function takeEarly(): Promise<void> {
    const first = await earlyCells(session, host).catch(() => null);
    if (first === null || stop.signal.aborted) return;
    [cells, counters, held] = [first.cells, first.counters, first.wish];
    askSteps();
  }
  async function ask(): Promise<void> {
    if (asking) return;
    asking = true;
    if (held === null) await takeEarly();
    while (next !== null && !stop.signal.aborted) {
      const wish: Wanted = next;
      next = null;
      if (serves(wish)) continue;
      // Wider than the screen, so that a pan has something to show at once.
      const margin = (wish.t1 - wish.t0) * 0.5;
      const wide = {...wish, t0: wish.t0 - margin, t1: wish.t1 + margin, px: Math.round(wish.px * 2)};
      try {
        const [slices, lines] = await Promise.all([
          source.view(wide.t0, wide.t1, wide.px, wide, options),
          source.counters(wide.t0, wide.t1, wide.px, wide.counters, options),
        ]);
        if (held === null) askSteps();
        [cells, counters, held] = [slices, lines, wide];
      } catch (problem) {
        fail(problem);
        next = null;
      }
    }
    asking = false;
  }
  return {
    source,
    get info() {
      return info;
    },
    get names() {
      return named.names;
    },
    get categories() {
      return named.categories;
    },
    get category() {
      return named.category;
    },
    get about() {
      return about;
    },
    askAbout() {
      if (asked) return;
      asked = true;
      source
        .about(options)
        .then(answer => (about = answer))
        .catch(() => (asked = false));
    },
    get steps() {
      return steps;
    },
    get cells() {
      return cells;
    },
    get counters() {
      return counters;
    },
    get failed() {
      return failed;
    },
    want(wanted) {
      next = wanted;
      void ask();
    },
    close: () => stop.abort(),
  };
}
