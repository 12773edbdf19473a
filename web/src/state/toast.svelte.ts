// One line at the bottom, at most one at a time, with Undo where possible; and what a screen reader
// should hear.

export interface Toast {
  readonly text: string;
  readonly action?: {readonly label: string; readonly run: () => void} | undefined;
}

let shown = $state.raw<Toast | null>(null);
let spoken = $state('');
let lastSpoken = 0;

export const toasts = {
  get now(): Toast | null {
    return shown;
  },
  get spoken(): string {
    return spoken;
  },
};

export function toast(text: string, action?: Toast['action']): void {
  shown = {text, action};
}

export function closeToast(): void {
  shown = null;
}

/** Speaks through the polite live region, at most four times a second. */
export function announce(text: string): void {
  const now = performance.now();
  if (now - lastSpoken < 250) return;
  lastSpoken = now;
  spoken = text;
}
