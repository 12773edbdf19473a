// The crosshair that linked charts share: an x value and the chart it comes from.

let now = $state.raw<{readonly x: number; readonly axis: string; readonly from: string} | null>(null);

export const cursor = {
  get now(): {readonly x: number; readonly axis: string; readonly from: string} | null {
    return now;
  },
};

export function setCursor(next: {readonly x: number; readonly axis: string; readonly from: string} | null): void {
  if (
    now === next ||
    (now !== null && next !== null && now.x === next.x && now.axis === next.axis && now.from === next.from)
  )
    return;
  now = next;
}
