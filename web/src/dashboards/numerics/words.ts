// How a tensor's health reads.
import type {TensorHealth} from '../../data/numerics.ts';
import {t} from '../../text/messages.ts';

const TYPES: Readonly<Record<number, string>> = {
  1: 'float32',
  2: 'float64',
  3: 'int32',
  4: 'uint8',
  5: 'int16',
  6: 'int8',
  9: 'int64',
  10: 'bool',
  14: 'bfloat16',
  19: 'float16',
  24: 'float8_e5m2',
  25: 'float8_e4m3fn',
};

export interface Count {
  readonly kind: 'bad' | 'plain';
  readonly text: string;
}

const short = (value: number): string => (Number.isInteger(value) ? String(value) : value.toPrecision(4));

/** "3 NaN", "1 +∞", "12 zero": what is not nought. */
export function countsOf(health: TensorHealth): readonly Count[] {
  const list: Count[] = [];
  const add = (kind: Count['kind'], value: number | null, word: string): void => {
    if (value !== null && value > 0) list.push({kind, text: `${short(value)} ${word}`});
  };
  add('bad', health.nan, 'NaN');
  add('bad', health.pos_inf, '+∞');
  add('bad', health.neg_inf, '−∞');
  if ((health.bad & 8) !== 0) list.push({kind: 'bad', text: t('numerics.nan_or_inf')});
  add('plain', health.zero, '0');
  add('plain', health.negative, '−');
  add('plain', health.positive, '+');
  return list;
}

/** "float32 · 3 × 4", as far as it is known. */
export function shapeOf(health: TensorHealth): string {
  const parts: string[] = [];
  if (health.dtype > 0) parts.push(TYPES[health.dtype] ?? `dtype ${health.dtype}`);
  if (health.shape.length > 0) parts.push(health.shape.join(' × '));
  else if (health.rank >= 0) parts.push(t('numerics.rank', {n: health.rank}));
  if (health.size !== null) parts.push(t('numerics.size', {n: short(health.size)}));
  return parts.join(' · ');
}

/** "min 0 · max 1 · rms 0.5" of sonde.debug's recordings. */
export function numbersOf(health: TensorHealth): string {
  if (health.numbers === null) return '';
  return ['min', 'max', 'rms']
    .map(name => [name, health.numbers?.[name]] as const)
    .filter(([, value]) => typeof value === 'number')
    .map(([name, value]) => `${name} ${short(value as number)}`)
    .join(' · ');
}

/** A function's name without what TensorFlow puts around it. */
export function plainName(type: string): string {
  return type.replace(/^__(inference|forward|backward)_/, '').replace(/_\d+$/, '');
}

export const isFunction = (type: string): boolean => /^__(inference|forward|backward)_/.test(type);
