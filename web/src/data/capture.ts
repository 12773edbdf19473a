// Captures of running programs (docs/api.md, Captures): start one, look how far it is, cancel it.
import {client} from './client.ts';

export interface CaptureHost {
  readonly host: string;
  readonly phase: 'connecting' | 'recording' | 'receiving' | 'done' | 'failed';
  readonly bytes: number;
  readonly error?: string;
}

export interface CaptureJob {
  readonly capture: number;
  readonly state: 'running' | 'done' | 'failed' | 'cancelled';
  readonly session: string; // once done
  readonly attempt: number;
  readonly attempts: number;
  readonly elapsed_ms: number;
  readonly expected_ms: number;
  readonly hosts: readonly CaptureHost[];
  readonly error?: string;
}

/** A program that records when it finds a request in its run's folder. */
export interface WatchedRun {
  readonly run: string;
  readonly state: 'waiting' | 'recording';
  readonly asked: boolean;
  readonly host: string;
  readonly pid: number;
  readonly captures: number;
  readonly last: string;
  readonly age_s: number;
  readonly error?: string;
}

export interface CaptureState {
  readonly allowed: boolean;
  readonly reason: string;
  readonly roots: readonly string[];
  readonly captures: readonly CaptureJob[];
  readonly watched: readonly WatchedRun[];
}

export interface CaptureRequest {
  readonly service: string;
  readonly worker_list: string;
  readonly duration_ms: number;
  readonly delay_ms: number;
  readonly retries: number;
  readonly host_tracer_level: number;
  readonly device_tracer_level: number;
  readonly python_tracer_level: number;
  readonly options: Readonly<Record<string, string>>;
  readonly root: string;
}

export const captureState = (): Promise<CaptureState> => client().get('profile/capture');
export const captureJob = (id: number): Promise<CaptureJob> => client().get(`profile/capture/${id}`);
export const startCapture = async (request: CaptureRequest): Promise<CaptureJob> =>
  (await client().send<CaptureJob>('POST', 'profile/capture', request)).value;
export const cancelCapture = async (id: number): Promise<CaptureJob> =>
  (await client().send<CaptureJob>('DELETE', `profile/capture/${id}`)).value;
export const askRun = async (run: string, steps: number): Promise<WatchedRun> =>
  (await client().send<WatchedRun>('POST', 'profile/request', {run, steps})).value;
