// Which tables of samples the runs have: one question for all panels that show one.
import {listTables, type TableName} from '../../data/run-files.ts';
import {live} from '../../state/live.svelte.ts';

let names = $state.raw<readonly TableName[]>([]);
let ready = $state(false);
let asked: unknown = null; // the change after which the list was asked for

export interface TableNames {
  readonly all: readonly TableName[];
  readonly ready: boolean;
}

/** Call while a component is set up. */
export function tableNames(): TableNames {
  $effect(() => {
    if (asked === live.lastChange && ready) return;
    asked = live.lastChange;
    listTables().then(
      list => ([names, ready] = [list, true]),
      () => (ready = true), // a server without tables has none
    );
  });
  return {
    get all() {
      return names;
    },
    get ready() {
      return ready;
    },
  };
}
