// What a line chart shows. Numbers come as typed arrays from the wire; x, y and the other columns of a
// series are parallel.
import type {AxisKind, Domain, ScaleKind} from './scale.ts';

export type Numbers = ArrayLike<number>;

export interface ChartSeries {
  readonly key: string; // stable over updates
  readonly run: number; // run id, or −1−index of a group
  readonly tag: string;
  readonly label: string;
  readonly colour: string;
  readonly dash: readonly number[];
  readonly x: Numbers;
  /** The line: smoothed values, or the mean (thinned) or the value (exact). NaN leaves a gap. */
  readonly y: Numbers;
  /** True values at the same places; the ghost line behind a smoothed one. */
  readonly raw?: Numbers | undefined;
  /** Extent of the points that share a place, where several do. */
  readonly lo?: Numbers | undefined;
  readonly hi?: Numbers | undefined;
  /** A band around the line (groups): filled, no outline. */
  readonly bandLo?: Numbers | undefined;
  readonly bandHi?: Numbers | undefined;
  readonly step?: Numbers | undefined;
  readonly wall?: Numbers | undefined;
  readonly nan?: Numbers | undefined;
  readonly members?: Numbers | undefined;
  readonly exact: boolean;
  readonly total: number; // points in the range before thinning
  readonly first: number; // wall time of the first point
  readonly width?: number;
  readonly alpha?: number;
  /** x may go back: each going-back begins a new part (restarts kept). */
  readonly parts?: boolean;
  /** Measured on the axis at the right. */
  readonly second?: boolean;
}

export interface ChartModel {
  readonly title: string;
  readonly series: readonly ChartSeries[];
  readonly xKind: AxisKind;
  readonly xTitle: string;
  readonly xScale: ScaleKind;
  readonly yScale: ScaleKind;
  /** Typed or zoomed ranges; null = fit the data. */
  readonly xView: Domain | null;
  readonly yView: Domain | null;
  /** Typed ends of y; an end that is null fits the data. */
  readonly yEnds?: readonly [number | null, number | null];
  /** The whole range of the data when the series hold only a part of it. */
  readonly xExtent?: Domain | null;
  /** Share of values ignored at each end when fitting y: 0.05 = TensorBoard's rule. */
  readonly outliers: number;
  readonly ghost: number; // opacity of the raw line
  readonly labels: boolean; // name the lines at their right end
  readonly notes?: readonly {readonly x: number; readonly text: string}[];
  /** The lines were asked for exactly the zoomed range: nothing finer will come. */
  readonly fine?: boolean;
}

/** What lies over the data: repainted for every pointer move, so it must be cheap. */
export interface ChartOverlay {
  readonly cross: number | null; // x value of the crosshair
  readonly hot: number; // index of the emphasised series, −1 = none
  readonly dots: readonly {readonly series: number; readonly index: number}[];
  readonly step: number | null; // chosen step, or the start of the range
  readonly end: number | null;
  readonly prospect: number | null; // where a click on the axis would put the step
  readonly box: {readonly x0: number; readonly y0: number; readonly x1: number; readonly y1: number} | null; // zoom rectangle, px
}

export const NO_OVERLAY: ChartOverlay = {
  cross: null,
  hot: -1,
  dots: [],
  step: null,
  end: null,
  prospect: null,
  box: null,
};
