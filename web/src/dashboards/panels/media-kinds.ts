// Panels that show what runs logged beside numbers, and the kind of tag that each of them takes.
import type {PanelKind} from '../../data/pages.ts';

export const MEDIA_KINDS = ['image', 'histogram', 'words', 'table'] as const;
export type MediaKind = (typeof MEDIA_KINDS)[number];

export function isMedia(kind: PanelKind): kind is MediaKind {
  return (MEDIA_KINDS as readonly string[]).includes(kind);
}

/** The kind of its tags; null for tables, which are files of a run. */
export function tagKindOf(kind: PanelKind): string | null {
  return kind === 'table' ? null : kind === 'words' ? 'text' : kind;
}
