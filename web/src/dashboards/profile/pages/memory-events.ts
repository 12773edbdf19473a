// The events behind the points of a memory timeline, out of the tool's document, by their time in ns.
export interface MemoryEvent {
  readonly kind: string;
  readonly bytes: number;
  readonly op: string;
  readonly type: string;
  readonly shape: string;
}

type Fields = Record<string, unknown>;
const object = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

export function eventsOf(document: unknown, allocator: string): ReadonlyMap<number, MemoryEvent> {
  const own = object(object(object(document)['memoryProfilePerAllocator'])[allocator]);
  const events = new Map<number, MemoryEvent>();
  for (const item of [...list(own['sampledTimelineSnapshots']), ...list(own['memoryProfileSnapshots'])]) {
    const activity = object(object(item)['activityMetadata']);
    events.set(Math.round(Number(object(item)['timeOffsetPs']) / 1e3), {
      kind: text(activity['memoryActivity']).toLowerCase(),
      bytes: Number(activity['allocationBytes'] ?? 0),
      op: text(activity['tfOpName']),
      type: text(activity['dataType']),
      shape: text(activity['tensorShape']),
    });
  }
  return events;
}
