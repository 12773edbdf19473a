// Which colour a slice gets: by its name, by what else is known of it, or by how long it took. Colours are the caller's;
// this file only picks among them.

/** A stable colour per name, whatever number ends it: block_3 and block_4 look alike. */
export function colourIndex(name: string, colours: number): number {
  const stem = name.replace(/[\d.]+$/, '');
  return hashOf(stem) % colours;
}

function hashOf(text: string): number {
  let hash = 2166136261;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  return hash >>> 0;
}

export interface ColourSource {
  readonly name: Uint32Array; // label of each cell
  readonly dur: Uint32Array;
  readonly tick: number;
  readonly mark?: Uint32Array | null;
}
/** The colour of cell `i` of a track. */
export type Fill = (cells: ColourSource, i: number, track: number) => string;

export interface ColourRule {
  readonly by: string; // name, category, track, process, duration, or argument:<key>
  readonly names: readonly string[]; // by label
  readonly category: readonly number[]; // by label, -1 without one
  readonly process: readonly number[]; // by track
  readonly palette: readonly string[];
  readonly ramp: readonly string[]; // short to long
  readonly plain: string; // of what has no category or argument
}

const SHORTEST = 1e6; // 1 µs: shorter slices share the first colour of the ramp

/** Ten times as long is the next colour. */
export function rampIndex(ps: number, colours: number): number {
  return Math.max(0, Math.min(colours - 1, Math.floor(Math.log10(Math.max(1, ps) / SHORTEST)) + 1));
}

export function createFill(rule: ColourRule): Fill {
  const {palette, ramp, plain} = rule;
  const pick = (index: number): string => palette[index % palette.length] ?? plain;
  switch (rule.by) {
    case 'category':
      return (cells, i) => {
        const category = rule.category[cells.name[i]!] ?? -1;
        return category < 0 ? plain : pick(category);
      };
    case 'track':
      return (_, __, track) => pick(track);
    case 'process': {
      // Neighbours differ: processes are numbered in their order.
      const places = new Map([...new Set(rule.process)].map((id, place) => [id, place]));
      return (_, __, track) => pick(places.get(rule.process[track] ?? -1) ?? 0);
    }
    case 'duration':
      return (cells, i) => ramp[rampIndex(cells.dur[i]! * cells.tick, ramp.length)] ?? plain;
    case 'name':
      break;
    default:
      return (cells, i) => {
        const mark = cells.mark?.[i] ?? 0;
        return mark === 0 ? plain : pick(mark);
      };
  }
  const known = new Uint8Array(rule.names.length).fill(255); // filled when first drawn
  return (cells, i) => {
    const label = cells.name[i]!;
    let index = known[label] ?? 255;
    if (index === 255) {
      index = colourIndex(rule.names[label] ?? '', palette.length);
      if (label < known.length) known[label] = index;
    }
    return palette[index] ?? plain;
  };
}
