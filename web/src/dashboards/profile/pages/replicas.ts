/** Of a collective: who takes part, as its expression says; empty for any other operation. */
export function replicaGroups(expression: string): string {
  return /replica_groups=(\{(?:\{[\d,]*\},?\s*)*\}|\[[\d,]+\]<=\[[\d,]+\](?:T\([\d,]+\))?)/.exec(expression)?.[1] ?? '';
}
