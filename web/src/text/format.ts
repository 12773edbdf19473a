// Numbers, sizes, durations and times as people read them. No locale: the same everywhere, so that a
// screenshot from one machine reads like one from another.

const NARROW = '\u202f';
const MINUS = '\u2212';

/** A true minus sign for ASCII ones. */
export function trueMinus(text: string): string {
  return text.replaceAll('-', MINUS);
}

/** 1234567 bytes → "1.23 MB"; decimal units. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB', 'TB', 'PB', 'EB'];
  let value = bytes / 1000;
  let unit = 0;
  for (; value >= 999.5 && unit < units.length - 1; unit++) value /= 1000;
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${units[unit]}`;
}

/** Memory: 1 GiB = 2³⁰ bytes. Negative sizes (freed more than allocated) read like positive ones. */
export function formatMemory(bytes: number): string {
  if (!Number.isFinite(bytes)) return formatValue(bytes);
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = Math.abs(bytes);
  let unit = 0;
  for (; value >= 1023.5 && unit < units.length - 1; unit++) value /= 1024;
  const digits = unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1);
  return `${bytes < 0 && Number(digits) > 0 ? MINUS : ''}${digits}${NARROW}${units[unit]}`;
}

/** The unit that a largest size is written in, in bytes: what the ticks of an axis of memory are round in. */
export function memoryUnit(bytes: number): number {
  return 2 ** (10 * Math.min(4, Math.max(0, Math.floor(Math.log2(Math.max(1, Math.abs(bytes))) / 10))));
}

/** 1234567 → "1 234 567", separated by narrow no-break spaces. */
export function formatCount(count: number): string {
  const digits = String(Math.round(count));
  const sign = digits.startsWith('-') ? MINUS : '';
  return sign + digits.replace('-', '').replace(/\B(?=(\d{3})+(?!\d))/g, NARROW);
}

/** Steps are integers up to 2⁵³; other x values keep four digits. */
export function formatStep(step: number): string {
  if (!Number.isFinite(step)) return formatValue(step);
  return Number.isInteger(step) ? formatCount(step) : formatValue(step, 6);
}

/** A value in text: `digits` significant digits, trailing zeros trimmed, exponent if ≥ 10⁴ or < 10⁻³. */
export function formatValue(value: number, digits = 4): string {
  if (Number.isNaN(value)) return 'NaN';
  if (value === Infinity) return '∞';
  if (value === -Infinity) return `${MINUS}∞`;
  if (value === 0) return '0';
  const size = Math.abs(value);
  const text =
    size >= 1e4 || size < 1e-3
      ? value
          .toExponential(Math.max(0, digits - 1))
          .replace(/\.?0+e/, 'e')
          .replace('e+', 'e')
      : String(+value.toPrecision(digits));
  return trueMinus(text);
}

/** One format for a column of numbers: the same decimals (or exponents) for all. */
export function columnFormat(values: Iterable<number>, digits = 4): (value: number) => string {
  let largest = 0;
  let smallest = Infinity;
  let integers = true;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    const size = Math.abs(value);
    if (size > largest) largest = size;
    if (size > 0 && size < smallest) smallest = size;
    if (!Number.isInteger(value)) integers = false;
  }
  const other = (value: number): string | null => (Number.isFinite(value) ? null : formatValue(value));
  if (integers && largest < 1e7) return value => other(value) ?? formatCount(value);
  if (largest >= 1e4 || (largest > 0 && largest < 1e-2)) {
    return value =>
      other(value) ?? (value === 0 ? '0' : trueMinus(value.toExponential(Math.min(3, digits - 1)).replace('e+', 'e')));
  }
  const decimals = Math.min(6, Math.max(0, digits - 1 - Math.floor(Math.log10(largest || 1))));
  // What the column's decimals would round by more than a twentieth keeps its own digits: −0.00846 is not −0.
  return value =>
    other(value) ??
    (Math.abs(Number(value.toFixed(decimals)) - value) > 0.05 * Math.abs(value)
      ? formatValue(value, 2)
      : trueMinus(value.toFixed(decimals)));
}

/** All digits, ASCII: what titles, copies and exports carry. */
export function exactValue(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
}

/** Always signed. */
export function formatDifference(value: number, digits = 4): string {
  const text = formatValue(value, digits);
  return value > 0 ? `+${text}` : text;
}

export function formatPercent(share: number, decimals = 1): string {
  if (!Number.isFinite(share)) return formatValue(share);
  const text = (share * 100).toFixed(decimals);
  return trueMinus(Number(text) === 0 ? text.replace('-', '') : text) + `${NARROW}%`;
}

const SI: readonly (readonly [number, string])[] = [
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
];

/** The labels of one axis: one suffix and the same decimals for all ticks. */
export function axisFormat(ticks: readonly number[]): (value: number) => string {
  let largest = 0;
  for (const tick of ticks) largest = Math.max(largest, Math.abs(tick));
  if (largest === 0) return value => formatValue(value, 3);
  const step = ticks.length > 1 ? Math.abs(ticks[1]! - ticks[0]!) : largest;
  if (largest < 1e-3 && largest > 0) return value => formatValue(value, 3);
  const [unit, suffix] = largest >= 1e4 ? (SI.find(([size]) => largest >= size) ?? [1, '']) : [1, ''];
  if (largest >= 1e15) return value => formatValue(value, 3);
  const decimals = Math.max(0, Math.min(6, Math.ceil(-Math.log10(step / unit) - 1e-9)));
  return value => (value === 0 && unit > 1 ? '0' : trueMinus((value / unit).toFixed(decimals)) + suffix);
}

/** Adaptive, three to four digits: 133.7 µs, 182.4 ms, 2 h 01 m, 1 d 4 h. */
export function formatDuration(seconds: number): string {
  if (!Number.isFinite(seconds)) return formatValue(seconds);
  const sign = seconds < 0 ? MINUS : '';
  const size = Math.abs(seconds);
  if (size === 0) return `0${NARROW}s`;
  const small: readonly (readonly [number, string])[] = [
    [1e-9, 'ns'],
    [1e-6, 'µs'],
    [1e-3, 'ms'],
    [1, 's'],
  ];
  if (size < 60) {
    let pick = small[0]!;
    for (const entry of small) if (size >= entry[0] * 0.9995) pick = entry;
    return `${sign}${+(size / pick[0]).toPrecision(size / pick[0] >= 100 ? 4 : 3)}${NARROW}${pick[1]}`;
  }
  const whole = Math.round(size);
  const two = (value: number): string => String(value).padStart(2, '0');
  if (whole < 3600) return `${sign}${Math.floor(whole / 60)}${NARROW}m ${two(whole % 60)}${NARROW}s`;
  if (whole < 86400)
    return `${sign}${Math.floor(whole / 3600)}${NARROW}h ${two(Math.floor((whole % 3600) / 60))}${NARROW}m`;
  return `${sign}${Math.floor(whole / 86400)}${NARROW}d ${Math.floor((whole % 86400) / 3600)}${NARROW}h`;
}

/** Seconds since 1970 → local "2026-11-14 10:02:41". */
export function formatTime(seconds: number): string {
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return '—';
  return `${formatDate(seconds)} ${formatClock(seconds)}`;
}

export function formatDate(seconds: number): string {
  const date = new Date(seconds * 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  return Number.isNaN(date.getTime())
    ? '—'
    : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

export function formatClock(seconds: number): string {
  const date = new Date(seconds * 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  return Number.isNaN(date.getTime())
    ? '—'
    : `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** "2 s ago" below an hour, the date and time above. */
export function formatAgo(seconds: number, now = Date.now() / 1000): string {
  const age = now - seconds;
  if (age < 0 || age >= 3600) return formatTime(seconds);
  return age < 60 ? `${Math.round(age)}${NARROW}s ago` : `${Math.round(age / 60)}${NARROW}min ago`;
}

const TAIL = 8;
const LONGEST_TAIL = 12;
/** A name in two parts, of which only the first is cut when room is short: names differ at their ends. The end is whole
 *  words where it can: "/validation", not "lidation". */
export function headAndTail(text: string): [string, string] {
  if (text.length <= TAIL + 6) return [text, ''];
  const longest = text.slice(-LONGEST_TAIL);
  const words = [...longest.matchAll(/[/_.\s-]/g)].map(found => LONGEST_TAIL - found.index);
  const tail = words.findLast(length => length >= TAIL - 3) ?? TAIL;
  return [text.slice(0, -tail), text.slice(-tail)];
}

/** Keeps both ends of a long name. */
export function middleEllipsis(text: string, length: number): string {
  if (text.length <= length) return text;
  const head = Math.ceil((length - 1) / 2);
  return `${text.slice(0, head)}…${text.slice(text.length - (length - 1 - head))}`;
}

/** A number to recognise: six digits at most, so that 0.30000000000000004 and the 32-bit 0.1 read as they were written. */
export function shortNumber(value: number): string {
  return Number.isFinite(value) ? trueMinus(String(+value.toPrecision(6))) : formatValue(value);
}

/** A value of a filter as people read it: numbers short, texts as they are. */
export function shortText(value: string): string {
  return value.trim() === '' || Number.isNaN(Number(value)) ? value : shortNumber(Number(value));
}

/** A remark of the server ("a record is torn") as a sentence of the page. A name at its beginning stays as it is. */
export function sentence(text: string): string {
  const words = text.trim();
  if (words === '') return '';
  return (
    words.replace(/^[a-z](?=[a-z]*(?:[ '’?!,]|$))/, letter => letter.toUpperCase()) +
    (/[.!?…:]$/.test(words) ? '' : '.')
  );
}
