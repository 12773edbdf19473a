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
  return answer.items.map((item) => ({...item, step: numberOf(item.step), wall: numberOf(item.wall)}));
}

export const blobPath = (ref: string): string => `blob/${encodeURIComponent(ref)}`;

/** The decoded pixels of a picture, or null when the browser cannot decode it. */
export async function pixelsOf(ref: string, signal?: AbortSignal): Promise<ImageData | null> {
  const answer = await client().raw(blobPath(ref), signal ? {signal} : {});
  try {
    const bitmap = await createImageBitmap(await answer.blob(), {premultiplyAlpha: 'none', colorSpaceConversion: 'none'});
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const g = canvas.getContext('2d', {willReadFrequently: true});
    if (g === null) return null;
    g.drawImage(bitmap, 0, 0);
    bitmap.close();
    return g.getImageData(0, 0, canvas.width, canvas.height);
  } catch {
    return null;
  }
}
