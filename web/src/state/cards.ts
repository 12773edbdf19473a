// From tags and runs to sections of cards: pure rules shared by the dashboards that show one card per
// run and tag.
import type {Run, Tag} from '../data/types.ts';
import {compile} from './groups.ts';

export interface TagCard {
  readonly key: string;
  readonly tag: Tag;
  readonly run: Run;
  readonly sample: number;
}

export interface CardSection<T> {
  readonly name: string;
  readonly cards: readonly T[];
}

/** `a/b/c` → section `a`, title `b/c`; tags without `/` share the section without a name. */
export function splitTag(name: string): {section: string; title: string} {
  const at = name.indexOf('/');
  return at > 0 && at < name.length - 1
    ? {section: name.slice(0, at), title: name.slice(at + 1)}
    : {section: '', title: name};
}

/** Tags whose name matches the filter (a regular expression, case-insensitive); null when it is none. */
export function matchTags(tags: readonly Tag[], filter: string): readonly Tag[] | null {
  if (filter === '') return tags;
  const pattern = compile(filter, 'i');
  return pattern === null ? null : tags.filter(tag => pattern.test(tag.name));
}

/** Cards in the order given, cut into sections by the first part of their tag; the nameless one first. */
export function sectionsOf<T extends {readonly tag: Tag}>(cards: readonly T[]): CardSection<T>[] {
  const sections = new Map<string, T[]>();
  for (const card of cards) {
    const {section} = splitTag(card.tag.name);
    const known = sections.get(section);
    if (known === undefined) sections.set(section, [card]);
    else known.push(card);
  }
  const list = [...sections].map(([name, cards]) => ({name, cards}));
  return list.sort((a, b) => Number(b.name === '') - Number(a.name === ''));
}

/** One card per tag and shown run that has it, and per sample where a step holds several. */
export function cardsOf(
  tags: readonly Tag[],
  shown: readonly Run[],
  has: (tag: Tag, run: number) => boolean,
  samplesOf: (tag: Tag) => number = () => 1,
): TagCard[] {
  const out: TagCard[] = [];
  for (const tag of tags) {
    const samples = samplesOf(tag);
    for (const run of shown) {
      if (!has(tag, run.id)) continue;
      for (let sample = 0; sample < samples; sample++)
        out.push({key: `${tag.id} ${run.id} ${sample}`, tag, run, sample});
    }
  }
  return out;
}
