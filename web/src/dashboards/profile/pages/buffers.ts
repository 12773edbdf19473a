// The buffers of a compiled program alive at its peak, out of the memory viewer's document.
export interface Buffer {
  readonly id: string;
  readonly index: number; // in the order of the program
  readonly name: string;
  readonly label: string;
  readonly mib: number;
  readonly unpadded: number;
  readonly shape: string;
  readonly group: string;
}
/** A temporary buffer in its allocation: where it lies and when it lives. */
export interface Block {
  readonly name: string;
  readonly offset: number; // bytes
  readonly size: number;
  readonly begin: number; // in events of the compiler's order
  readonly end: number;
  readonly shape: string;
  readonly source: string;
}
export interface Buffers {
  readonly module: string;
  readonly peak: number; // MiB
  readonly unpaddedPeak: number;
  readonly parameters: number;
  readonly alive: readonly Buffer[];
  readonly blocks: readonly Block[];
  readonly spans: ReadonlyMap<string, readonly [number, number]>; // life of a buffer in positions
}

type Fields = Record<string, unknown>;
const object = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const number = (value: unknown): number => Number(value ?? 0) || 0;
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const placeText = (source: Fields): string =>
  text(source['fileName']) === '' ? '' : `${text(source['fileName'])}:${number(source['lineNumber'])}`;

/** The small buffers are one entry with a label and a size only: no name, and nothing known of padding. */
export function buffersOf(document: unknown): Buffers {
  const fields = object(document);
  const heap = Array.isArray(fields['maxHeap']) ? fields['maxHeap'].map(object) : [];
  return {
    module: text(fields['moduleName']),
    peak: number(fields['peakHeapMib']),
    unpaddedPeak: number(fields['peakUnpaddedHeapMib']),
    parameters: number(fields['entryComputationParametersMib']),
    alive: heap.map((one, index) => ({
      id: String(one['logicalBufferId'] ?? ''),
      index,
      name: text(one['instructionName'] ?? one['label']),
      label: text(one['label']),
      mib: number(one['logicalBufferSizeMib']),
      unpadded: number(one['unpaddedShapeMib'] ?? one['logicalBufferSizeMib']),
      shape: text(one['shapeString']),
      group: text(one['groupName']),
    })),
    // The first of each allocation is the allocation itself.
    blocks: (Array.isArray(fields['bufferBlocks']) ? fields['bufferBlocks'].map(object) : [])
      .filter(one => number(one['logicalBufferId']) >= 0)
      .map(one => ({
        name: text(one['name']),
        offset: number(one['offset']),
        size: number(one['size']),
        begin: number(one['startStep']),
        end: number(one['endStep']),
        shape: text(one['shapeString']),
        source: placeText(object(one['sourceInfo'])),
      })),
    spans: new Map(
      Object.entries(object(fields['logicalBufferSpans'])).map(([id, span]) => [
        id,
        [number(object(span)['start']), number(object(span)['limit'])] as const,
      ]),
    ),
  };
}
