// An argument of a slice as a track: its numbers over time, or what it was, for all slices of that name.
import type {ExtraQuery} from '../../../state/profile.svelte.ts';

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

export function argumentTrack(name: string, key: string, value: string): ExtraQuery {
  const isNumber = value.trim() !== '' && Number.isFinite(Number(value));
  const from = `from slices s join args a on a.slice = s.id and a.key = ${quoted(key)} where s.name = ${quoted(name)} order by s.ts`;
  return {
    sql: isNumber ? `select s.ts, a.value ${from}` : `select s.ts, s.dur, a.value as name, s.id ${from}`,
    kind: isNumber ? 'counter' : 'slices',
    by: '',
    title: `${key}, ${name}`,
  };
}
