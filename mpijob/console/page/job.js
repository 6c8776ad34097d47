// SPDX-License-Identifier: BSD-3-Clause
// One job: what has happened to it, its pods, its events, its logs.
import { Kept, age, clock, copyable, fill, h, sync } from './dom.js';
import { actions, badge } from './jobs.js';
import { LogView } from './log.js';
import { DESCRIPTION, at, command, counts, line, owner, state } from './model.js';
import { Failure, call, follow, session } from './net.js';
import { yaml } from './yaml.js';

const LABELS = 'training.kubeflow.org/', FEW = 60;

const role = (pod) => at(pod, ['metadata', 'labels', `${LABELS}job-role`]) || (/-worker-\d+$/.test(pod.metadata.name) ? 'worker' : 'launcher');
const index = (pod) => Number((/-(\d+)$/.exec(pod.metadata.name) || [0, 0])[1]);
const order = (a, b) => role(a).localeCompare(role(b)) || index(a) - index(b) || a.metadata.name.localeCompare(b.metadata.name);

function why(pod) {
  const one = (at(pod, 'status.containerStatuses') || [])[0], held = one && one.state ? one.state.waiting || one.state.terminated : null;
  const code = held && held.exitCode !== undefined ? `exit code ${held.exitCode}` : '';
  return [at(pod, 'status.reason'), held && held.reason, code, (held && held.message) || at(pod, 'status.message')].filter(Boolean).join(', ');
}

function resources(pod) {
  const limits = at(pod, 'spec.containers.0.resources.limits') || {};
  return Object.entries(limits).map(([name, value]) => `${value} ${name}`).join(', ');
}

export function jobPage(main, name) {
  let job = null, view = null, offered = '', expanded = false, chosen = null;
  const pods = new Map(), events = new Map(), kept = new Kept();
  const log = new LogView();
  const head = h('div', { class: 'row head' }), notes = h('p', { class: 'quiet' }), alert = h('div', { role: 'alert' });
  const facts = h('dl', { class: 'facts' }), line_ = h('ol', { class: 'timeline' }), tiles = h('ul', { class: 'tiles' });
  const happened = h('tbody', {}), source = h('pre', { tabindex: '0' }), shell = h('div', {});
  const title = h('h1', { tabindex: '-1' }, name), mark = h('span', {}), buttons = h('div', { class: 'row buttons' });
  fill(head, h('div', { class: 'row' }, title, mark), buttons);

  function tile(pod) {
    const phase = at(pod, 'metadata.deletionTimestamp') ? 'Ending' : at(pod, 'status.phase') || 'Pending', own = pod.metadata.name;
    const restarts = at(pod, 'status.containerStatuses.0.restartCount') || 0;
    return h('li', { class: 'tile' }, h('button', { type: 'button', 'aria-pressed': String(own === chosen), 'data-pod': own, 'data-key': own, onclick: () => choose(own, true) },
      h('strong', {}, own.startsWith(`${name}-`) ? own.slice(name.length + 1) : own), badge(phase),
      h('span', { class: 'quiet' }, [resources(pod), at(pod, 'status.podIP'), restarts ? `${restarts} restart${restarts === 1 ? '' : 's'}` : '', age(pod.metadata.creationTimestamp)].filter(Boolean).join(' · ')),
      why(pod) ? h('span', { class: phase === 'Succeeded' ? 'quiet' : 'why' }, why(pod)) : null));
  }

  function choose(pod, moves) {
    chosen = pod;
    log.open(name, pod);
    draw();
    if (moves) log.element.scrollIntoView({ block: 'start', behavior: 'smooth' });
  }

  function drawPods() {
    const list = [...pods.values()].sort(order), shows = (pod) => [pod.metadata.resourceVersion, pod.metadata.name === chosen, age(pod.metadata.creationTimestamp)].join(' ');
    const shown = expanded ? list : list.slice(0, FEW);
    sync(tiles, [...shown.map((pod) => kept.get(pod.metadata.uid, shows(pod), () => tile(pod))), list.length > shown.length ? h('li', {}, h('button', { type: 'button', onclick: () => { expanded = true; draw(); } }, `Show all ${list.length} pods`)) : null,
      list.length === 0 ? h('li', { class: 'quiet' }, 'There are no pods now.') : null].filter(Boolean));
    kept.drop(new Set(shown.map((pod) => pod.metadata.uid)));
    if (!chosen && list.length) choose(list[0].metadata.name, false);
  }

  function drawJob() {
    const conditions = at(job, 'status.conditions') || [], { total, ranks, workers, slots } = counts(job), box = at(job, 'spec.mpiReplicaSpecs.Launcher.template.spec.containers.0') || {}, parsed = command(job);
    const failed = conditions.find((one) => one.type === 'Failed' && one.status === 'True');
    fill(mark, badge(state(job)));
    const doing = `${state(job)} ${at(job, 'spec.runPolicy.suspend') === true}`;
    if (doing !== offered) sync(buttons, actions(job, () => { location.hash = '#/'; }));
    offered = doing;
    fill(notes, at(job, ['metadata', 'annotations', DESCRIPTION]) || '');
    if (failed && !alert.firstChild) fill(alert, h('p', { class: 'failed' }, h('strong', {}, `Failed: ${failed.reason}. `), failed.message));
    if (!failed) fill(alert);
    const fact = (what, text) => (text ? [h('dt', {}, what), h('dd', {}, text)] : []);
    fill(facts, fact('User', owner(job)), fact('Replicas', `${total} in all: 1 launcher, ${workers} worker${workers === 1 ? '' : 's'}`), fact('Ranks', `${ranks} (${slots} a worker)`),
      fact('Image', box.image), fact('Set-up', parsed && parsed.setup), fact('Command', (parsed ? `${parsed.starter} ${parsed.start}` : line([...(box.command || []), ...(box.args || [])].map(String))).slice(0, 2000)), fact('Created', clock(job.metadata.creationTimestamp)), fact('Ended', job.status && job.status.completionTime && clock(job.status.completionTime)));
    const steps = [...conditions].sort((a, b) => String(a.lastTransitionTime).localeCompare(String(b.lastTransitionTime)));
    fill(line_, steps.map((one) => h('li', { class: one.status === 'True' ? one.type.toLowerCase() : 'past' }, h('strong', {}, one.status === 'True' ? one.type : `${one.type}: no longer`), ' ', h('time', { datetime: one.lastTransitionTime, class: 'quiet' }, clock(one.lastTransitionTime)),
      h('span', { class: 'message' }, one.message || one.reason || ''))), steps.length ? null : h('li', { class: 'quiet' }, 'Nothing has happened yet.'));
    const shown = structuredClone(job);
    delete shown.metadata.managedFields;
    source.textContent = yaml(shown);
  }

  function drawEvents() {
    const list = [...events.values()].sort((a, b) => String(b.lastTimestamp || b.eventTime).localeCompare(String(a.lastTimestamp || a.eventTime))).slice(0, 200);
    fill(happened, list.map((one) => h('tr', {}, h('td', { class: 'time' }, clock(one.lastTimestamp || one.eventTime || one.metadata.creationTimestamp)), h('td', {}, h('span', { class: one.type === 'Warning' ? 'why' : '' }, one.reason || '')), h('td', {}, one.message || '', one.count > 1 ? ` (${one.count} times)` : ''))),
      list.length ? null : h('tr', {}, h('td', { colspan: '3', class: 'quiet' }, 'There are no events.')));
  }

  let due = 0;
  function draw() {
    if (due) return;
    due = setTimeout(() => { due = 0; if (!job) return; drawJob(); drawPods(); drawEvents(); }, 50);
  }

  function build() {
    const space = `-n ${session.namespace}`;
    fill(shell, copyable(`mpijob get ${space} ${name}\nmpijob describe ${space} ${name}\nmpijob logs ${space} -f ${name}-launcher\nmpijob suspend ${space} ${name}; mpijob resume ${space} ${name}\nmpijob delete ${space} ${name}`),
      h('p', { class: 'quiet' }, 'The same with kubectl:'), copyable(`kubectl get ${space} mpijob/${name} -o yaml\nkubectl get ${space} pods -l ${LABELS}job-name=${name}\nkubectl logs ${space} -f ${name}-launcher\nkubectl delete ${space} mpijob/${name}`));
    fill(main, head, notes, alert, facts,
      h('section', { class: 'card', 'aria-labelledby': 'pods' }, h('h2', { id: 'pods' }, 'Launcher and workers'), tiles), log.element,
      h('div', { class: 'columns' }, h('section', { class: 'card', 'aria-labelledby': 'past' }, h('h2', { id: 'past' }, 'What has happened'), line_),
        h('section', { class: 'card', 'aria-labelledby': 'events' }, h('h2', { id: 'events' }, 'Events'), h('div', { class: 'rolls', tabindex: '0', role: 'region', 'aria-labelledby': 'events' }, h('table', { class: 'events' }, happened)))),
      h('section', { class: 'card', 'aria-labelledby': 'shell' }, h('h2', { id: 'shell' }, 'From a shell'), shell),
      h('details', { class: 'card' }, h('summary', {}, 'YAML'), source));
    title.focus({ preventScroll: true });
  }

  const gone = (text) => { view = null; fill(main, h('h1', { tabindex: '-1' }, name), h('p', {}, text), h('p', {}, h('a', { href: '#/' }, 'All jobs'))); log.close(); };
  const take = (map) => ({ type, object }) => {
    if (type === 'ERROR') throw new Failure(410, object);
    if (type === 'BOOKMARK') return;
    if (type === 'DELETED') map.delete(object.metadata.uid);
    else map.set(object.metadata.uid, object);
    draw();
  };
  const feed = follow(async () => {
    job = { apiVersion: 'kubeflow.org/v2beta1', kind: 'MPIJob', ...await call('GET', `jobs/${name}`) };
    pods.clear();
    events.clear();
    if (!view) { view = true; build(); }
    draw();
    return `jobs/${name}/feed`;
  }, {
    job: ({ type, object }) => {
      if (type === 'ERROR') throw new Failure(410, object);
      if (type === 'DELETED') { feed.stop(); gone('The job has been deleted.'); return; }
      if (type !== 'BOOKMARK') { job = object; draw(); }
    },
    pod: take(pods), event: take(events),
    failure: (error) => { if (error.code === 404) { gone('There is no such job.'); return false; } return true; },
  });
  const ages = setInterval(draw, 10000);
  fill(main, h('h1', { tabindex: '-1' }, name), h('p', { class: 'quiet' }, 'Loading…'));
  return () => { feed.stop(); log.stop(); clearInterval(ages); clearTimeout(due); };
}
