// Media of one (run, tag): pictures, sounds and texts by step. Step lists come whole, items in pages.
import {client, numberOf} from './client.ts';

export interface Sample {
  readonly ref: string;
  readonly mime: string;
  readonly bytes: number;
  readonly width?: number;
  readonly height?: number;
  readonly seconds?: number;
  readonly rate?: number;
  readonly channels?: number;
  readonly label?: string;
  readonly label_html?: string; // of a sound: Markdown, sanitised
}

export interface MediaItem {
  readonly step: number;
  readonly wall: number;
  readonly samples: readonly Sample[];
  readonly damage?: string; // why the samples cannot be had
}

export interface StepList {
  readonly steps: Float64Array;
  readonly walls: Float64Array;
}

interface StepsAnswer {
  readonly steps: readonly (number | string)[];
  readonly walls: readonly (number | string)[];
}

export async function mediaSteps(run: string, tag: string): Promise<StepList> {
  const answer = await client().get<StepsAnswer>('media', {run, tag, steps: 1});
  return stepList(answer);
}

export function stepList(answer: StepsAnswer): StepList {
  return {steps: Float64Array.from(answer.steps, numberOf), walls: Float64Array.from(answer.walls, numberOf)};
}

export async function mediaItems(run: string, tag: string, from: number, count: number): Promise<MediaItem[]> {
  const answer = await client().get<{items: readonly MediaItem[]}>('media', {run, tag, from, count});
  return answer.items.map(item => ({...item, step: numberOf(item.step), wall: numberOf(item.wall)}));
}

export const blobPath = (ref: string): string => `blob/${encodeURIComponent(ref)}`;

/** Bytes that are here, but are no picture or sound that can be shown. */
export class Unshowable extends Error {
  readonly kind: 'empty' | 'unknown' | 'broken'; // broken: of a known type, yet the browser cannot decode them
  readonly bytes: Blob;
  constructor(kind: Unshowable['kind'], bytes: Blob) {
    super(kind);
    this.kind = kind;
    this.bytes = bytes;
  }
}

async function bytesOf(ref: string): Promise<Blob> {
  const bytes = await (await client().raw(blobPath(ref))).blob();
  if (bytes.size === 0) throw new Unshowable('empty', bytes);
  return bytes;
}

/** The decoded pixels of a picture; throws what is the matter with it. */
export async function pixelsOf(ref: string): Promise<ImageData> {
  const bytes = await bytesOf(ref);
  try {
    const bitmap = await createImageBitmap(bytes, {premultiplyAlpha: 'none', colorSpaceConversion: 'none'});
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const g = canvas.getContext('2d', {willReadFrequently: true})!;
    g.drawImage(bitmap, 0, 0);
    bitmap.close();
    const pixels = g.getImageData(0, 0, canvas.width, canvas.height);
    canvas.width = canvas.height = 0; // gives its memory back at once
    return pixels;
  } catch {
    throw new Unshowable(bytes.type.startsWith('image/') ? 'broken' : 'unknown', bytes);
  }
}

/** Asks for the bytes that an <audio> could not play and throws what is the matter with them. */
export async function failedSound(ref: string): Promise<never> {
  const bytes = await bytesOf(ref);
  throw new Unshowable(bytes.type.startsWith('audio/') ? 'broken' : 'unknown', bytes);
}

/** Whether a picture misses its last bytes: an <img> shows what there is, or nothing, and calls it loaded. */
export async function isCutShort({ref, mime, bytes}: Sample): Promise<boolean> {
  const ends: Readonly<Record<string, string>> = {'image/png': 'IEND', 'image/jpeg': '\xff\xd9'};
  const end = ends[mime];
  if (end === undefined || bytes < 12) return false;
  const tail = await (await client().raw(blobPath(ref), {headers: {Range: `bytes=${bytes - 12}-`}})).arrayBuffer();
  return !String.fromCharCode(...new Uint8Array(tail).subarray(-12)).includes(end);
}
