// The first picture comes first: what the page also wants to know is asked for when data have been painted, or
// soon after the shell stands when the dashboard in view paints none.
const PATIENCE_MS = 400;

let tell: () => void = () => {};
const shown = new Promise<void>((resolve) => (tell = resolve));

/** Data are on the screen. */
export function pictureShown(): void {
  tell();
}

/** The shell stands: nobody waits longer than a moment from here. */
export function shellStands(): void {
  setTimeout(tell, PATIENCE_MS);
}

export function afterPicture(): Promise<void> {
  return shown;
}
