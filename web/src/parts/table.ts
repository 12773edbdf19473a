export interface TableColumn<R> {
  readonly id: string;
  readonly label: string;
  readonly title?: string;
  readonly num?: boolean;
  readonly mono?: boolean;
  readonly width?: number;
  readonly sortable?: boolean;
  text(row: R): string;
  /** All digits, for the title. */
  exact?(row: R): string;
}
