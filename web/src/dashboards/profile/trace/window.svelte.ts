// The piece of time in view, shared by everything that draws it: lanes, minimap, axis.

export interface TimeWindow {
  t0: number; // ps
  t1: number;
  readonly span: number;
  /** The whole that a person can look at, with a little room at its ends. */
  whole: readonly [number, number];
  /** Keeps the time at `share` (0 left, 1 right) where it is. */
  zoom(factor: number, share: number): void;
  /** By a share of what is in view. */
  pan(share: number): void;
  /** Shows a range with room around it. */
  fit(a: number, b: number, room?: number): void;
  reset(): void;
}

const SHORTEST = 1000; // 1 ns: slices of kernels are longer

export function createWindow(): TimeWindow {
  let t0 = $state(0);
  let t1 = $state(1);
  let whole = $state.raw<readonly [number, number]>([0, 1]);
  return {
    get t0() {
      return t0;
    },
    set t0(value) {
      t0 = value;
    },
    get t1() {
      return t1;
    },
    set t1(value) {
      t1 = value;
    },
    get span() {
      return t1 - t0;
    },
    get whole() {
      return whole;
    },
    set whole(value) {
      whole = value;
    },
    zoom(factor, share) {
      const at = t0 + share * (t1 - t0);
      const longest = (whole[1] - whole[0]) * 1.2 + SHORTEST;
      const span = Math.min(longest, Math.max(SHORTEST, (t1 - t0) * factor));
      [t0, t1] = [at - share * span, at - share * span + span];
    },
    pan(share) {
      const by = share * (t1 - t0);
      const reach = (t1 - t0) * 0.9; // some of the trace always stays in view
      const bounded = Math.max(whole[0] - reach - t0, Math.min(whole[1] + reach - t1, by));
      [t0, t1] = [t0 + bounded, t1 + bounded];
    },
    fit(a, b, room = 0.1) {
      const margin = Math.max(SHORTEST / 2, (b - a) * room);
      [t0, t1] = [a - margin, b + margin];
    },
    reset() {
      this.fit(whole[0], whole[1], 0.01);
    },
  };
}
