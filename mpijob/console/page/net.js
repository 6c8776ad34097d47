// SPDX-License-Identifier: BSD-3-Clause
// Requests to the console, and its feeds of events, which begin again by themselves when they break.

export class Failure extends Error {
  constructor(code, body) {
    super((body && body.message) || (code ? `the console has answered ${code}` : 'the console does not answer'));
    this.code = code;
    this.body = body;
  }
}

export const session = { user: null, role: 'nobody' };
const watchers = { lost: () => {}, trouble: () => {} };
export function watch(lost, trouble) { Object.assign(watchers, { lost, trouble }); }

const ranks = ['nobody', 'look', 'submit', 'administer'];
export const may = (role) => ranks.indexOf(session.role) >= ranks.indexOf(role);

async function request(method, path, options) {
  let answer;
  try {
    answer = await fetch('/console/' + path, { method, credentials: 'same-origin', cache: 'no-store', ...options });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Failure(0, null);
  }
  if (answer.status !== 502) watchers.trouble('');
  if (answer.ok) return answer;
  const body = await answer.json().catch(() => null);
  if (answer.status === 401 && path !== 'login') watchers.lost();
  throw new Failure(answer.status, body);
}

export async function call(method, path, body) {
  const options = { headers: { 'X-Change-Token': session.changeToken || '' } };
  if (typeof body === 'string') {
    options.body = body;
    options.headers['Content-Type'] = 'application/yaml';
  } else if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers['Content-Type'] = 'application/json';
  } else if (method !== 'GET') {
    options.headers['Content-Type'] = 'application/json';
  }
  return (await request(method, path, options)).json();
}

// The events of one answer, until it ends.
async function read(path, signal, take) {
  const answer = await request('GET', path, { signal });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  take('open', null);
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const parts = text.split('\n\n');
    text = parts.pop();
    for (const part of parts) {
      const event = /^event: (\w+)\ndata: /.exec(part);
      if (event) take(event[1], JSON.parse(part.slice(event[0].length)));
    }
  }
}

const HIDDEN = 60000; // ms that a page may be out of sight before its feeds rest: browsers have few connections

// Follows a feed until stop(). begin() resolves to the feed's path, after it has read what there is; on.NAME takes events;
// on.open is called when the feed begins, on.failure with what was refused: it returns false to give up.
export function follow(begin, on) {
  const state = { stopped: false, abort: null, delay: 0, wake: null, timer: 0 };
  const pause = (ms) => new Promise((resolve) => { state.wake = resolve; setTimeout(resolve, ms); });
  const take = (name, data) => {
    if (state.stopped) return;
    if (name === 'failed') throw new Failure(data.code, data);
    if (name !== 'open') state.delay = 0;
    if (name === 'ended') state.stopped = true;
    if (on[name]) on[name](data);
  };
  const visibility = () => {
    clearTimeout(state.timer);
    if (document.hidden) state.timer = setTimeout(() => state.abort && state.abort.abort(), HIDDEN);
    else if (state.wake) state.wake();
  };
  document.addEventListener('visibilitychange', visibility);
  const stop = () => {
    state.stopped = true;
    document.removeEventListener('visibilitychange', visibility);
    clearTimeout(state.timer);
    if (state.abort) state.abort.abort();
    if (state.wake) state.wake();
  };
  (async () => {
    while (!state.stopped) {
      state.abort = new AbortController();
      try {
        const path = await begin(state.abort.signal);
        if (!state.stopped) await read(path, state.abort.signal, take);
      } catch (error) {
        if (state.stopped) return;
        state.abort.abort();
        if (error instanceof Failure) {
          if (error.code === 401) return;
          if (error.code === 0 || error.code === 502) watchers.trouble(error.message);
          if (on.failure && on.failure(error) === false) return stop();
        } else if (error.name !== 'AbortError') {
          watchers.trouble('the connection to the console has broken');
        }
        state.delay = Math.min(10000, state.delay ? state.delay * 2 : 250);
      }
      while (!state.stopped && document.hidden) await pause(3600000);
      if (!state.stopped) await pause(Math.max(100, state.delay));
    }
  })();
  return { stop };
}
