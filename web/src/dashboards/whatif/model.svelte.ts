// The set in view and what was asked about it. One instance for the page.
import {setList, setOf, type ExampleSet, type SetEntry, type SetModel} from '../../data/whatif.ts';
import {view} from './view.svelte.ts';

const words = (problem: unknown): string => (problem instanceof Error ? problem.message : String(problem));

class Model {
  list = $state.raw<readonly SetEntry[]>([]);
  mayType = $state(false);
  ready = $state(false);
  set = $state.raw<ExampleSet | null>(null);
  failed = $state('');
  version = $state(0); // grows when predictions have changed
  selected = $state.raw<readonly number[]>([]); // by lasso

  readonly id = $derived(this.list.some(one => one.id === view.set) ? view.set : (this.list[0]?.id ?? ''));
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

  async refresh(): Promise<void> {
    try {
      const found = await setList();
      [this.list, this.mayType, this.ready] = [found.sets, found.may_type_endpoints, true];
    } catch (problem) {
      this.failed = words(problem);
    }
  }
  async load(id: string): Promise<void> {
    try {
      this.set = await setOf(id);
      this.failed = '';
    } catch (problem) {
      [this.set, this.failed] = [null, words(problem)];
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
  revert(row: number, feature?: string): void {
    const {[row]: old, ...rest} = view.edits;
    if (feature === undefined || old === undefined) return void (view.edits = rest);
    const {[feature]: _gone, ...left} = old;
    view.edits = Object.keys(left).length === 0 ? rest : {...rest, [row]: left};
  }
}
export const model = new Model();
export const problemWords = words;
