// Which cards stand where: tags grouped by what is before their first slash, or one flat list while a
// filter is active.
import type {Tag} from '../../data/types.ts';
import {t} from '../../text/messages.ts';

export interface CardSpec {
  readonly key: string; // stable: tags joined
  readonly tags: readonly string[];
  readonly title: string;
}

export interface Section {
  readonly id: string;
  readonly name: string;
  readonly cards: readonly CardSpec[];
}

const JOIN = '\n';
const SINGLE = '\0single'; // section of the tags without a group

export function cardKey(tags: readonly string[]): string {
  return tags.join(JOIN);
}

export function cardTags(key: string): string[] {
  return key.split(JOIN);
}

/** The text before the first slash; a tag without one is its own group. */
export function groupOf(tag: string): string {
  const slash = tag.indexOf('/');
  return slash < 0 ? tag : tag.slice(0, slash);
}

/** The tag without its group and without the suffix old writers added. */
export function titleOf(tag: string, group: string | null): string {
  const short = tag.replace(/\/scalar_summary$/, '');
  return group !== null && short.startsWith(`${group}/`) ? short.slice(group.length + 1) : short;
}

export function sectionsOf(tags: readonly Tag[]): Section[] {
  const groups = new Map<string, CardSpec[]>();
  for (const tag of tags) {
    const group = groupOf(tag.name);
    const card = {key: tag.name, tags: [tag.name], title: tag.title || titleOf(tag.name, group) || t('ts.no_name')};
    const list = groups.get(group);
    if (list === undefined) groups.set(group, [card]);
    else list.push(card);
  }
  // Tags without a slash are groups of one: side by side they fill a row instead of a page.
  const out: Section[] = [];
  let single: CardSpec[] | undefined;
  for (const [name, cards] of groups) {
    if (cards.length > 1 || cards[0]!.tags[0]!.includes('/')) out.push({id: name, name, cards});
    else if (single === undefined) out.push({id: SINGLE, name: '', cards: (single = [...cards])});
    else single.push(...cards);
  }
  return out;
}

export function sectionName(section: Section): string {
  if (section.id !== SINGLE) return section.name || t('ts.no_name');
  return section.cards.length === 1 ? section.cards[0]!.title : t('ts.single');
}

/** Which sections are open: the user's choice, else the first two and what fits a dozen cards. */
export function openSections(folds: Readonly<Record<string, boolean>>, sections: readonly Section[]): Set<string> {
  const open = new Set<string>();
  let cards = 0;
  sections.forEach((section, index) => {
    cards += section.cards.length;
    if (folds[section.id] ?? (index < 2 || cards <= 12)) open.add(section.id);
  });
  return open;
}
