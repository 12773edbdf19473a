// Terminal output as styled pieces: colours and weights of SGR sequences are kept, every other escape is dropped,
// and characters that would hide or turn what follows (NUL, bidirectional overrides) become visible.

export interface AnsiPiece {
  readonly text: string;
  readonly colour: number | null; // 0 … 15, as terminals number them
  readonly bold: boolean;
  readonly dim: boolean;
  readonly underline: boolean;
}

// CSI … final byte; OSC … BEL or ST; other two-byte escapes.
const ESCAPE = /\x1b(?:\[([0-9;:?<=>]*)[ -/]*([@-~])|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)?|[@-Z\\^_]?)/g;

/** Characters without a shape, or that change the order of others, as text one can see. */
export function visible(text: string): string {
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\u200e\u200f]/g, one => {
    const code = one.charCodeAt(0);
    if (code < 32) return String.fromCharCode(0x2400 + code);
    return code === 127 ? '\u2421' : `⟨U+${code.toString(16).toUpperCase()}⟩`;
  });
}

export function ansiPieces(text: string): AnsiPiece[] {
  const pieces: AnsiPiece[] = [];
  let style = {colour: null as number | null, bold: false, dim: false, underline: false};
  let at = 0;
  const put = (end: number): void => {
    if (end > at) pieces.push({text: visible(text.slice(at, end)), ...style});
  };
  ESCAPE.lastIndex = 0;
  for (let found = ESCAPE.exec(text); found !== null; found = ESCAPE.exec(text)) {
    put(found.index);
    at = found.index + found[0].length;
    if (found[2] === 'm') style = styled(style, (found[1] ?? '').split(/[;:]/).map(Number));
  }
  put(text.length);
  return pieces;
}

type Style = Omit<AnsiPiece, 'text'>;

function styled(
  before: Style,
  codes: readonly number[],
): {colour: number | null; bold: boolean; dim: boolean; underline: boolean} {
  const style = {...before};
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i]!;
    if (code === 0) Object.assign(style, {colour: null, bold: false, dim: false, underline: false});
    else if (code === 1) style.bold = true;
    else if (code === 2) style.dim = true;
    else if (code === 4) style.underline = true;
    else if (code === 22) style.bold = style.dim = false;
    else if (code === 24) style.underline = false;
    else if (code >= 30 && code <= 37) style.colour = code - 30;
    else if (code >= 90 && code <= 97) style.colour = code - 90 + 8;
    else if (code === 39) style.colour = null;
    else if (code === 38 || code === 48) {
      // 256 colours and true colours: the first sixteen as they are, the others as plain text.
      const long = codes[i + 1] === 2 ? 4 : 2;
      if (code === 38 && codes[i + 1] === 5 && codes[i + 2]! < 16) style.colour = codes[i + 2]!;
      i += long;
    }
  }
  return style;
}

/** The text without its escapes, as the pieces show it. */
export const plainText = (text: string): string =>
  ansiPieces(text)
    .map(piece => piece.text)
    .join('');
