// What a dashboard is to the shell. To add one: a folder with a Svelte component and its messages.json,
// one entry in registry.ts, its title and help in dashboards/messages.json.
import type {Component} from 'svelte';

/** What the log directory holds. */
export interface Have {
  readonly kinds: ReadonlySet<string>; // of tags: scalar, histogram, image, audio, text, …
  readonly plugins: ReadonlySet<string>; // names the writers gave
}

export interface Dashboard {
  readonly id: string; // stable: the tab in the URL
  readonly aliases?: readonly string[]; // other tab names that links may carry
  readonly title: string; // message key
  readonly help: string; // message key: how data get here, shown when there are none
  readonly code?: Readonly<Record<string, string>>; // framework → lines that write such data
  /** Beyond code: something to press where there are no data; `onchange` is called when there are. */
  start?(): Promise<{default: Component<{onchange: () => void | Promise<void>}>}>;
  readonly key?: string; // letter after "g"
  readonly neverFirst?: boolean; // it tells about the logs as such and is not what a person came for
  readonly panel: 'runs' | 'none'; // whether the run panel stands at the left
  /** Whether the tags alone say that there is something to show. */
  applies(have: Have): boolean;
  /** For data that are no tags (captures, graphs …): asked at the start and when captures change. */
  probe?(): Promise<boolean>;
  /** Its component: part of the page's first file, or loaded when it is opened. */
  readonly view?: Component;
  load?(): Promise<{default: Component}>;
}
