// The k-th smallest of many numbers without sorting them all.

/** Value that stands at index `k` of the sorted list; reorders `values`. NaN when there is no such index. */
export function selectAt(values: Float64Array, k: number): number {
  let left = 0;
  let right = values.length - 1;
  if (!(k >= left && k <= right)) return NaN;
  while (left < right) {
    const pivot = values[(left + right) >>> 1]!;
    let i = left;
    let j = right;
    while (i <= j) {
      while (values[i]! < pivot) i++;
      while (values[j]! > pivot) j--;
      if (i <= j) {
        const swap = values[i]!;
        values[i++] = values[j]!;
        values[j--] = swap;
      }
    }
    if (k <= j) right = j;
    else if (k >= i) left = i;
    else break;
  }
  return values[k]!;
}
