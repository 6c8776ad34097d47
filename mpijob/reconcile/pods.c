/* SPDX-License-Identifier: BSD-3-Clause */
/* Pods of a job: the template with what the operator adds: names, labels, environment, mounts. */
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "mpijob/reconcile/inside.h"

static void merge_texts(struct mur_value *to, const struct mur_value *from)
{
    for (int i = 0; i < mur_value_count(from); i++)
        if (!mur_value_get(to, from->members[i].name))
            mur_value_put(to, from->members[i].name, mur_value_copy(from->members[i].value));
}

static struct mur_value *list_in(struct mur_value *map, const char *name)
{
    struct mur_value *list = mur_value_get(map, name);

    if (!list || list->kind != MUR_LIST)
        mur_value_put(map, name, list = mur_value_new(MUR_LIST));
    return list;
}

/* What comes later in the list counts, so the user's own value gives way. */
static void add_env(struct mur_value *container, const char *name, const char *value)
{
    struct mur_value *entry = mur_value_new(MUR_MAP);

    mur_value_put(entry, "name", mur_value_text("%s", name));
    mur_value_put(entry, "value", mur_value_text("%s", value));
    mur_value_add(list_in(container, "env"), entry);
}

static void add_item(struct mur_value *items, const char *key, const char *path, long long mode)
{
    struct mur_value *item = mur_value_new(MUR_MAP);

    mur_value_put(item, "key", mur_value_text("%s", key));
    mur_value_put(item, "path", mur_value_text("%s", path));
    mur_value_put(item, "mode", mur_value_integer(mode));
    mur_value_add(items, item);
}

static void add_mount(struct mur_value *container, const char *volume, const char *path)
{
    struct mur_value *mount = mur_value_new(MUR_MAP);

    mur_value_put(mount, "name", mur_value_text("%s", volume));
    mur_value_put(mount, "mountPath", mur_value_text("%s", path));
    mur_value_add(list_in(container, "volumeMounts"), mount);
}

static void add_config(const struct mur_facts *facts, struct mur_value *pod, struct mur_value *container,
                       bool is_launcher)
{
    struct mur_value *volume = mur_value_new(MUR_MAP), *items = mur_value_new(MUR_LIST);

    if (facts->is_v1)
        add_item(items, "kubexec.sh", "kubexec.sh", 0555);
    if (is_launcher) {
        add_item(items, "hostfile", "hostfile", 0444);
        add_item(items, "discover_hosts.sh", "discover_hosts.sh", 0555);
    }
    mur_value_put(volume, "name", mur_value_text("mpi-job-config"));
    mur_value_set(volume, "configMap.name", mur_value_text("%s-config", facts->name));
    mur_value_set(volume, "configMap.items", items);
    mur_value_add(list_in(mur_value_get(pod, "spec"), "volumes"), volume);
    add_mount(container, "mpi-job-config", "/etc/mpi");
}

static void add_keys(const struct mur_facts *facts, struct mur_value *pod, struct mur_value *container)
{
    struct mur_value *volume = mur_value_new(MUR_MAP), *items = mur_value_new(MUR_LIST);
    const char *path = mur_value_string(facts->job, "spec.sshAuthMountPath", "/root/.ssh");

    add_item(items, "ssh-privatekey", "id_rsa", 0600);
    add_item(items, "ssh-publickey", "id_rsa.pub", 0644);
    add_item(items, "ssh-publickey", "authorized_keys", 0644);
    mur_value_put(volume, "name", mur_value_text("ssh-auth"));
    mur_value_set(volume, "secret.secretName", mur_value_text("%s-ssh", facts->name));
    mur_value_set(volume, "secret.items", items);
    mur_value_add(list_in(mur_value_get(pod, "spec"), "volumes"), volume);
    add_mount(container, "ssh-auth", path);
}

/* From the template of a role. The pod's restart policy is the role's. */
static struct mur_value *make_pod(const struct mur_facts *facts, const char *name, const char *role, const char *label,
                                  long long index)
{
    char *path = mur_alloc_text("spec.mpiReplicaSpecs.%s", role);
    const struct mur_value *replica = mur_value_at(facts->job, path);
    struct mur_value *pod = mur_make_object(facts, "Pod", name), *labels = mur_value_at(pod, "metadata.labels");
    struct mur_value *annotations = mur_value_new(MUR_MAP),
                     *spec = mur_value_copy(mur_value_at(replica, "template.spec"));
    const char *policy =
        mur_value_string(replica, "restartPolicy", strcmp(role, "Worker") == 0 || facts->is_v1 ? "Never" : "OnFailure");

    mur_value_put(labels, MUR_LABEL_ROLE, mur_value_text("%s", label));
    mur_value_put(labels, MUR_LABEL_INDEX, mur_value_text("%lld", index));
    merge_texts(labels, mur_value_at(replica, "template.metadata.labels"));
    merge_texts(annotations, mur_value_at(replica, "template.metadata.annotations"));
    mur_value_set(pod, "metadata.annotations", annotations);
    mur_value_put(spec, "restartPolicy", mur_value_text("%s", strcmp(policy, "ExitCode") == 0 ? "Never" : policy));
    mur_value_put(spec, "subdomain", mur_value_text("%s", facts->name));
    mur_value_put(pod, "spec", spec);
    mur_value_set(pod, "status.phase", mur_value_text("Pending"));
    free(path);
    return pod;
}

static struct mur_value *container_of(struct mur_value *pod)
{
    return mur_value_at(pod, "spec.containers")->members[0].value;
}

static void set_command(struct mur_value *container, const char *const *words)
{
    if (mur_value_count(mur_value_get(container, "command")) || mur_value_count(mur_value_get(container, "args")))
        return;
    for (; *words; words++)
        mur_value_add(list_in(container, "command"), mur_value_text("%s", *words));
}

struct mur_value *mur_make_worker(const struct mur_facts *facts, long long index)
{
    static const char *const daemon[] = {"/usr/sbin/sshd", "-De", NULL}, *const rest[] = {"sleep", "365d", NULL};
    char *name = mur_alloc_text("%s-worker-%lld", facts->name, index);
    struct mur_value *pod = make_pod(facts, name, "Worker", "worker", index + facts->launcher_works);
    struct mur_value *container = container_of(pod);

    mur_value_set(pod, "spec.hostname", mur_value_text("%s", name));
    set_command(container, facts->is_v1 ? rest : daemon);
    add_env(container, "K_MPI_JOB_ROLE", "worker");
    if (facts->is_v1)
        add_config(facts, pod, container, false);
    else
        add_keys(facts, pod, container);
    free(name);
    return pod;
}

/* The settings of the operator, by dialect. */
static void add_launcher_env(const struct mur_facts *facts, struct mur_value *container)
{
    const char *implementation = mur_value_string(facts->job, "spec.mpiImplementation", "OpenMPI");
    const char *arguments = "-o ConnectionAttempts=10";
    char slots[32];

    snprintf(slots, sizeof slots, "%lld", facts->slots);
    add_env(container, "K_MPI_JOB_ROLE", "launcher");
    if (facts->is_v1) {
        add_env(container, "OMPI_MCA_plm_rsh_agent", "/etc/mpi/kubexec.sh");
        add_env(container, "OMPI_MCA_orte_default_hostfile", "/etc/mpi/hostfile");
    } else if (strcmp(implementation, "OpenMPI") == 0) {
        add_env(container, "OMPI_MCA_orte_keep_fqdn_hostnames", "true");
        add_env(container, "OMPI_MCA_orte_default_hostfile", "/etc/mpi/hostfile");
        add_env(container, "OMPI_MCA_plm_rsh_args", arguments);
        add_env(container, "OMPI_MCA_orte_set_default_slots", slots);
    } else if (strcmp(implementation, "Intel") == 0) {
        add_env(container, "I_MPI_HYDRA_HOST_FILE", "/etc/mpi/hostfile");
        add_env(container, "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", arguments);
        add_env(container, "I_MPI_PERHOST", slots);
    } else {
        add_env(container, "HYDRA_HOST_FILE", "/etc/mpi/hostfile");
        add_env(container, "HYDRA_LAUNCH_EXTRA_ARGS", arguments);
    }
}

/* The command that enters pods takes the place of ssh. v1 has it in kubexec.sh. */
static void add_agent(const struct mur_facts *facts, struct mur_value *container)
{
    const char *implementation = mur_value_string(facts->job, "spec.mpiImplementation", "OpenMPI");
    const char *agent = facts->observed->agent;

    if (!agent || facts->is_v1)
        return;
    if (strcmp(implementation, "OpenMPI") == 0) {
        add_env(container, "OMPI_MCA_plm_rsh_agent", agent);
        return;
    }
    if (strcmp(implementation, "Intel") == 0) {
        add_env(container, "I_MPI_HYDRA_BOOTSTRAP", "ssh");
        add_env(container, "I_MPI_HYDRA_BOOTSTRAP_EXEC", agent);
    }
    add_env(container, "HYDRA_LAUNCHER_EXEC", agent);
}

/* The first try has the plain name, others a number; a pod that is about to go still has its name. */
static char *launcher_name(const struct mur_facts *facts)
{
    char *name = mur_alloc_text("%s-launcher", facts->name);

    for (int i = 1; mur_store_find(facts->observed->store, "Pod", name); i++) {
        free(name);
        name = mur_alloc_text("%s-launcher-%d", facts->name, i);
    }
    return name;
}

struct mur_value *mur_make_launcher(const struct mur_facts *facts)
{
    char *name = launcher_name(facts);
    struct mur_value *pod = make_pod(facts, name, "Launcher", "launcher", 0), *container = container_of(pod);

    mur_value_set(pod, "spec.hostname", mur_value_text("%s-launcher", facts->name)); /* whichever try it is */
    add_config(facts, pod, container, true);
    if (!facts->is_v1)
        add_keys(facts, pod, container);
    if (!facts->launcher_works) {
        add_env(container, "NVIDIA_VISIBLE_DEVICES", "");
        add_env(container, "NVIDIA_DRIVER_CAPABILITIES", "");
    }
    add_launcher_env(facts, container);
    add_agent(facts, container);
    free(name);
    return pod;
}
