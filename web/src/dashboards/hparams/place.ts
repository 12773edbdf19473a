// Where the points of a metric lie. "validation.loss" is the tag "loss" of the runs called "validation" below their trials;
// a tag that exists under the whole name is meant first.
import {tags} from '../../state/tags.svelte.ts';

export interface Place {
  readonly tag: string;
  readonly below: string | null; // the run's path below the trial; null: any run that has the tag
}

export function placeOf(metric: string): Place {
  if (tags.find('scalar', metric) !== undefined) return {tag: metric, below: null};
  for (let dot = metric.indexOf('.'); dot >= 0; dot = metric.indexOf('.', dot + 1)) {
    const tag = metric.slice(dot + 1);
    if (tags.find('scalar', tag) !== undefined) return {tag, below: metric.slice(0, dot)};
  }
  return {tag: metric, below: null};
}

export function isIn(place: Place, run: string): boolean {
  return place.below === null || run === place.below || run.endsWith(`/${place.below}`);
}
