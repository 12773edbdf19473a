// States of the projector as files: TensorBoard's bookmarks, read and written, with this page's own view
// beside them so that nothing is lost on the way back.
import type {Positions} from '../../data/embeddings.ts';
import type {ProjectorView} from './view.svelte.ts';

export interface Bookmark {
  readonly label: string;
  readonly view: Partial<ProjectorView>;
  readonly values: {readonly columns: number; readonly data: Float32Array} | null; // positions it brings along
}

interface TensorBoardState {
  readonly label?: string;
  readonly isSelected?: boolean;
  readonly selectedProjection?: string;
  readonly dataSetDimensions?: readonly number[];
  readonly tSNEIteration?: number;
  readonly tSNEPerplexity?: number;
  readonly tSNELearningRate?: number;
  readonly tSNEis3d?: boolean;
  readonly umapIs3d?: boolean;
  readonly umapNeighbors?: number;
  readonly umapMinDist?: number;
  readonly pcaComponentDimensions?: readonly number[];
  readonly customSelectedSearchByMetadataOption?: string;
  readonly customXLeftText?: string;
  readonly customXRightText?: string;
  readonly customYUpText?: string;
  readonly customYDownText?: string;
  readonly customXLeftRegex?: boolean;
  readonly projections?: readonly Readonly<Record<string, number>>[];
  readonly filteredPoints?: readonly number[];
  readonly selectedPoints?: readonly number[];
  readonly selectedColorOptionName?: string;
  readonly forceCategoricalColoring?: boolean;
  readonly selectedLabelOption?: string;
  readonly sonde?: Partial<ProjectorView>;
}

const METHODS = ['pca', 'tsne', 'umap', 'custom'] as const;
const prefix = (method: string): string => (method === 'custom' ? 'linear' : method);

export function stateOf(
  label: string,
  view: ProjectorView,
  shape: readonly number[],
  positions: Positions | null,
): TensorBoardState {
  const projections: Record<string, number>[] = [];
  for (let i = 0; positions !== null && i < positions.rows; i++) {
    const one: Record<string, number> = {};
    for (let c = 0; c < Math.min(3, positions.columns); c++) {
      const axis = view.method === 'pca' ? (view.components[c] ?? -1) : c;
      if (axis >= 0 && axis < positions.columns)
        one[view.method === 'custom' ? `linear-${c === 0 ? 'x' : 'y'}` : `${view.method}-${axis}`] =
          positions.values[i * positions.columns + axis]!;
    }
    projections.push(one);
  }
  const exponent = view.rate > 0 ? Math.round(Math.log10(view.rate)) : 1;
  return {
    label,
    isSelected: true,
    selectedProjection: view.method,
    dataSetDimensions: [...shape],
    tSNEIteration: positions?.kind === 'tsne' ? positions.iteration : 0,
    tSNEPerplexity: view.perplexity,
    tSNELearningRate: exponent,
    tSNEis3d: view.dims === 3,
    umapIs3d: view.dims === 3,
    umapNeighbors: view.neighbours,
    umapMinDist: view.minDist,
    pcaComponentDimensions: view.components.filter(c => c >= 0),
    customSelectedSearchByMetadataOption: view.custom.column,
    customXLeftText: view.custom.left,
    customXRightText: view.custom.right,
    customYUpText: view.custom.up,
    customYDownText: view.custom.down,
    customXLeftRegex: view.custom.regex,
    projections,
    filteredPoints: view.only,
    selectedPoints: view.point >= 0 ? [view.point] : view.picked,
    selectedColorOptionName: view.colour,
    forceCategoricalColoring: view.categorical,
    selectedLabelOption: view.label,
    sonde: view,
  };
}

function valuesOf(state: TensorBoardState): Bookmark['values'] {
  const list = state.projections ?? [];
  const method = prefix(state.selectedProjection ?? '');
  const names =
    method === 'linear'
      ? ['linear-x', 'linear-y']
      : method === 'pca'
        ? (state.pcaComponentDimensions ?? [0, 1, 2]).map(c => `pca-${c}`)
        : [0, 1, 2].map(c => `${method}-${c}`);
  const there = names.filter(name => list[0] !== undefined && name in list[0]);
  if (there.length < 2) return null;
  const data = new Float32Array(list.length * there.length);
  list.forEach((one, i) => there.forEach((name, c) => (data[i * there.length + c] = one[name] ?? NaN)));
  return {columns: there.length, data};
}

function viewOf(state: TensorBoardState): Partial<ProjectorView> {
  if (state.sonde !== undefined) return state.sonde;
  const method = METHODS.find(one => one === state.selectedProjection) ?? 'pca';
  const components = state.pcaComponentDimensions ?? [0, 1, 2];
  const only = state.filteredPoints ?? [];
  const chosen = state.selectedPoints ?? [];
  return {
    method,
    dims: (method === 'umap' ? state.umapIs3d : state.tSNEis3d) === false ? 2 : 3,
    components: [components[0] ?? 0, components[1] ?? 1, components[2] ?? -1],
    perplexity: state.tSNEPerplexity ?? 0,
    neighbours: state.umapNeighbors ?? 15,
    minDist: state.umapMinDist ?? 0.1,
    only: [...only],
    point: chosen[0] ?? -1,
    picked: chosen.length > 1 ? [...chosen] : [],
    colour: state.selectedColorOptionName ?? '',
    categorical: state.forceCategoricalColoring ?? false,
    label: state.selectedLabelOption ?? '',
    search: '',
    camera: [],
    custom: {
      column: state.customSelectedSearchByMetadataOption ?? '',
      left: state.customXLeftText ?? '',
      right: state.customXRightText ?? '',
      up: state.customYUpText ?? '',
      down: state.customYDownText ?? '',
      regex: state.customXLeftRegex ?? false,
    },
  };
}

/** Bookmarks of a file for vectors of this shape; throws with the reason when it is for others or no such file. */
export function readBookmarks(content: unknown, shape: readonly number[]): Bookmark[] {
  const list = Array.isArray(content) ? content : [content];
  return list.map((one: unknown): Bookmark => {
    if (typeof one !== 'object' || one === null) throw new Error('not_bookmarks');
    const state = one as TensorBoardState;
    const size = state.dataSetDimensions;
    if (size === undefined && state.selectedProjection === undefined) throw new Error('not_bookmarks');
    if (size !== undefined && (size[0] !== shape[0] || size[1] !== shape[1]))
      throw new Error(`wrong_shape:${size[0]} × ${size[1]}`);
    return {label: state.label ?? '', view: viewOf(state), values: valuesOf(state)};
  });
}
