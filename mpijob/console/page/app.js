// SPDX-License-Identifier: BSD-3-Clause
// The page: who looks, which of its parts is shown, and whether the console answers.
import { fill, h } from './dom.js';
import { formPage } from './form.js';
import { jobPage } from './job.js';
import { jobsPage } from './jobs.js';
import { call, may, session, watch } from './net.js';

const main = document.getElementById('main'), who = document.getElementById('who'), trouble = document.getElementById('trouble');
const NAME = '([a-z0-9][a-z0-9.-]*)';
let leave = null;

const routes = [
  [/^#?\/?$/, 'jobs', 'Jobs', () => jobsPage(main)],
  [new RegExp(`^#/new(?:\\?from=${NAME})?$`), 'new', 'New job', (name) => (may('submit') ? formPage(main, name) : sorry())],
  [new RegExp(`^#/jobs/${NAME}$`), 'jobs', null, (name) => jobPage(main, name)],
];

function sorry() {
  fill(main, h('h1', { tabindex: '-1' }, 'New job'), h('p', {}, `The role "${session.role}" may look, but not create jobs.`));
}

function go() {
  if (leave) leave();
  leave = null;
  if (!session.user) return askToken('');
  for (const [pattern, page, title, open] of routes) {
    const found = pattern.exec(location.hash);
    if (!found) continue;
    for (const link of document.querySelectorAll('nav a')) {
      if (link.dataset.page === page) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    }
    document.title = `${title || found[1]} – MPI jobs`;
    leave = open(found[1]) || null;
    scrollTo(0, 0);
    const first = main.querySelector('h1');
    if (first) first.focus({ preventScroll: true });
    return undefined;
  }
  fill(main, h('h1', { tabindex: '-1' }, 'There is no such page'), h('p', {}, h('a', { href: '#/' }, 'All jobs')));
  return undefined;
}

function enter(answer) {
  Object.assign(session, answer);
  fill(who, h('span', { title: `role: ${session.role}` }, session.user, session.user === session.role ? '' : h('span', { class: 'quiet' }, ` (${session.role})`)), h('button', { type: 'button', class: 'small', onclick: logOut }, 'Log out'));
  document.querySelector('nav').hidden = false;
  document.querySelector('nav [data-page=new]').hidden = !may('submit');
  clearTimeout(enter.timer);
  enter.timer = setTimeout(() => lost('The session has expired.'), Math.min(session.expires * 1000 - Date.now(), 2147483647));
  go();
}

function lost(text) {
  if (leave) leave();
  leave = null;
  Object.assign(session, { user: null, role: 'nobody', changeToken: '' });
  askToken(text || 'The session has expired, or the console has been started with other tokens.');
}

async function logOut() {
  try { await call('POST', 'logout'); } catch { /* the session is over all the same */ }
  lost('You have logged out.');
}

function askToken(text) {
  const input = h('input', { type: 'password', id: 'token', autocomplete: 'current-password', required: true });
  const wrong = h('p', { class: 'complaint', role: 'alert' });
  fill(who);
  document.querySelector('nav').hidden = true;
  document.title = 'Log in – MPI jobs';
  fill(main, h('form', { class: 'card login', onsubmit: async (event) => {
    event.preventDefault();
    try { enter(await call('POST', 'login', { token: input.value.trim() })); } catch (error) { fill(wrong, error.message); input.focus(); }
  } }, h('h1', { tabindex: '-1' }, 'Log in'), text ? h('p', {}, text) : null, h('label', { for: 'token' }, 'Token'), input,
  h('p', { class: 'quiet' }, 'The console printed a link with a token when it was started, or its administrator has given you one.'), wrong, h('button', { type: 'submit', class: 'primary' }, 'Log in')));
  input.focus();
}

watch(lost, (text) => {
  trouble.hidden = !text;
  if (trouble.textContent !== text) fill(trouble, text ? `${text[0].toUpperCase()}${text.slice(1)}. Trying again…` : '');
});
document.getElementById('skip').addEventListener('click', (event) => { event.preventDefault(); main.focus(); });
addEventListener('hashchange', () => (linked() ? start() : go()));

const linked = () => (/^#token=(\S+)$/.exec(location.hash) || [])[1];

// A link with a token logs in; the token does not stay in the address.
async function start(token = linked()) {
  if (linked()) history.replaceState(null, '', '#/');
  try {
    enter(await call(token ? 'POST' : 'GET', token ? 'login' : 'session', token ? { token } : undefined));
  } catch (error) {
    if (error.code === 0) {
      fill(trouble, 'The console does not answer. Trying again…');
      trouble.hidden = false;
      setTimeout(() => start(token), 2000);
    } else if (error.code === 401) askToken('');
    else askToken(error.message);
  }
}
start();
