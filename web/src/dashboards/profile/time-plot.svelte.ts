// A hand on a plot over time: hovering finds the point that holds at the pointer, dragging a stretch. The plot
// draws; this knows where its times lie.
import {lastUpTo} from '../../draw/nearest.ts';

export interface TimePlot {
  /** Index of the point under the pointer. */
  readonly hot: number | null;
  /** The stretch being dragged, px. */
  readonly drag: {readonly a: number; readonly b: number} | null;
  /** Where a time lies in a plot of this width; what is hovered next is read in the same. */
  x(time: number, width: number): number;
  hover(x: number): void;
  leave(): void;
  press(x: number): void;
  /** The chosen stretch of time, or a click, or nothing when the hand came from elsewhere. */
  release(x: number): readonly [number, number] | 'click' | null;
}

const LEAST_PX = 5; // a shorter drag is a click

export function createTimePlot(
  margin: {readonly left: number; readonly right: number},
  points: () => readonly {readonly time: number}[],
  range: () => readonly [number, number],
): TimePlot {
  let hot = $state<number | null>(null);
  let drag = $state.raw<{a: number; b: number} | null>(null);
  let width = 600;
  const inner = (): number => width - margin.left - margin.right;
  function timeAt(x: number): number {
    const [from, to] = range();
    return from + (Math.min(Math.max(0, x - margin.left), inner()) / inner()) * (to - from);
  }
  return {
    get hot() {
      return hot;
    },
    get drag() {
      return drag;
    },
    x: (time, w) => {
      width = w;
      const [from, to] = range();
      return margin.left + ((time - from) / (to - from)) * inner();
    },
    hover: x => {
      const list = points();
      if (drag !== null) drag = {...drag, b: x};
      else if (list.length === 0 || x < margin.left || x > width - margin.right) hot = null;
      else hot = lastUpTo(list.length, i => list[i]!.time, timeAt(x));
    },
    leave: () => void (hot = null),
    press: x => void (drag = {a: x, b: x}),
    release: x => {
      const was = drag;
      drag = null;
      if (was === null) return null;
      return Math.abs(x - was.a) <= LEAST_PX ? 'click' : [timeAt(Math.min(was.a, x)), timeAt(Math.max(was.a, x))];
    },
  };
}
