// All tags of the log directory, in natural order, and which runs have them.
import {client} from '../data/client.ts';
import type {Tag, TagsAnswer} from '../data/types.ts';
import {compareNatural} from '../text/natural.ts';

let list = $state.raw<readonly Tag[]>([]);
let rev = 0;
let ready = $state(false);

const kinds = $derived(new Set(list.map(tag => tag.kind)));
const plugins = $derived(new Set(list.map(tag => tag.plugin)));
const byName = $derived(new Map(list.map(tag => [`${tag.kind}\0${tag.name}`, tag])));
const byId = $derived(new Map(list.map(tag => [tag.id, tag])));

export const tags = {
  get all(): readonly Tag[] {
    return list;
  },
  get kinds(): ReadonlySet<string> {
    return kinds;
  },
  get plugins(): ReadonlySet<string> {
    return plugins;
  },
  get ready(): boolean {
    return ready;
  },
  ofKind(kind: string): readonly Tag[] {
    return list.filter(tag => tag.kind === kind);
  },
  find(kind: string, name: string): Tag | undefined {
    return byName.get(`${kind}\0${name}`);
  },
  byId(id: number): Tag | undefined {
    return byId.get(id);
  },
};

/** Whether a run id lies in the tag's id intervals. */
export function tagHasRun(tag: Tag, run: number): boolean {
  let lo = 0;
  let hi = tag.runs.length - 1;
  while (lo <= hi) {
    const mid = (lo + hi) >> 1;
    const [first, last] = tag.runs[mid]!;
    if (run < first) hi = mid - 1;
    else if (run > last) lo = mid + 1;
    else return true;
  }
  return false;
}

export async function loadTags(fresh: boolean): Promise<void> {
  const since = fresh ? 0 : rev;
  const answer = await client().get<TagsAnswer>('tags', since > 0 ? {since} : {});
  rev = answer.rev;
  if (since === 0) {
    list = [...answer.tags].sort(order);
  } else if (answer.tags.length > 0) {
    const merged = new Map(list.map(tag => [tag.id, tag]));
    for (const tag of answer.tags) merged.set(tag.id, tag);
    list = [...merged.values()].sort(order);
  }
  ready = true;
}

function order(a: Tag, b: Tag): number {
  return compareNatural(a.name, b.name) || compareNatural(a.kind, b.kind);
}
