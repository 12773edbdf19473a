import type {IconName} from './icons.ts';

export interface MenuAction {
  readonly label: string;
  readonly icon?: IconName;
  readonly keys?: string;
  readonly title?: string;
  readonly checked?: boolean;
  readonly disabled?: boolean;
  run(): void;
}
export type MenuItem = MenuAction | {readonly separator: true} | {readonly caption: string};
