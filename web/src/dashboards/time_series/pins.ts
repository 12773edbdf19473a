// Pinned cards, remembered in this browser for the log directory's page.
const KEY = 'sonde.pins';

export function loadPins(): string[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(list) ? list.filter((one): one is string => typeof one === 'string') : [];
  } catch {
    return [];
  }
}

export function savePins(pins: readonly string[]): void {
  try {
    if (pins.length > 0) localStorage.setItem(KEY, JSON.stringify(pins));
    else localStorage.removeItem(KEY);
  } catch {
    // storage may be off: pins then live in the link only
  }
}

/** What was pinned or unpinned since is remembered; pins that came with a link are not. */
export function rememberPins(before: readonly string[], now: readonly string[]): void {
  const stays = loadPins().filter(pin => now.includes(pin) || !before.includes(pin));
  savePins([...stays, ...now.filter(pin => !before.includes(pin) && !stays.includes(pin))]);
}
