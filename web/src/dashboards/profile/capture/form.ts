// What the capture dialog asks for and remembers; pure, so that it is tested without a page.
import type {CaptureRequest} from '../../../data/capture.ts';

export interface CaptureForm {
  service: string;
  workers: string;
  duration: number; // ms
  delay: number; // ms
  retries: number;
  host: string; // levels, as the selects hold them
  device: string;
  python: string;
  extra: string; // a line an option: KEY=VALUE
  root: string;
  steps: number; // of a PyTorch program
}

export const DEFAULTS: Readonly<CaptureForm> = {
  service: 'localhost:6009',
  workers: '',
  duration: 1000,
  delay: 0,
  retries: 3,
  host: '2',
  device: '1',
  python: '0',
  extra: '',
  root: '',
  steps: 5,
};

/** What was kept in the browser, as far as it makes sense. */
export function remembered(kept: unknown): CaptureForm {
  const form = {...DEFAULTS};
  if (typeof kept !== 'object' || kept === null) return form;
  for (const [key, value] of Object.entries(kept)) {
    const usual = DEFAULTS[key as keyof CaptureForm];
    if (typeof value === typeof usual && (typeof value !== 'number' || Number.isFinite(value)))
      Object.assign(form, {[key]: value});
  }
  return form;
}

/** Lines KEY=VALUE; null when a line is none. */
export function extraOptions(text: string): Record<string, string> | null {
  const options: Record<string, string> = {};
  for (const line of text.split('\n').map(one => one.trim())) {
    if (line === '') continue;
    const equals = line.indexOf('=');
    if (equals <= 0) return null;
    options[line.slice(0, equals).trim()] = line.slice(equals + 1).trim();
  }
  return options;
}

export function requestOf(form: CaptureForm): CaptureRequest {
  return {
    service: form.service.trim(),
    worker_list: form.workers.trim(),
    duration_ms: form.duration,
    delay_ms: form.delay,
    retries: form.retries,
    host_tracer_level: Number(form.host),
    device_tracer_level: Number(form.device),
    python_tracer_level: Number(form.python),
    options: extraOptions(form.extra) ?? {},
    root: form.root,
  };
}
