// The event stream, one per browser: the tab that holds a Web Lock reads it and hands every event to
// the others by BroadcastChannel (HTTP/1.1 allows six connections a host; a stream per tab would
// starve the seventh). Without locks (plain http on a foreign host) every tab reads its own.
import type {Client} from './client.ts';

export interface StreamEvent {
  readonly type: string;
  readonly data: unknown;
}

export type StreamState = 'open' | 'waiting' | 'closed';

export interface Stream {
  close(): void;
  retry(): void;
}

const RETRY_MS = [500, 1000, 2000, 4000, 8000, 15000];

export function openStream(
  client: Client,
  on: (event: StreamEvent) => void,
  onState: (state: StreamState, retryAt: number) => void,
  after = '',
): Stream {
  const ended = new AbortController();
  const channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel(`sonde ${client.base.pathname}`) : null;
  let wake: () => void = () => {};
  let last = after; // the last event heard of: what came later is sent first

  const tell = (message: {event?: StreamEvent; state?: StreamState; at?: number}): void => {
    channel?.postMessage(message);
    if (message.event !== undefined) on(message.event);
    if (message.state !== undefined) onState(message.state, message.at ?? 0);
  };
  if (channel !== null) {
    channel.onmessage = (
      message: MessageEvent<{event?: StreamEvent; state?: StreamState; at?: number; ask?: boolean}>,
    ) => {
      if (message.data.event !== undefined) on(message.data.event);
      if (message.data.state !== undefined) onState(message.data.state, message.data.at ?? 0);
      if (message.data.ask === true) wake();
    };
  }

  async function read(): Promise<void> {
    for (let failures = 0; !ended.signal.aborted;) {
      try {
        const path = last === '' ? 'events' : `events?after=${encodeURIComponent(last)}`;
        const answer = await client.raw(path, {
          headers: {Accept: 'text/event-stream'},
          signal: ended.signal,
          cache: 'no-store',
        });
        if (answer.body === null) throw new Error('no body');
        tell({state: 'open'});
        failures = 0;
        const parse = createParser((event, id) => {
          if (id !== '') last = id;
          tell({event});
        });
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        for (;;) {
          const {done, value} = await reader.read();
          if (done) break;
          parse(value);
        }
      } catch {
        if (ended.signal.aborted) return;
      }
      const wait = RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)]!;
      tell({state: 'waiting', at: Date.now() + wait});
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, wait);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  if ('locks' in navigator && channel !== null) {
    navigator.locks.request(`sonde events ${client.base.pathname}`, {signal: ended.signal}, read).catch(() => {});
    // A follower hears nothing until the next event: it counts as open from the start.
    navigator.locks.query().then(
      state => {
        const held = state.held?.some(lock => lock.name === `sonde events ${client.base.pathname}`);
        if (held === true) onState('open', 0);
      },
      () => {},
    );
  } else {
    void read();
  }
  return {
    close: () => {
      ended.abort();
      wake();
      channel?.close();
    },
    retry: () => {
      wake();
      channel?.postMessage({ask: true});
    },
  };
}

/** Feeds text in any cut; calls back once per complete event. */
export function createParser(on: (event: StreamEvent, id: string) => void): (text: string) => void {
  let rest = '';
  let type = 'message';
  let data = '';
  let id = '';
  return text => {
    rest += text;
    for (;;) {
      const end = rest.indexOf('\n');
      if (end < 0) return;
      const line = rest.slice(0, end).replace(/\r$/, '');
      rest = rest.slice(end + 1);
      if (line === '') {
        if (data !== '') {
          let value: unknown = null;
          try {
            value = JSON.parse(data);
          } catch {
            value = data;
          }
          on({type, data: value}, id);
        }
        type = 'message';
        data = '';
      } else if (!line.startsWith(':')) {
        const colon = line.indexOf(':');
        const field = colon < 0 ? line : line.slice(0, colon);
        const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
        if (field === 'event') type = value;
        else if (field === 'data') data += (data === '' ? '' : '\n') + value;
        else if (field === 'id') id = value;
      }
    }
  };
}
