// Where the picture lies in the window: a shift and a scale, moved by drag, wheel, keys and the small map.
export interface Camera {
  x: number;
  y: number;
  k: number;
  readonly width: number; // of the window
  readonly height: number;
  resize(width: number, height: number): void;
  zoom(by: number, px: number, py: number): void;
  fit(width: number, height: number): void;
  /** The whole picture, or its beginning at (px, py) where the whole would be too small to read. */
  begin(width: number, height: number, px: number, py: number): void;
  /** Puts a place of the picture into the middle. */
  centre(px: number, py: number): void;
  /** Brings a whole box into the window, smaller if need be but readable; its upper left corner comes first. */
  contain(px: number, py: number, w: number, h: number): void;
  /** Brings a box into view if it lies outside. */
  reveal(px: number, py: number, w: number, h: number): void;
}

const SPECK = 0.12; // below this scale boxes are dots
const READABLE = 0.7;
const LEGIBLE = 0.35; // boxes still have their names
const RIM = 24; // pixels between a box and the edge of the window

export function createCamera(): Camera {
  const at = $state({x: 0, y: 0, k: 1, width: 0, height: 0});
  const fit = (width: number, height: number): void => {
    at.k = Math.max(0.02, Math.min(1.25, (at.width - 48) / Math.max(1, width), (at.height - 72) / Math.max(1, height)));
    at.x = (at.width - width * at.k) / 2;
    at.y = Math.max(24, (at.height - height * at.k) / 2);
  };
  return {
    get x() {
      return at.x;
    },
    set x(value) {
      at.x = value;
    },
    get y() {
      return at.y;
    },
    set y(value) {
      at.y = value;
    },
    get k() {
      return at.k;
    },
    set k(value) {
      at.k = value;
    },
    get width() {
      return at.width;
    },
    get height() {
      return at.height;
    },
    resize: (width, height) => void ([at.width, at.height] = [width, height]),
    zoom: (by, px, py) => {
      const next = Math.max(0.02, Math.min(4, at.k * by));
      [at.x, at.y, at.k] = [px - ((px - at.x) * next) / at.k, py - ((py - at.y) * next) / at.k, next];
    },
    fit,
    begin: (width, height, px, py) => {
      fit(width, height);
      if (at.k < SPECK) [at.k, at.x, at.y] = [READABLE, at.width / 2 - px * READABLE, at.height / 4 - py * READABLE];
    },
    centre: (px, py) => void ([at.x, at.y] = [at.width / 2 - px * at.k, at.height / 2 - py * at.k]),
    contain: (px, py, w, h) => {
      const fits = Math.min((at.width - 2 * RIM) / Math.max(1, w), (at.height - 2 * RIM) / Math.max(1, h));
      const k = Math.min(at.k, Math.max(LEGIBLE, fits));
      const [left, top] = [px - w / 2, py - h / 2];
      // The corner stays where it is on screen, then moves as little as it must.
      const place = (corner: number, offset: number, size: number, window: number): number => {
        const start = corner * at.k + offset;
        const room = window - RIM - size * k;
        return Math.max(RIM, Math.min(start, room)) - corner * k;
      };
      [at.x, at.y, at.k] = [place(left, at.x, w, at.width), place(top, at.y, h, at.height), k];
    },
    reveal: (px, py, w, h) => {
      if (at.k < 0.35) at.k = 0.7;
      const [sx, sy] = [px * at.k + at.x, py * at.k + at.y];
      const [hw, hh] = [(Math.min(w, 300) * at.k) / 2, (Math.min(h, 200) * at.k) / 2];
      if (sx - hw < 0 || sx + hw > at.width || sy - hh < 0 || sy + hh > at.height)
        [at.x, at.y] = [at.width / 2 - px * at.k, at.height / 2 - py * at.k];
    },
  };
}
