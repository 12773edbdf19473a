// Which hyperparameters the runs have: for columns, grouping, colouring and filters of the run table.
import {client} from '../data/client.ts';

export interface Hparam {
  readonly name: string;
  readonly differs: boolean;
  readonly source: string;
}

interface Answer {
  readonly columns: readonly {readonly id: string; readonly source?: string; readonly differs?: boolean}[];
}

let list = $state.raw<readonly Hparam[]>([]);

export const hparams = {
  get all(): readonly Hparam[] {
    return list;
  },
};

export async function loadHparams(): Promise<void> {
  try {
    const answer = await client().ask<Answer>('hparams/table', {rows: 'sessions', offset: 0, limit: 0});
    list = answer.columns
      .filter(column => column.id.startsWith('hparam:'))
      .map(column => ({name: column.id.slice(7), differs: column.differs ?? false, source: column.source ?? ''}));
    list = [...list].sort((a, b) => Number(b.differs) - Number(a.differs));
  } catch {
    list = []; // no hyperparameters is a normal state
  }
}
