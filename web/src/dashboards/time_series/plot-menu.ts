// The menu at a place of a plot: the run there, the step there, the zoom, the export.
import {copyText} from '../../parts/clipboard.ts';
import type {MenuItem} from '../../parts/menu.ts';
import {openNumerics, recordingOf} from '../../state/numerics.svelte.ts';
import {runs, setShown, showOnly} from '../../state/runs.svelte.ts';
import {formatStep} from '../../text/format.ts';
import {t} from '../../text/messages.ts';

export interface PlotPlace {
  readonly at: {x: number; y: number};
  readonly run: number | null;
  readonly x: number | null;
}

export interface PlotActions {
  readonly zoomed: boolean;
  select(step: number): void;
  note(step: number): void;
  fit(): void;
  export(): void;
}

export function plotMenu(place: PlotPlace, hasSteps: boolean, actions: PlotActions): MenuItem[] {
  const run = place.run === null ? undefined : runs.byId(place.run);
  const items: MenuItem[] =
    run === undefined
      ? []
      : [
          {caption: runs.nameOf(run)},
          {label: t('ts.plot.only'), icon: 'target', run: () => showOnly([run])},
          {label: t('ts.plot.hide'), icon: 'eyeOff', run: () => setShown([run], false)},
          {label: t('ts.plot.copy'), icon: 'copy', run: () => void copyText(run.name)},
          {separator: true},
        ];
  const {x} = place;
  if (x !== null && hasSteps) {
    const step = formatStep(x);
    items.push(
      {label: t('ts.plot.step', {step}), icon: 'flag', run: () => actions.select(x)},
      {label: t('ts.plot.note', {step}), icon: 'note', run: () => actions.note(x)},
    );
    const recording = run === undefined ? undefined : recordingOf(run.name);
    if (recording !== undefined)
      items.push({
        label: t('ts.plot.numerics', {step}),
        icon: 'target',
        run: () => openNumerics(recording.name, Math.round(x)),
      });
  }
  return [
    ...items,
    {label: t('ts.reset_zoom'), icon: 'reset', keys: '0', disabled: !actions.zoomed, run: actions.fit},
    {label: t('ts.menu.export'), icon: 'down', keys: 'e', run: actions.export},
  ];
}
