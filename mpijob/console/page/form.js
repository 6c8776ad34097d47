// SPDX-License-Identifier: BSD-3-Clause
// A new job: a form, and the YAML beside it. Both show one object: a change of a field is written into it and the YAML
// is made anew; the YAML is read by the console, which also says what is wrong with it, and fills the fields.
import { copyable, fill, h, tell } from './dom.js';
import { COMMAND_PATHS, clone, command, contradictions, counts, fields, fresh, setCommand } from './model.js';
import { call, session } from './net.js';
import { yaml } from './yaml.js';

const PAUSE = 250; // ms without a key before the server is asked

export function formPage(main, from) {
  let job = fresh(), serial = 0, timer = 0, busy = false, tried = false;
  const inputs = {}, complaints = {}, touched = new Set();
  const text = h('textarea', { id: 'yaml', spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', 'aria-describedby': 'findings', oninput: () => later() });
  const findings = h('ul', { id: 'findings', class: 'findings', 'aria-live': 'polite' });
  const total = h('output', { id: 'total', class: 'total' }), shell = h('div', {});
  const submit = h('button', { type: 'submit', class: 'primary', id: 'submit' }, 'Create the job');
  const whole = h('p', { role: 'alert', class: 'complaint', id: 'whole' });

  // ---- the form ----

  function field(name, label, hint, input) {
    input.id = `f-${name}`;
    complaints[name] = h('span', { class: 'complaint', id: `c-${name}` });
    input.setAttribute('aria-describedby', `${hint ? `h-${name} ` : ''}c-${name}`);
    input.addEventListener('input', () => { touched.add(name); edit(name); });
    inputs[name] = input;
    return h('div', { class: 'field' }, h('label', { for: input.id }, label), input, hint ? h('span', { class: 'quiet', id: `h-${name}` }, hint) : null, complaints[name]);
  }
  const plain = (name, label, hint, more) => field(name, label, hint, h('input', { type: 'text', spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', ...more }));
  const number = (name, label, hint) => plain(name, label, hint, { inputmode: 'numeric', class: 'short' });
  const many = (name, label, hint, rows) => field(name, label, hint, h('textarea', { rows, spellcheck: 'false', autocapitalize: 'off' }));
  const choice = (name, label, hint, options) => field(name, label, hint, h('select', {}, options.map((one) => h('option', { value: one }, one || 'as the cluster has it'))));
  const group = (title, ...children) => h('fieldset', {}, h('legend', {}, title), children);

  const form = h('form', { class: 'job', novalidate: true, onsubmit: (event) => { event.preventDefault(); send(); } },
    group('Job', plain('name', 'Name', 'Small letters, digits and -'), plain('description', 'Description'), choice('implementation', 'MPI implementation', 'What the operator prepares for', ['', 'OpenMPI', 'MPICH', 'Intel'])),
    group('Program', plain('image', 'Image', 'Of the launcher and of the workers'),
      many('setup', 'Set-up commands', 'Run by sh in the launcher, before mpirun; the first that fails ends the job', 2),
      field('start', 'Start command, as after mpirun', 'For example: -np 2 train --steps 30', h('textarea', { rows: 2, spellcheck: 'false', autocapitalize: 'off' })),
      many('environment', 'Environment', 'NAME=VALUE, one a line; mpirun passes on what -x names', 2)),
    group('Size', h('div', { class: 'grid', role: 'group', 'aria-label': 'Launcher' }, h('strong', {}, 'Launcher'), number('launchers', 'Replicas'), plain('launcherCpu', 'CPU', '', { class: 'short' }), plain('launcherMemory', 'Memory', '', { class: 'short' }), plain('launcherGpu', 'GPU', '', { class: 'short' })),
      h('div', { class: 'grid', role: 'group', 'aria-label': 'Workers' }, h('strong', {}, 'Workers'), number('workers', 'Replicas'), plain('workerCpu', 'CPU', '', { class: 'short' }), plain('workerMemory', 'Memory', '', { class: 'short' }), plain('workerGpu', 'GPU', '', { class: 'short' })),
      h('p', { class: 'quiet' }, 'CPU: 2 or 500m. Memory: 512Mi or 4Gi. Of each replica.'),
      number('slots', 'Slots of each worker', 'Ranks that mpirun starts there'), h('p', {}, 'Total replicas: ', total)),
    group('When it ends', choice('clean', 'Workers that go when the job has ended', 'cleanPodPolicy', ['', 'None', 'Running', 'All']), choice('restart', 'A launcher that fails', 'restartPolicy', ['', 'OnFailure', 'Never']),
      h('div', { class: 'grid three' }, number('retries', 'Retries'), number('deadline', 'Time limit, seconds'), number('ttl', 'Kept after the end, seconds'))),
    whole, h('div', { class: 'row' }, submit, h('a', { class: 'button', href: '#/' }, 'Cancel')));

  // ---- from a field to the object, and from there to the YAML ----

  function edit(name) {
    try {
      if (name === 'setup' || name === 'start') {
        const old = command(job);
        setCommand(job, { starter: old ? old.starter : 'mpirun', setup: inputs.setup.value, start: inputs.start.value.replace(/\n/g, ' ') });
      } else fields[name].set(job, inputs[name].value);
      text.value = yaml(job);
      later(true);
    } catch (error) {
      complain({ [name]: error.message });
      serial++;
    }
  }

  // ---- from the YAML to the object, and from there to the fields ----

  const same = (a, b) => { try { return JSON.stringify(a()) === JSON.stringify(b()); } catch { return false; } };

  function show(isOwn) {
    const parsed = command(job);
    for (const [name, one] of Object.entries(fields)) if (!(isOwn && document.activeElement === inputs[name])) set(inputs[name], one.get(job));
    for (const name of ['setup', 'start']) {
      inputs[name].disabled = !parsed;
      if (!parsed) inputs[name].value = '';
      else if (!(isOwn && document.activeElement === inputs[name]) && !(name === 'start' && same(() => command(job), () => { const trial = structuredClone(job); setCommand(trial, { ...parsed, start: inputs.start.value }); return command(trial); }))) inputs[name].value = parsed[name];
    }
    const { launchers, workers, total: all, ranks } = counts(job);
    fill(total, `${all} (${launchers} launcher, ${workers} worker${workers === 1 ? '' : 's'}); room for ${ranks} rank${ranks === 1 ? '' : 's'}`);
    fill(shell, copyable(`kubectl apply -n ${session.namespace} -f - <<'END'\n${text.value}END`));
  }

  function set(input, value) {
    if (input.tagName === 'SELECT' && ![...input.options].some((one) => one.value === value)) input.append(h('option', { value }, value));
    if (input.value !== value) input.value = value;
  }

  function later(isOwn) {
    clearTimeout(timer);
    if (isOwn) { show(true); complain(shownOnly(contradictions(job))); }
    const own = ++serial;
    timer = setTimeout(() => check(own, isOwn), PAUSE);
  }

  async function check(own, isOwn) {
    let answer;
    try {
      answer = await call('POST', 'check', text.value);
    } catch (error) {
      if (own === serial) fill(whole, `The check: ${error.message}`);
      return;
    }
    if (own !== serial) return;
    fill(whole);
    const list = answer.findings, found = (answer.documents || []).filter((one) => one && one.kind === 'MPIJob');
    if (answer.documents && (found.length !== 1 || answer.documents.length !== 1)) list.push({ severity: 'error', line: 1, text: 'one MPIJob is expected, and nothing else' });
    if (found.length === 1 && !isOwn) { job = found[0]; show(false); }
    report(list);
  }

  // ---- what is wrong, at the field where it is ----

  const pathOf = (one) => (/^unknown field "([^"]+)"/.exec(one.text) || /^(\S+?): /.exec(one.text) || [0, ''])[1];

  function fieldOf(path) {
    let best = null, length = 0;
    const rows = [...Object.entries(fields).map(([name, one]) => [name, one.paths]), ['start', COMMAND_PATHS]];
    for (const [name, paths] of rows) for (const one of paths) if ((path === one || path.startsWith(`${one}.`) || path.startsWith(`${one}[`)) && one.length > length) [best, length] = [name, one.length];
    return best;
  }

  // What is empty in a form that nobody has filled in yet is no fault.
  const shownOnly = (all) => Object.fromEntries(Object.entries(all).filter(([name]) => tried || touched.has(name) || !/ is needed$/.test(all[name])));

  function complain(all) {
    for (const [name, element] of Object.entries(complaints)) {
      if (element.textContent !== (all[name] || '')) element.textContent = all[name] || '';
      if (all[name]) inputs[name].setAttribute('aria-invalid', 'true');
      else inputs[name].removeAttribute('aria-invalid');
    }
  }

  function report(list) {
    const all = contradictions(job), missing = Object.values(all).length > 0;
    let faults = 0;
    for (const one of list.filter((each) => each.severity === 'error')) {
      const name = fieldOf(pathOf(one));
      if (name && !all[name]) all[name] = one.text.replace(/^\S+?: /, '');
      faults++;
    }
    complain(shownOnly(all));
    const quiet = (one) => one.severity === 'error' && !tried && all[fieldOf(pathOf(one))] && !shownOnly(all)[fieldOf(pathOf(one))];
    fill(findings, list.filter((one) => !quiet(one)).map((one) => h('li', { class: one.severity }, h('button', { type: 'button', class: 'link', onclick: () => go(one.line) }, one.line ? `line ${one.line}` : 'here'), `: ${one.severity === 'refused' ? 'mpijob serve would refuse it: ' : ''}${one.text}`)));
    report.faults = faults > 0 || missing;
  }

  function go(number) {
    const lines = text.value.split('\n'), start = lines.slice(0, number - 1).join('\n').length + (number > 1 ? 1 : 0);
    text.focus();
    text.setSelectionRange(start, start + (lines[number - 1] || '').length);
    text.scrollTop = Math.max(0, (number - 4) * (text.scrollHeight / lines.length));
  }

  async function send() {
    if (busy) return;
    clearTimeout(timer);
    tried = true;
    report.faults = true; // until the check has come
    await check(++serial, false);
    if (report.faults) {
      const first = Object.keys(complaints).find((name) => complaints[name].textContent);
      fill(whole, 'The job cannot be created as it is: see what is marked.');
      if (first) inputs[first].focus();
      else if (findings.querySelector('button')) findings.querySelector('button').focus();
      return;
    }
    busy = submit.disabled = true;
    try {
      const made = await call('POST', 'jobs', job);
      tell(`${made.metadata.name} is created.`);
      location.hash = `#/jobs/${made.metadata.name}`;
    } catch (error) {
      const causes = (error.body && error.body.details && error.body.details.causes) || [];
      const all = {};
      for (const one of causes) if (fieldOf(one.field || '')) all[fieldOf(one.field)] = one.message;
      complain(all);
      fill(whole, error.message);
    }
    busy = submit.disabled = false;
  }

  fill(main, h('div', { class: 'row head' }, h('h1', { tabindex: '-1' }, from ? `New job, as ${from}` : 'New job')),
    h('div', { class: 'columns form' }, form, h('section', { class: 'card beside', 'aria-labelledby': 'yaml-title' }, h('h2', { id: 'yaml-title' }, h('label', { for: 'yaml' }, 'YAML')), text, findings,
      h('details', {}, h('summary', {}, 'From a shell'), shell))));
  const begin = () => { text.value = yaml(job); show(false); later(true); };
  if (from) call('GET', `jobs/${from}`).then((old) => { job = clone(old); begin(); }, (error) => fill(whole, `${from}: ${error.message}`));
  else begin();
  return () => { clearTimeout(timer); serial++; };
}
