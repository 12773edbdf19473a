// The words beside the pointer: a slice and how long it took, or a counter and its value.
import {MERGED} from '../../../data/trace.ts';
import {cellAt, stripOf, type Scene} from '../../../draw/trace/paint.ts';
import {formatPicos} from '../../../draw/trace/time-axis.ts';
import {formatValue} from '../../../text/format.ts';
import {t} from '../../../text/messages.ts';
import type {OpenCapture} from './capture.svelte.ts';

export interface PaneTip {
  readonly x: number;
  readonly y: number;
  readonly name: string;
  readonly text: string;
}

export function tipAt(
  scene: Scene,
  capture: OpenCapture,
  at: {readonly x: number; readonly y: number},
): PaneTip | null {
  const time = scene.t0 + (at.x / scene.width) * (scene.t1 - scene.t0);
  if (at.y < stripOf(scene)) {
    const step = scene.steps.find(one => time >= one.begin && time < one.end);
    return step === undefined ? null : {...at, name: step.name, text: formatPicos(step.end - step.begin)};
  }
  const cells = capture.cells;
  const hit = cellAt(scene, at.x, at.y);
  if (hit !== null && cells !== null) {
    const name = capture.names[cells.name[hit.index]!] ?? '';
    const text =
      cells.slice[hit.index] === MERGED
        ? t('profile.merged', {share: Math.round((cells.busy[hit.index]! / 255) * 100)})
        : formatPicos(cells.dur[hit.index]! * cells.tick);
    return {...at, name, text};
  }
  const inside = at.y - stripOf(scene) + scene.scroll;
  const lane = scene.lanes.find(one => one.kind === 'counter' && inside >= one.top && inside < one.top + one.height);
  const line = scene.counters.find(one => one.track === lane?.track);
  if (lane === undefined || line === undefined) return null;
  let index = -1;
  for (let low = 0, high = line.t.length; low < high;) {
    const middle = (low + high) >> 1;
    if (line.t[middle]! <= time) [index, low] = [middle, middle + 1];
    else high = middle;
  }
  return index < 0 ? null : {...at, name: lane.name, text: formatValue(line.last[index]!, 6)};
}
