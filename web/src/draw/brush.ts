// What painters draw with: the part of a 2D canvas context they need, so that the same routines write
// SVG for export.

export interface Brush {
  fillStyle: string | CanvasGradient | CanvasPattern;
  strokeStyle: string | CanvasGradient | CanvasPattern;
  lineWidth: number;
  lineJoin: CanvasLineJoin;
  font: string;
  textAlign: CanvasTextAlign;
  textBaseline: CanvasTextBaseline;
  globalAlpha: number;
  beginPath(): void;
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  closePath(): void;
  rect(x: number, y: number, w: number, h: number): void;
  arc(x: number, y: number, r: number, a: number, b: number): void;
  stroke(): void;
  fill(): void;
  clip(): void;
  save(): void;
  restore(): void;
  fillRect(x: number, y: number, w: number, h: number): void;
  strokeRect(x: number, y: number, w: number, h: number): void;
  fillText(text: string, x: number, y: number): void;
  measureText(text: string): {width: number};
  setLineDash(dash: number[]): void;
  translate(x: number, y: number): void;
  rotate(angle: number): void;
}

interface State {
  fillStyle: string;
  strokeStyle: string;
  lineWidth: number;
  font: string;
  textAlign: CanvasTextAlign;
  textBaseline: CanvasTextBaseline;
  globalAlpha: number;
  dash: readonly number[];
  opened: number; // <g> elements this level has opened
}

/** A brush that writes SVG. `measure` is a real canvas context: text has the same width in both. */
export function createSvgBrush(
  width: number,
  height: number,
  measure: CanvasRenderingContext2D,
): Brush & {finish(title: string): string} {
  const out: string[] = [];
  let path = '';
  let clips = 0;
  const stack: State[] = [];
  let state: State = {
    fillStyle: '#000',
    strokeStyle: '#000',
    lineWidth: 1,
    font: '10px sans-serif',
    textAlign: 'left',
    textBaseline: 'alphabetic',
    globalAlpha: 1,
    dash: [],
    opened: 0,
  };
  const n = (value: number): string => String(Math.round(value * 100) / 100);
  const paint = (colour: string, what: 'fill' | 'stroke'): string => {
    const rgba = /^rgba?\((\d+)[, ]+(\d+)[, ]+(\d+)(?:[,/ ]+([\d.]+))?\)$/.exec(colour.replaceAll(' / ', ','));
    const [solid, alpha] =
      rgba === null ? [colour, 1] : [`rgb(${rgba[1]},${rgba[2]},${rgba[3]})`, Number(rgba[4] ?? 1)];
    const opacity = alpha * state.globalAlpha;
    return `${what}="${escape(solid)}"${opacity < 1 ? ` ${what}-opacity="${n(opacity)}"` : ''}`;
  };
  return {
    get fillStyle() {
      return state.fillStyle;
    },
    set fillStyle(v) {
      state.fillStyle = String(v);
    },
    get strokeStyle() {
      return state.strokeStyle;
    },
    set strokeStyle(v) {
      state.strokeStyle = String(v);
    },
    get lineWidth() {
      return state.lineWidth;
    },
    set lineWidth(v) {
      state.lineWidth = v;
    },
    get font() {
      return state.font;
    },
    set font(v) {
      state.font = v;
    },
    get textAlign() {
      return state.textAlign;
    },
    set textAlign(v) {
      state.textAlign = v;
    },
    get textBaseline() {
      return state.textBaseline;
    },
    set textBaseline(v) {
      state.textBaseline = v;
    },
    get globalAlpha() {
      return state.globalAlpha;
    },
    set globalAlpha(v) {
      state.globalAlpha = v;
    },
    lineJoin: 'round',
    beginPath: () => void (path = ''),
    moveTo: (x, y) => void (path += `M${n(x)} ${n(y)}`),
    lineTo: (x, y) => void (path += `L${n(x)} ${n(y)}`),
    closePath: () => void (path += 'Z'),
    rect: (x, y, w, h) => void (path += `M${n(x)} ${n(y)}h${n(w)}v${n(h)}h${n(-w)}Z`),
    arc: (x, y, r) =>
      void (path += `M${n(x - r)} ${n(y)}a${n(r)} ${n(r)} 0 1 0 ${n(2 * r)} 0a${n(r)} ${n(r)} 0 1 0 ${n(-2 * r)} 0Z`),
    stroke: () => {
      if (path === '') return;
      const dash = state.dash.length > 0 ? ` stroke-dasharray="${state.dash.join(' ')}"` : '';
      out.push(
        `<path d="${path}" fill="none" ${paint(state.strokeStyle, 'stroke')} stroke-width="${n(state.lineWidth)}" stroke-linejoin="round"${dash}/>`,
      );
    },
    fill: () => void (path !== '' && out.push(`<path d="${path}" ${paint(state.fillStyle, 'fill')}/>`)),
    clip: () => {
      clips++;
      out.push(`<clipPath id="c${clips}"><path d="${path}"/></clipPath><g clip-path="url(#c${clips})">`);
      state.opened++;
    },
    save: () => {
      stack.push(state);
      state = {...state, opened: 0};
    },
    restore: () => {
      out.push('</g>'.repeat(state.opened));
      state = stack.pop() ?? state;
    },
    strokeRect: (x, y, w, h) =>
      void out.push(
        `<rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" fill="none" stroke-width="${n(state.lineWidth)}" ${paint(state.strokeStyle, 'stroke')}/>`,
      ),
    fillRect: (x, y, w, h) =>
      void out.push(
        `<rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" ${paint(state.fillStyle, 'fill')}/>`,
      ),
    fillText: (text, x, y) => {
      const anchor =
        state.textAlign === 'right' || state.textAlign === 'end'
          ? 'end'
          : state.textAlign === 'center'
            ? 'middle'
            : 'start';
      const size = Number(/([\d.]+)px/.exec(state.font)?.[1] ?? 10);
      const weight = /^(\d{3}) /.exec(state.font)?.[1] ?? '400';
      const family = state.font.replace(/^.*?px\s*/, '');
      const shift = state.textBaseline === 'middle' ? size * 0.35 : state.textBaseline === 'top' ? size * 0.85 : 0;
      out.push(
        `<text x="${n(x)}" y="${n(y + shift)}" font-family="${escape(family)}" font-size="${size}" font-weight="${weight}" text-anchor="${anchor}" ${paint(state.fillStyle, 'fill')}>${escape(text)}</text>`,
      );
    },
    measureText: text => {
      measure.font = state.font;
      return measure.measureText(text);
    },
    setLineDash: dash => void (state.dash = dash),
    translate: (x, y) => {
      out.push(`<g transform="translate(${n(x)} ${n(y)})">`);
      state.opened++;
    },
    rotate: angle => {
      out.push(`<g transform="rotate(${n((angle * 180) / Math.PI)})">`);
      state.opened++;
    },
    finish: title =>
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(title)}"><title>${escape(title)}</title>${out.join('')}</svg>`,
  };
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
