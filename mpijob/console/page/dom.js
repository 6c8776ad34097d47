// SPDX-License-Identifier: BSD-3-Clause
// Elements, texts of times, and lists of which only what is visible is there. All texts go in as text, never as markup.

export function h(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'value' || name === 'checked' || name === 'disabled' || name === 'selected') element[name] = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// Elements that are made again only when what they show has changed: a click must not miss one that was just replaced.
export class Kept {
  constructor() { this.map = new Map(); }

  get(key, shows, make) {
    const kept = this.map.get(key);
    if (kept && kept.shows === shows) return kept.element;
    const element = make();
    this.map.set(key, { shows, element });
    return element;
  }

  drop(keys) { for (const key of this.map.keys()) if (!keys.has(key)) this.map.delete(key); }
}

// As fill, but leaves what is there if it is the same.
export function sync(element, list) {
  const same = element.childNodes.length === list.length && list.every((one, i) => element.childNodes[i] === one);
  if (same) return;
  const focused = element.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  element.replaceChildren(...list);
  if (focused) for (const one of element.querySelectorAll('[data-key]')) if (one.dataset.key === focused) one.focus({ preventScroll: true });
}

export function age(time, now = Date.now()) {
  const seconds = Math.max(0, Math.floor((now - Date.parse(time)) / 1000));
  if (!(seconds >= 0)) return '–';
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}

// The day only if it is not today.
export function clock(time) {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return '–';
  const isToday = date.toDateString() === new Date().toDateString();
  return date.toLocaleString(undefined, isToday ? { timeStyle: 'medium' } : { dateStyle: 'medium', timeStyle: 'medium' });
}

export function tell(text) {
  const told = document.getElementById('told');
  fill(told, h('p', {}, text));
  clearTimeout(tell.timer);
  tell.timer = setTimeout(() => fill(told), 6000);
}

// A question with two answers; resolves to whether the user has agreed.
export function ask(title, text, answer, danger) {
  return new Promise((resolve) => {
    const yes = h('button', { class: danger ? 'danger' : 'primary', value: 'yes', type: 'submit' }, answer);
    const dialog = h('dialog', { 'aria-labelledby': 'question' },
      h('form', { method: 'dialog' }, h('h2', { id: 'question' }, title), h('p', {}, text),
        h('div', { class: 'row end' }, h('button', { value: 'no', type: 'submit' }, 'Cancel'), yes)));
    dialog.addEventListener('submit', (event) => { // form-action 'none' holds for dialogs, too
      event.preventDefault();
      dialog.close(event.submitter ? event.submitter.value : 'no');
    });
    dialog.addEventListener('close', () => { dialog.remove(); resolve(dialog.returnValue === 'yes'); });
    document.body.append(dialog);
    dialog.showModal();
  });
}

export function copyable(text) {
  const button = navigator.clipboard
    ? h('button', { type: 'button', class: 'small', onclick: async () => { await navigator.clipboard.writeText(text); tell('Copied.'); } }, 'Copy')
    : null;
  return h('div', { class: 'command' }, h('pre', { tabindex: '0' }, text), button);
}

// What stands in the window of a scroller with rows of one height: calls draw(first, end) when that changes.
export class Window {
  constructor(scroller, height, draw) {
    Object.assign(this, { scroller, height, draw, count: 0, waiting: false });
    scroller.addEventListener('scroll', () => this.update(), { passive: true });
    this.observer = new ResizeObserver(() => this.update());
    this.observer.observe(scroller);
  }

  update() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      const spare = 8, top = this.scroller.scrollTop;
      const first = Math.max(0, Math.min(Math.floor(top / this.height) - spare, this.count));
      const end = Math.min(this.count, Math.ceil((top + this.scroller.clientHeight) / this.height) + spare);
      this.draw(first, Math.max(first, end));
    });
  }

  stop() { this.observer.disconnect(); }
}
