// SPDX-License-Identifier: BSD-3-Clause
// An MPIJob as the form sees it: where each field lies in the object. What the form does not know stays as it is.

export const DESCRIPTION = 'kubernetes.io/description';
export const OWNER = 'console.mpijob/user';
const LAUNCHER = 'spec.mpiReplicaSpecs.Launcher', WORKER = 'spec.mpiReplicaSpecs.Worker';
const BOX = 'template.spec.containers.0';

const split = (path) => (Array.isArray(path) ? path : path.split('.'));

export function at(object, path) {
  let value = object;
  for (const name of split(path)) value = value === null || value === undefined ? undefined : value[name];
  return value;
}

// Empty values go, with what is empty above them.
export function put(object, path, value) {
  const [name, ...rest] = split(path);
  if (rest.length) {
    if (object[name] === null || typeof object[name] !== 'object') {
      if (value === undefined) return;
      object[name] = rest[0] === '0' ? [] : {};
    }
    put(object[name], rest, value);
    if (value === undefined && !Array.isArray(object[name]) && Object.keys(object[name]).length === 0) delete object[name];
  } else if (value === undefined) delete object[name];
  else object[name] = value;
}

// ---- words of a command line ----

export function words(line) {
  const out = [];
  let word = null, quote = '';
  for (let i = 0; i < line.length; i++) {
    const c = line[i];
    if (quote) {
      if (c === quote) quote = '';
      else if (c === '\\' && quote === '"' && '"\\$`'.includes(line[i + 1])) word += line[++i];
      else word += c;
    } else if (c === '"' || c === "'") {
      quote = c;
      word = word || '';
    } else if (/\s/.test(c)) {
      if (word !== null) out.push(word);
      word = null;
    } else if (c === '\\' && i + 1 < line.length) {
      i++;
      if (line[i] !== '\n') word = (word || '') + line[i];
    } else word = (word || '') + c;
  }
  if (quote) throw new Error(`the quote ${quote} is not closed`);
  if (word !== null) out.push(word);
  return out;
}

export const line = (list) => list.map((word) => (/^[A-Za-z0-9_./:@%+=,^-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`)).join(' ');

const isStarter = (word) => /(^|\/)(mpirun|mpiexec)$/.test(word || '');

// The launcher's command: {starter, setup, start}, or null if it is of another shape.
export function command(job) {
  const box = at(job, `${LAUNCHER}.${BOX}`) || {}, all = [...(box.command || []), ...(box.args || [])].map(String);
  if (all.length === 0) return { starter: 'mpirun', setup: '', start: '' };
  if (isStarter(all[0])) return { starter: all[0], setup: '', start: line(all.slice(1)) };
  if (all.length !== 3 || !/^(\/bin\/)?(ba)?sh$/.test(all[0]) || all[1] !== '-c') return null;
  const lines = all[2].replace(/\s+$/, '').split('\n'), last = /^exec (\S+) ?(.*)$/.exec(lines.pop());
  if (!last || !isStarter(last[1]) || lines.shift() !== 'set -e') return null;
  return { starter: last[1], setup: lines.join('\n'), start: last[2] };
}

export function setCommand(job, { starter, setup, start }) {
  const base = `${LAUNCHER}.${BOX}`;
  const script = setup.trim();
  put(job, `${base}.command`, script ? ['sh', '-c'] : [starter]);
  put(job, `${base}.args`, script ? [`set -e\n${setup.replace(/\s+$/, '')}\nexec ${starter} ${start.replace(/\n/g, ' ')}\n`] : words(start));
  if (!script && at(job, `${base}.args`).length === 0) put(job, `${base}.args`, undefined);
}

// ---- fields ----

const boxes = (job) => ['Launcher', 'Worker'].filter((role) => at(job, `spec.mpiReplicaSpecs.${role}`));
const integer = (text) => (text === '' ? undefined : /^-?\d+$/.test(text) ? Number(text) : text);
const texts = (text) => (text === '' ? undefined : text);
const quantity = (text) => (/^\d{1,9}$/.test(text) ? Number(text) : texts(text));

function simple(path, read = texts) {
  return {
    get: (job) => { const value = at(job, path); return value === undefined || value === null ? '' : String(value); },
    set: (job, text) => put(job, path, read(text)),
    paths: [Array.isArray(path) ? path.join('.') : path.replace(/\.0/g, '[0]')],
  };
}

const limit = (role, what) => simple([...role.split('.'), ...BOX.split('.'), 'resources', 'limits', what], quantity);
const limitPaths = (role, what) => ['limits', 'requests'].map((kind) => `${role}.template.spec.containers[0].resources.${kind}.${what}`);
const limited = (role, what) => ({ ...limit(role, what), paths: limitPaths(role, what) });

const environment = {
  get: (job) => (at(job, `${LAUNCHER}.${BOX}.env`) || []).filter((one) => one && 'value' in one).map((one) => `${one.name}=${one.value}`).join('\n'),
  set: (job, text) => {
    const own = text.split('\n').filter((one) => one.trim()).map((one) => ({ name: one.split('=')[0].trim(), value: one.split('=').slice(1).join('=') }));
    for (const role of boxes(job)) {
      const path = `spec.mpiReplicaSpecs.${role}.${BOX}.env`, others = (at(job, path) || []).filter((one) => one && !('value' in one));
      put(job, path, own.length + others.length ? [...own, ...others] : undefined);
    }
  },
  paths: [`${LAUNCHER}.template.spec.containers[0].env`, `${WORKER}.template.spec.containers[0].env`],
};

const image = {
  get: (job) => at(job, `${LAUNCHER}.${BOX}.image`) || '',
  set: (job, text) => boxes(job).forEach((role) => put(job, `spec.mpiReplicaSpecs.${role}.${BOX}.image`, texts(text))),
  paths: [`${LAUNCHER}.template.spec.containers[0].image`, `${WORKER}.template.spec.containers[0].image`],
};

// In v1 the policy lies one level higher.
const policy = (job) => (job.apiVersion === 'kubeflow.org/v1' && at(job, 'spec.cleanPodPolicy') !== undefined ? 'spec.cleanPodPolicy' : 'spec.runPolicy.cleanPodPolicy');

export const fields = {
  name: simple('metadata.name'),
  description: simple(['metadata', 'annotations', DESCRIPTION]),
  implementation: simple('spec.mpiImplementation'),
  image,
  environment,
  launchers: simple(`${LAUNCHER}.replicas`, integer),
  launcherCpu: limited(LAUNCHER, 'cpu'),
  launcherMemory: limited(LAUNCHER, 'memory'),
  launcherGpu: limited(LAUNCHER, 'nvidia.com/gpu'),
  workers: simple(`${WORKER}.replicas`, integer),
  slots: simple('spec.slotsPerWorker', integer),
  workerCpu: limited(WORKER, 'cpu'),
  workerMemory: limited(WORKER, 'memory'),
  workerGpu: limited(WORKER, 'nvidia.com/gpu'),
  clean: {
    get: (job) => at(job, policy(job)) || '',
    set: (job, text) => put(job, policy(job), texts(text)),
    paths: ['spec.runPolicy.cleanPodPolicy', 'spec.cleanPodPolicy'],
  },
  restart: simple(`${LAUNCHER}.restartPolicy`),
  deadline: simple('spec.runPolicy.activeDeadlineSeconds', integer),
  retries: simple('spec.runPolicy.backoffLimit', integer),
  ttl: simple('spec.runPolicy.ttlSecondsAfterFinished', integer),
};

export const COMMAND_PATHS = ['command', 'args'].map((name) => `${LAUNCHER}.template.spec.containers[0].${name}`);

export function counts(job) {
  const number = (path, otherwise) => { const value = at(job, path); return Number.isInteger(value) ? value : otherwise; };
  const launchers = number(`${LAUNCHER}.replicas`, 1), workers = at(job, WORKER) ? number(`${WORKER}.replicas`, 1) : 0;
  const slots = number('spec.slotsPerWorker', 1) || 1, extra = at(job, 'spec.runLauncherAsWorker') === true ? slots : 0;
  return { launchers, workers, slots, total: launchers + workers, ranks: workers * slots + extra };
}

// What no table of fields can say: numbers that contradict each other. {field: text}
export function contradictions(job) {
  const found = {}, { workers, slots, total, ranks } = counts(job), parsed = command(job);
  let list = [];
  try { list = parsed ? words(parsed.start) : []; } catch (error) { found.start = error.message; }
  const where = list.findIndex((word) => /^--?(np|n|c|ntasks)$/.test(word)), asked = where < 0 ? null : Number(list[where + 1]);
  const spreads = list.some((word) => /oversubscribe|^:/.test(word)) || list.includes(':');
  if (asked !== null && !(asked > 0)) found.start = `${list[where]} needs a number of ranks`;
  else if (asked !== null && asked > ranks && !spreads)
    found.start = `${list[where]} ${asked} asks for ${asked} ranks, but ${workers} worker${workers === 1 ? '' : 's'} of ${slots} slot${slots === 1 ? '' : 's'} ${workers === 1 ? 'has' : 'have'} room for ${ranks}`;
  else if (parsed && !found.start && list.length === 0) found.start = 'a program is needed';
  const least = at(job, 'spec.runPolicy.schedulingPolicy.minAvailable');
  if (Number.isInteger(least) && least > total) found.workers = `minAvailable is ${least}, but there are ${total} replicas in all`;
  if (!at(job, 'metadata.name')) found.name = 'a name is needed';
  if (!fields.image.get(job)) found.image = 'an image is needed';
  return found;
}

export function fresh() {
  const box = (name, cpu, memory) => ({ spec: { containers: [{ name, image: '', resources: { limits: { cpu, memory } } }] } });
  const job = {
    apiVersion: 'kubeflow.org/v2beta1', kind: 'MPIJob', metadata: { name: '' },
    spec: {
      slotsPerWorker: 1, mpiImplementation: 'OpenMPI', runPolicy: { cleanPodPolicy: 'Running', backoffLimit: 3 },
      mpiReplicaSpecs: {
        Launcher: { replicas: 1, restartPolicy: 'OnFailure', template: box('launcher', 1, '512Mi') },
        Worker: { replicas: 2, template: box('worker', 1, '1Gi') },
      },
    },
  };
  at(job, `${LAUNCHER}.${BOX}`).command = ['mpirun'];
  return job;
}

// The same job for another time: without what the API has written.
export function clone(old) {
  const job = { apiVersion: old.apiVersion, kind: old.kind, metadata: { name: `${old.metadata.name.replace(/-\d+$/, '')}-${Number((/-(\d+)$/.exec(old.metadata.name) || [0, 1])[1]) + 1}` }, spec: structuredClone(old.spec) };
  const notes = { ...(old.metadata.annotations || {}) };
  for (const name of [OWNER, 'kubectl.kubernetes.io/last-applied-configuration']) delete notes[name];
  if (old.metadata.labels && Object.keys(old.metadata.labels).length) job.metadata.labels = { ...old.metadata.labels };
  if (Object.keys(notes).length) job.metadata.annotations = notes;
  put(job, 'spec.runPolicy.suspend', undefined);
  return job;
}

const STATES = ['Failed', 'Succeeded', 'Suspended', 'Restarting', 'Running', 'Created'];

export function state(job) {
  if (at(job, 'metadata.deletionTimestamp')) return 'Deleting';
  const held = (at(job, 'status.conditions') || []).filter((one) => one.status === 'True').map((one) => one.type);
  return STATES.find((one) => held.includes(one)) || 'Pending';
}

export const hasEnded = (job) => ['Failed', 'Succeeded', 'Deleting'].includes(state(job));
export const owner = (job) => at(job, ['metadata', 'annotations', OWNER]) || '';
