// SPDX-License-Identifier: BSD-3-Clause
// The log of a pod, as it grows: only the lines in sight are elements. Lines lie in segments of one size, so that the
// oldest go at once when there is more than the page may keep.
import { Window, fill, h } from './dom.js';
import { follow } from './net.js';

const ROW = 17; // pixels, as in style.css; a million rows is still a height that browsers can have
const SEGMENT = 10000, MOST_LINES = 1000000, MOST_CHARACTERS = 128 << 20, LONGEST = 4000, SCAN = 20000;

export class Lines {
  constructor() { this.clear(); }

  clear() { Object.assign(this, { segments: [], first: 0, end: 0, characters: 0, rest: '' }); }

  add(text, time) {
    const parts = (this.rest + text).split('\n');
    this.rest = parts.pop();
    if (this.rest.length > 1 << 20) parts.push(this.rest), this.rest = '';
    for (const part of parts) this.push(part, time);
  }

  push(line, time) {
    let last = this.segments[this.segments.length - 1];
    if (!last || last.lines.length === SEGMENT) this.segments.push(last = { lines: [], times: [], characters: 0 });
    last.lines.push(line);
    last.times.push(time);
    last.characters += line.length;
    this.characters += line.length;
    this.end++;
    while (this.segments.length > 1 && (this.end - this.first > MOST_LINES || this.characters > MOST_CHARACTERS)) {
      const gone = this.segments.shift();
      this.first += gone.lines.length;
      this.characters -= gone.characters;
    }
  }

  // number counts from the first line that ever came.
  text(number) { const i = number - this.first; return this.segments[Math.floor(i / SEGMENT)].lines[i % SEGMENT]; }

  time(number) { const i = number - this.first; return this.segments[Math.floor(i / SEGMENT)].times[i % SEGMENT]; }
}

// As a terminal would leave it: what follows the last carriage return, without colours.
const clean = (line) => {
  const text = line.replace(/\r+$/, '').replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '');
  return text.slice(text.lastIndexOf('\r') + 1);
};

const STAMP = /^(\d{4}-\d\d-\d\dT[0-9:.]+(?:Z|[+-]\d\d:\d\d)) /;

export class LogView {
  constructor() {
    this.lines = new Lines();
    this.matches = [];
    this.scanned = 0;
    this.current = -1;
    this.follows = true;
    this.pod = null;
    this.search = h('input', { type: 'search', id: 'log-search', placeholder: 'Text in the log', oninput: () => this.seek(), onkeydown: (event) => { if (event.key === 'Enter') this.step(event.shiftKey ? -1 : 1); } });
    this.found = h('span', { class: 'quiet', role: 'status' });
    this.only = h('input', { type: 'checkbox', id: 'log-only', onchange: () => this.changed() });
    this.times = h('input', { type: 'checkbox', id: 'log-times', onchange: () => this.open(this.job, this.pod) });
    this.tail = h('input', { type: 'checkbox', id: 'log-follow', checked: true, onchange: () => { this.follows = this.tail.checked; this.changed(); } });
    this.download = h('a', { class: 'button small', id: 'log-download' }, 'Download');
    this.title = h('h2', { id: 'log-title' }, 'Log');
    this.note = h('p', { class: 'quiet', role: 'status', id: 'log-note' });
    this.sheet = h('div', { class: 'sheet' });
    this.space = h('div', { class: 'space' }, this.sheet);
    this.scroller = h('div', { class: 'log', id: 'log', tabindex: '0', role: 'region', 'aria-labelledby': 'log-title' }, this.space);
    this.window = new Window(this.scroller, ROW, (first, end) => this.draw(first, end));
    this.scroller.addEventListener('scroll', () => {
      const atEnd = this.scroller.scrollTop + this.scroller.clientHeight >= this.scroller.scrollHeight - 2 * ROW;
      if (!atEnd && this.scroller.scrollTop < this.before) this.follows = this.tail.checked = false; // the reader has gone up
      this.before = this.scroller.scrollTop;
    }, { passive: true });
    this.element = h('section', { class: 'card', 'aria-labelledby': 'log-title' }, h('div', { class: 'row head' }, this.title, this.download),
      h('div', { class: 'row tools' }, h('label', { class: 'grow' }, h('span', {}, 'Search'), this.search),
        h('div', { class: 'row' }, h('button', { type: 'button', class: 'small', 'aria-label': 'Match before', onclick: () => this.step(-1) }, '↑'), h('button', { type: 'button', class: 'small', 'aria-label': 'Next match', onclick: () => this.step(1) }, '↓'), this.found),
        h('label', { class: 'check' }, this.only, 'Only matches'), h('label', { class: 'check' }, this.times, 'Times'), h('label', { class: 'check' }, this.tail, 'Follow')),
      this.scroller, this.note);
  }

  open(job, pod) {
    this.close();
    Object.assign(this, { job, pod, stamped: this.times.checked });
    fill(this.title, `Log of ${pod}`);
    this.download.href = `/console/jobs/${job}/pods/${pod}/log?download=1`;
    this.download.setAttribute('download', `${pod}.log`);
    fill(this.note, 'Waiting for the log…');
    this.feed = follow(async () => {
      this.reset();
      return `jobs/${job}/pods/${pod}/log${this.stamped ? '?times=1' : ''}`;
    }, {
      open: () => fill(this.note, 'The pod has written nothing yet.'),
      log: (text) => { this.lines.add(text, Date.now()); this.changed(); fill(this.note); },
      ended: () => {
        if (this.lines.rest) this.lines.add('\n', Date.now());
        fill(this.note, this.lines.end ? `The log is complete.${this.times.checked && !this.stamped ? ' The API keeps no times: these are when lines arrived here.' : ''}` : 'The pod has ended and has written nothing.');
        this.changed();
      },
      failure: (error) => {
        if (error.code === 400 && this.stamped && /timestamps/.test(error.message)) {
          this.stamped = false; // the API keeps no times: each line gets that of its arrival
          return true;
        }
        fill(this.note, `No log yet: ${error.message}`);
        return error.code !== 403 && error.code !== 404;
      },
    });
  }

  close() {
    if (this.feed) this.feed.stop();
    this.feed = null;
    this.reset();
  }

  reset() {
    this.lines.clear();
    this.seek();
  }

  stop() {
    this.close();
    this.window.stop();
  }

  seek() {
    Object.assign(this, { matches: [], scanned: 0, current: -1, wanted: this.search.value.toLowerCase() });
    this.changed();
  }

  // Looks at what has not been looked at, a part at a time, so that the page answers meanwhile.
  scan() {
    if (!this.wanted || this.scanning) return;
    this.scanned = Math.max(this.scanned, this.lines.first);
    const end = Math.min(this.lines.end, this.scanned + SCAN);
    for (; this.scanned < end; this.scanned++) if (this.lines.text(this.scanned).toLowerCase().includes(this.wanted)) this.matches.push(this.scanned);
    if (this.matches.length && this.matches[0] < this.lines.first) {
      const gone = this.matches.findIndex((number) => number >= this.lines.first);
      this.matches.splice(0, gone < 0 ? this.matches.length : gone);
    }
    if (this.scanned < this.lines.end) {
      this.scanning = true;
      setTimeout(() => { this.scanning = false; this.changed(); });
    }
  }

  step(by) {
    if (!this.matches.length) return;
    this.current = (Math.max(this.current, by > 0 ? -1 : 0) + by + this.matches.length) % this.matches.length;
    this.follows = this.tail.checked = false;
    const row = this.only.checked ? this.current : this.matches[this.current] - this.lines.first;
    this.scroller.scrollTop = Math.max(0, row * ROW - this.scroller.clientHeight / 2);
    this.changed();
  }

  changed() {
    this.scan();
    const only = this.only.checked && this.wanted;
    fill(this.found, this.wanted ? `${this.current >= 0 ? `${this.current + 1} of ` : ''}${this.matches.length} line${this.matches.length === 1 ? '' : 's'}` : '');
    this.window.count = only ? this.matches.length : this.lines.end - this.lines.first;
    this.space.style.height = `${this.window.count * ROW + 8}px`;
    if (this.follows) this.scroller.scrollTop = this.scroller.scrollHeight;
    this.window.update();
  }

  draw(first, end) {
    const only = this.only.checked && this.wanted, rows = [];
    for (let row = first; row < end; row++) {
      const number = only ? this.matches[row] : this.lines.first + row;
      if (number === undefined || number < this.lines.first || number >= this.lines.end) continue;
      rows.push(this.row(number, number === this.matches[this.current]));
    }
    this.sheet.style.transform = `translateY(${first * ROW}px)`;
    fill(this.sheet, rows);
    if (this.lines.first && !this.note.textContent) fill(this.note, `The first ${this.lines.first} lines are not kept here; the download has them.`);
  }

  row(number, isCurrent) {
    let text = clean(this.lines.text(number)), stamp = '';
    if (this.times.checked) {
      const found = this.stamped ? STAMP.exec(text) : null;
      stamp = new Date(found ? found[1] : this.lines.time(number)).toISOString().slice(11, 23);
      if (found) text = text.slice(found[0].length);
    }
    if (text.length > LONGEST) text = `${text.slice(0, LONGEST)}…`;
    const parts = [], low = text.toLowerCase();
    let from = 0, at = this.wanted ? low.indexOf(this.wanted) : -1;
    for (; at >= 0; from = at + this.wanted.length, at = low.indexOf(this.wanted, from)) parts.push(text.slice(from, at), h('mark', {}, text.slice(at, at + this.wanted.length)));
    parts.push(text.slice(from));
    return h('div', { class: isCurrent ? 'line current' : 'line' }, h('span', { class: 'count' }, String(number + 1)), stamp ? h('span', { class: 'time' }, stamp) : null, h('span', {}, parts));
  }
}
