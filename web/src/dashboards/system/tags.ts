// Which tags are metrics of the machine, and in which unit their charts are.
import {tags} from '../../state/tags.svelte.ts';

const PREFIX = 'system/';
export const isSystem = (tag: string): boolean => tag.startsWith(PREFIX);

export function systemTags(): readonly string[] {
  return tags
    .ofKind('scalar')
    .map(tag => tag.name)
    .filter(isSystem);
}

const UNITS: readonly (readonly [suffix: string, unit: string])[] = [
  ['_bytes_per_s', 'bytes/s'],
  ['_bytes', 'bytes'],
  ['_percent', '%'],
  ['_c', '°C'],
  ['_w', 'W'],
  ['_mhz', 'MHz'],
];

/** "system/gpu0/memory_bytes" -> "gpu0 memory" in bytes. */
export function titleOf(tag: string): {readonly title: string; readonly unit: string} {
  const name = tag.slice(PREFIX.length);
  const found = UNITS.find(([suffix]) => name.endsWith(suffix));
  const plain = found === undefined ? name : name.slice(0, -found[0].length);
  return {title: plain.replaceAll('/', ' ').replaceAll('_', ' '), unit: found?.[1] ?? ''};
}
