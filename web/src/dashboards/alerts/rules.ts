// What an alert rule of the page consists of, and how it is kept in the sidecar (settings.alert_rules).
import {patchSidecar, sidecar} from '../../state/sidecar.svelte.ts';

export const WORDS = ['nan', 'spike', 'divergence', 'plateau', 'stall', 'throughput'] as const;
export type Word = (typeof WORDS)[number];

/** The number that says how sensitive a word is, and what holds unless one is given. */
export const LIMITS: Readonly<Partial<Record<Word, {readonly field: string; readonly usual: number}>>> = {
  spike: {field: 'min_z', usual: 8},
  divergence: {field: 'factor', usual: 0.5},
  plateau: {field: 'patience', usual: 200},
  stall: {field: 'stall_factor', usual: 20},
  throughput: {field: 'slow_factor', usual: 2},
};

export interface RuleDraft {
  name: string;
  word: Word | 'expression';
  expression: string;
  tag: string;
  runs: string;
  per: 'run' | 'group';
  limit: number;
  higher: boolean; // larger values are better
}

const isWord = (text: string): text is Word => (WORDS as readonly string[]).includes(text);
export const limitOf = (word: RuleDraft['word']) => (word === 'expression' ? undefined : LIMITS[word]);

export function draftOf(name: string, settings: Readonly<Record<string, string>>): RuleDraft {
  const when = settings['when'] ?? 'nan';
  const word = isWord(when) ? when : 'expression';
  const limit = limitOf(word);
  return {
    name,
    word,
    expression: word === 'expression' ? when : '',
    tag: settings['tag'] ?? '',
    runs: settings['runs'] ?? '',
    per: settings['per'] === 'group' ? 'group' : 'run',
    limit: Number(settings[limit?.field ?? ''] ?? limit?.usual ?? 0),
    higher: settings['higher_is_better'] === 'true',
  };
}

/** Only what differs from what holds anyway. */
export function settingsOf(draft: RuleDraft): Record<string, string | number | boolean> {
  const limit = limitOf(draft.word);
  return {
    when: draft.word === 'expression' ? draft.expression.trim() : draft.word,
    ...(draft.tag !== '' && draft.word !== 'expression' ? {tag: draft.tag} : {}),
    ...(draft.runs === '' ? {} : {runs: draft.runs}),
    ...(draft.per === 'group' ? {per: 'group'} : {}),
    ...(limit === undefined || draft.limit === limit.usual ? {} : {[limit.field]: draft.limit}),
    ...(draft.higher && (draft.word === 'divergence' || draft.word === 'plateau') ? {higher_is_better: true} : {}),
  };
}

/** Replaces the rule as a whole: fields that are gone must not stay. */
export function saveRule(draft: RuleDraft, before: string): void {
  const known = (sidecar.doc.settings?.['alert_rules'] ?? {}) as Record<string, Record<string, unknown>>;
  const old = known[draft.name] ?? {};
  const gone = Object.fromEntries(Object.keys(old).map(field => [field, null]));
  patchSidecar({
    settings: {
      alert_rules: {
        [draft.name]: {...gone, ...settingsOf(draft)},
        ...(before !== '' && before !== draft.name ? {[before]: null} : {}),
      },
    },
  });
}

export const removeRule = (name: string): void => patchSidecar({settings: {alert_rules: {[name]: null}}});
