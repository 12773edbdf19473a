// All dashboards in the order of their tabs: one line each.
import type {Dashboard} from './dashboard.ts';
import {timeSeries} from './time_series/entry.ts';
import {audio} from './audio/entry.ts';
import {distributions, histograms} from './histograms/entry.ts';
import {customScalars} from './custom_scalars/entry.ts';
import {mesh} from './mesh/entry.ts';
import {prCurves} from './pr_curves/entry.ts';
import {text} from './text/entry.ts';
import {images} from './images/entry.ts';
import {alerts} from './alerts/entry.ts';
import {consoles} from './console/entry.ts';
import {panels} from './panels/entry.ts';
import {tables} from './tables/entry.ts';
import {system} from './system/entry.ts';
import {files} from './files/entry.ts';
import {hparams} from './hparams/entry.ts';
import {graphs} from './graphs/entry.ts';
import {projector} from './projector/entry.ts';
import {numerics} from './numerics/entry.ts';
import {profile} from './profile/entry.ts';
import {run} from './run/entry.ts';
import {whatIf} from './whatif/entry.ts';

export const DASHBOARDS: readonly Dashboard[] = [
  timeSeries,
  panels,
  images,
  histograms,
  distributions,
  audio,
  text,
  tables,
  prCurves,
  mesh,
  customScalars,
  hparams,
  graphs,
  projector,
  numerics,
  whatIf,
  profile,
  system,
  consoles,
  alerts,
  run,
  files,
];
