// The set in view and what was asked about it. One instance for the page.
import {editedSet, setList, setOf, type ExampleSet, type SetEntry, type SetModel} from '../../data/whatif.ts';
import {view} from './view.svelte.ts';

const words = (problem: unknown): string => (problem instanceof Error ? problem.message : String(problem));

class Model {
  list = $state.raw<readonly SetEntry[]>([]);
  mayType = $state(false);
  ready = $state(false);
  loaded = $state.raw<{readonly id: string; readonly set: ExampleSet} | null>(null);
  failed = $state('');
  version = $state(0); // grows when predictions have changed
  selected = $state.raw<readonly number[]>([]); // by lasso

  readonly id = $derived(this.list.some(one => one.id === view.set) ? view.set : (this.list[0]?.id ?? ''));
  /** Null while another one is being read: rows of one mean nothing in another. */
  readonly set: ExampleSet | null = $derived(
    this.loaded !== null && this.loaded.id === this.id ? this.loaded.set : null,
  );
  readonly label = $derived(view.label !== '' ? view.label : (this.set?.label ?? ''));
  readonly chosen: SetModel | null = $derived(
    this.set?.models.find(m => m.name === view.model) ?? this.set?.models[0] ?? null,
  );
  /** The model's name in questions: with the step of an evaluation. */
  readonly asked = $derived(
    this.chosen === null
      ? ''
      : this.chosen.steps !== undefined && view.step >= 0
        ? `${this.chosen.name}@${view.step}`
        : this.chosen.name,
  );
  readonly features = $derived(this.set?.columns.filter(c => c.feature) ?? []);
  readonly live = $derived(this.chosen?.live === true);
  readonly hasScores = $derived(this.chosen?.task !== undefined);
  readonly by = $derived(this.chosen?.attributions === undefined ? 'features' : view.by);

  async refresh(made: readonly string[] = []): Promise<void> {
    try {
      const found = await setList([...view.edited, ...made]);
      [this.list, this.mayType, this.ready] = [found.sets, found.may_type_endpoints, true];
    } catch (problem) {
      this.failed = words(problem);
    }
  }
  async load(id: string): Promise<void> {
    try {
      const set = await setOf(id);
      if (id === this.id) [this.loaded, this.failed] = [{id, set}, ''];
    } catch (problem) {
      if (id === this.id) [this.loaded, this.failed] = [null, words(problem)];
    }
  }
  /** Looks again while a model is being asked. */
  async follow(): Promise<void> {
    const id = this.id;
    for (let i = 0; i < 7200 && id === this.id; i++) {
      await this.load(id);
      if (this.set?.models.some(m => m.asking) !== true) break;
      await new Promise(done => setTimeout(done, 500));
    }
    this.version++;
  }
  edit(row: number, feature: string, value: unknown): void {
    const old = view.edits[row] ?? {};
    view.edits = {...view.edits, [row]: {...old, [feature]: value}};
  }
  /** Goes to a set in which the edits hold, and whatever else is to change; the one in view stays as it is. */
  async apply(more: {
    copy?: number;
    remove?: number;
    feature?: {name: string; row: number; value: unknown};
  }): Promise<void> {
    const edits = new Map<number, Record<string, unknown>>(
      Object.entries($state.snapshot(view.edits)).map(([row, values]) => [Number(row), values]),
    );
    const {copy, remove, feature} = more;
    if (feature !== undefined) edits.set(feature.row, {...edits.get(feature.row), [feature.name]: feature.value});
    const made = await editedSet(this.id, {
      edits: [...edits].map(([row, values]) => ({row, values})),
      copies: copy === undefined ? [] : [copy],
      removed: remove === undefined ? [] : [remove],
      features: feature === undefined ? [] : [feature.name],
    });
    const last = made.rows - 1;
    const moved = (row: number): number =>
      remove === undefined || row < remove ? row : row === remove ? Math.min(row, last) : row - 1;
    await this.refresh([made.id]);
    this.selected = [];
    Object.assign(view, {
      set: made.id,
      edited: [...view.edited, made.id].slice(-20),
      edits: {},
      row: copy === undefined ? moved(view.row) : made.first_copy,
      other: copy !== undefined ? copy : view.other === remove ? -1 : moved(view.other),
    });
  }
  revert(row: number, feature?: string): void {
    const {[row]: old, ...rest} = view.edits;
    if (feature === undefined || old === undefined) return void (view.edits = rest);
    const {[feature]: _gone, ...left} = old;
    view.edits = Object.keys(left).length === 0 ? rest : {...rest, [row]: left};
  }
}
export const model = new Model();
export const problemWords = words;
