// The extremes of a sound clip over its length, computed by the server.
import type {Peaks} from '../draw/waveform.ts';
import {client, numberOf, type AskOptions} from './client.ts';

export async function loadPeaks(ref: string, px: number, options: AskOptions = {}): Promise<Peaks & {rate: number}> {
  const columns = await client().getColumns(`peaks/${encodeURIComponent(ref)}`, {px}, options);
  const f32 = (name: string): Float32Array => {
    const column = columns.col(name);
    return column instanceof Float32Array ? column : new Float32Array();
  };
  return {
    channels: numberOf(columns.head['channels']) || 0,
    seconds: numberOf(columns.head['seconds']) || 0,
    rate: numberOf(columns.head['rate']) || 0,
    min: f32('min'),
    max: f32('max'),
  };
}
