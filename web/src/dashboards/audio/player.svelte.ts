// Speed and volume of all clips, and who plays: starting one clip stops the other.
import {slice} from '../../state/view.svelte.ts';

export const sound = slice<{
  filter: string;
  speed: number;
  volume: number;
  picture: 'wave' | 'spectrum';
}>('audio', {filter: '', speed: 1, volume: 1, picture: 'wave'});

let playing: HTMLAudioElement | undefined;

export const player = {
  start(element: HTMLAudioElement): void {
    if (playing !== element) playing?.pause();
    playing = element;
  },
};
