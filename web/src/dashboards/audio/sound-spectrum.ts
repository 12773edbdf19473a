// The spectrogram of a clip: its bytes decoded by the browser, channels added up.
import {client} from '../../data/client.ts';
import {blobPath} from '../../data/media.ts';
import {spectrogramOf, type Spectrogram} from '../../draw/spectrogram.ts';

const MOST_SECONDS = 600; // more would not be told apart in a card's width

export async function loadSpectrum(ref: string): Promise<Spectrogram> {
  const bytes = await (await client().raw(blobPath(ref))).arrayBuffer();
  const decoded = await new OfflineAudioContext(1, 1, 44100).decodeAudioData(bytes);
  const count = Math.min(decoded.length, Math.floor(MOST_SECONDS * decoded.sampleRate));
  const mixed = new Float32Array(count);
  for (let c = 0; c < decoded.numberOfChannels; c++) {
    const channel = decoded.getChannelData(c);
    for (let i = 0; i < count; i++) mixed[i]! += channel[i]! / decoded.numberOfChannels;
  }
  return spectrogramOf(mixed, decoded.sampleRate);
}
