// SPDX-License-Identifier: BSD-3-Clause
// The list of jobs, and what can be done to one of them.
import { Kept, Window, age, ask, fill, h, sync, tell } from './dom.js';
import { at, counts, hasEnded, owner, state } from './model.js';
import { Failure, call, follow, may, session } from './net.js';

const mine = (job) => may('administer') || (may('submit') && owner(job) === session.user);

async function change(what, job) {
  const name = job.metadata.name, path = `jobs/${name}`;
  try {
    if (what === 'Delete') await call('DELETE', path);
    else await call('POST', `${path}/${what.toLowerCase()}`);
    tell(what === 'Delete' ? `${name} is being deleted.` : `${name}: ${what.toLowerCase()} is asked for.`);
    return true;
  } catch (error) {
    tell(`${what} ${name}: ${error.message}`);
    return false;
  }
}

// The buttons of a job. after: what to do when it has been deleted.
export function actions(job, after) {
  const name = job.metadata.name, suspended = at(job, 'spec.runPolicy.suspend') === true;
  const button = (what, act, kind) => h('button', { type: 'button', class: `small ${kind || ''}`, 'data-key': `${what} ${name}`, 'aria-label': `${what} ${name}`, onclick: act }, what);
  const list = [];
  if (mine(job) && !hasEnded(job)) list.push(button(suspended ? 'Resume' : 'Suspend', () => change(suspended ? 'Resume' : 'Suspend', job)));
  if (may('submit')) list.push(h('a', { class: 'button small', href: `#/new?from=${name}`, 'data-key': `Clone ${name}`, 'aria-label': `Clone ${name}` }, 'Clone'));
  if (mine(job) && state(job) !== 'Deleting') list.push(button('Delete', async () => {
    const text = hasEnded(job) ? 'The job, its pods and their logs will be gone.' : 'The job is not over: its pods end at once, and their logs will be gone.';
    if (await ask(`Delete ${name}?`, text, 'Delete', true) && await change('Delete', job) && after) after();
  }, 'danger'));
  return list;
}

export const badge = (what) => h('span', { class: `badge ${what.toLowerCase()}` }, what);

const ROW = 44; // pixels, as in style.css

export function jobsPage(main) {
  const jobs = new Map(), kept = new Kept();
  let shown = [], version = 0, drawn = '', loaded = false;
  const search = h('input', { type: 'search', id: 'search', placeholder: 'Name, user or image', oninput: () => select() });
  const filter = h('select', { id: 'filter', onchange: () => select() }, h('option', { value: '' }, 'All states'),
    ...['Pending', 'Created', 'Running', 'Restarting', 'Suspended', 'Succeeded', 'Failed', 'Deleting'].map((one) => h('option', { value: one }, one)));
  const count = h('p', { class: 'quiet', role: 'status' }, 'Loading…');
  const body = h('tbody', {});
  const table = h('table', { class: 'jobs', 'aria-label': 'Jobs' }, h('thead', {}, h('tr', {},
    h('th', { scope: 'col' }, 'Name'), h('th', { scope: 'col' }, 'State'), h('th', { scope: 'col' }, 'Age'),
    h('th', { scope: 'col', class: 'wide number' }, 'Ranks'), h('th', { scope: 'col', class: 'wide' }, 'User'),
    h('th', { scope: 'col', class: 'wide' }, h('span', { class: 'unseen' }, 'Actions')))), body);
  const scroller = h('div', { class: 'scroller', tabindex: '0', role: 'region', 'aria-label': 'Table of jobs' }, table);
  const window = new Window(scroller, ROW, draw);

  function row(job) {
    const name = job.metadata.name, owned = owner(job);
    return h('tr', {}, h('td', { class: 'name' }, h('a', { href: `#/jobs/${name}`, 'data-key': name, title: name }, name)), h('td', {}, badge(state(job))),
      h('td', { title: job.metadata.creationTimestamp }, age(job.metadata.creationTimestamp)), h('td', { class: 'wide number' }, String(counts(job).ranks)),
      h('td', { class: 'wide name' }, owned || h('span', { class: 'quiet', title: 'made without the console' }, '–')), h('td', { class: 'wide buttons' }, actions(job)));
  }

  function draw(first, end) {
    const key = `${version} ${first} ${end}`;
    if (key === drawn) return;
    drawn = key;
    const space = (rows) => { const cell = h('td', { colspan: '6' }), line = h('tr', { class: 'space', 'aria-hidden': 'true' }, cell); cell.style.height = `${rows * ROW}px`; return rows > 0 ? line : null; };
    const part = shown.slice(first, end), shows = (job) => `${job.metadata.uid} ${job.metadata.resourceVersion} ${age(job.metadata.creationTimestamp)}`;
    sync(body, [space(first), ...part.map((job) => kept.get(job.metadata.name, shows(job), () => row(job))), space(shown.length - end)].filter(Boolean));
    kept.drop(new Set(part.map((job) => job.metadata.name)));
  }

  function select() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    shown = [...jobs.values()].filter((job) => (!filter.value || state(job) === filter.value) &&
      words.every((word) => `${job.metadata.name} ${owner(job)} ${at(job, 'spec.mpiReplicaSpecs.Launcher.template.spec.containers.0.image') || ''}`.toLowerCase().includes(word)));
    shown.sort((a, b) => b.metadata.creationTimestamp.localeCompare(a.metadata.creationTimestamp) || a.metadata.name.localeCompare(b.metadata.name));
    version++;
    window.count = shown.length;
    table.setAttribute('aria-rowcount', String(shown.length + 1));
    if (loaded) fill(count, jobs.size === 0 ? 'There are no jobs yet.' : shown.length === jobs.size ? `${jobs.size} job${jobs.size === 1 ? '' : 's'}` : `${shown.length} of ${jobs.size} jobs`);
    window.update();
  }

  let due = 0;
  const soon = () => { if (!due) due = setTimeout(() => { due = 0; select(); }, 100); };
  const feed = follow(async () => {
    const list = await call('GET', 'jobs');
    jobs.clear();
    for (const job of list.items) jobs.set(job.metadata.name, { apiVersion: list.apiVersion, kind: 'MPIJob', ...job });
    loaded = true;
    select();
    return `feed?from=${list.metadata.resourceVersion}`;
  }, {
    job: ({ type, object }) => {
      if (type === 'ERROR') throw new Failure(410, object);
      if (type === 'DELETED') jobs.delete(object.metadata.name);
      else if (type !== 'BOOKMARK') jobs.set(object.metadata.name, object);
      soon();
    },
  });
  const ages = setInterval(() => { version++; window.update(); }, 10000);
  fill(main, h('div', { class: 'row head' }, h('h1', { tabindex: '-1' }, 'Jobs'), may('submit') ? h('a', { class: 'button primary', href: '#/new' }, 'New job') : null),
    h('div', { class: 'row tools' }, h('label', { class: 'grow' }, h('span', {}, 'Search'), search), h('label', {}, h('span', {}, 'State'), filter)), count, scroller);
  return () => { feed.stop(); window.stop(); clearInterval(ages); clearTimeout(due); };
}
