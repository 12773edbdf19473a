// Captures of running programs (docs/api.md, Captures): start one, look how far it is, cancel it.
import type * as api from './api.ts';
import {client} from './client.ts';

export interface CaptureHost {
  readonly host: string;
  readonly phase: 'connecting' | 'recording' | 'receiving' | 'done' | 'failed';
  readonly bytes: number;
  readonly error?: string;
}

export type CaptureJob = api.CaptureJob;

/** A program that records when it finds a request in its run's folder. */
export type WatchedRun = api.WatchedRun;

export type CaptureState = api.CaptureState;

export type CaptureRequest = api.CaptureRequest;

export const captureState = (): Promise<CaptureState> => client().get('profile/capture');
export const captureJob = (id: number): Promise<CaptureJob> => client().get(`profile/capture/${id}`);
export const startCapture = async (request: CaptureRequest): Promise<CaptureJob> =>
  (await client().send<CaptureJob>('POST', 'profile/capture', request)).value;
export const cancelCapture = async (id: number): Promise<CaptureJob> =>
  (await client().send<CaptureJob>('DELETE', `profile/capture/${id}`)).value;
export const askRun = async (run: string, steps: number): Promise<WatchedRun> =>
  (await client().send<WatchedRun>('POST', 'profile/request', {run, steps})).value;
