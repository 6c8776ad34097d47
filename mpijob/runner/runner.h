/* SPDX-License-Identifier: BSD-3-Clause */
/* The runner: pods as processes of this machine.
 *
 * A pod of the store whose phase is Pending is started: volumes are laid out below the run's folder (volumes.c), its
 * environment is made (environment.c), and a first process is cloned (pod.c) into namespaces of its own, where it
 * mounts, starts the container's command and reaps (inside.c). Its network hangs on a bridge that is in a namespace,
 * too (network.c), and a control group limits it (cgroups.c). When it ends, the pod's status in the store says how, or
 * it is started again, as its restart policy says. The first process ends, with all that runs in the pod, when the
 * descriptor to the runner closes: so nothing outlives the runner, however that ends. Where namespaces are not
 * permitted, a pod is a group of processes. Callers in pods and commands of mpijob come in by a socket (visits.c).
 *
 * The pods of `mpijob serve` outlive the runner (`survives`): they write to their logs themselves, are given orders by
 * a named pipe, and are found again by what is written down about them (record.c, adopt.c). */
#ifndef MUR_MPIJOB_RUNNER_H
#define MUR_MPIJOB_RUNNER_H

#include <stdint.h>
#include <sys/types.h>

#include "mpijob/store/store.h"

/* A mount in a pod, in the order in which they are made. */
struct mur_mount {
    char *source, *target;
    bool is_read_only, is_memory;
    double size; /* of memory; 0: any */
};

struct mur_limits {
    double cpus, memory; /* 0: none */
};

struct mur_pod {
    struct mur_pod *next;
    char *name, *uid, *hostname, *folder;
    const char *image; /* NULL: the machine itself; else a directory */
    struct mur_mount *mounts;
    int mount_count;
    char **environment, **command, *directory;
    long long user, group; /* -1: as the runner */
    bool uses_host_network, is_worker;
    int address; /* the last number of its network address */

    pid_t pid;      /* of its first process; 0: none */
    int descriptor; /* of that process, readable when it has ended, if pods survive; -1: none */
    int control;    /* to it; -1: none */
    int output;     /* from it; -1: none */
    char line[4096];
    size_t line_length;
    int log;
    double kill_at, restart_at; /* 0: not */
    int restarts;
    bool is_stopping; /* its deletion was asked for */
    char *group_cpu, *group_memory;
};

/* Somebody on the socket. */
struct mur_pod_visit {
    struct mur_pod_visit *next;
    int fd, fds[3];
    bool is_guest; /* of another user, in a pod: may only enter pods */
    char *words;
    uint32_t length, got; /* of the words; length 0: the header has not come */
};

struct mur_image {
    const char *name; /* NULL: any */
    const char *place;
};

struct mur_runner {
    struct mur_store *store;
    char *folder, *door; /* of this run; what callers in pods need: socket and agent */
    char *program_folder, *agent;
    struct mur_image *images;
    int image_count;
    bool isolates, is_mapped; /* pods have namespaces; root in them is this user outside */
    bool survives;            /* pods outlive this process, and are found again by the next */
    bool is_ending;           /* pods are asked to end, for good */
    pid_t bridge;             /* holds the namespace of the bridge; 0: pods share the machine's network */
    int bridge_hold;          /* -1: it holds on without this process */
    struct mur_pod *pods;
    struct mur_pod_visit *visits;
    double restart_delay; /* of containers in their pods */
    int listener, addresses;
    char **hostnames;
    /* Asked by a visitor: suspend, resume, delete, get... Returns an exit code; output goes to `out`. */
    int (*command)(int count, char **words, FILE *out);
};

int mur_runner_start(struct mur_runner *runner, bool wants_namespaces); /* 0, or the exit code */
void mur_runner_end(struct mur_runner *runner);
/* Starts and stops pods as the store says. Returns when the next thing is due; 0: nothing is. */
double mur_runner_step(struct mur_runner *runner, double now);
void mur_runner_reap(struct mur_runner *runner, pid_t pid, int status, double now);
bool mur_runner_output(struct mur_pod *pod); /* its output can be read; false: there was none */
/* Takes back the pods that an earlier runner has left in the folder. Those that the store does not know are ended. */
void mur_runner_adopt(struct mur_runner *runner, double now);
void mur_runner_lost(struct mur_runner *runner, struct mur_pod *pod, double now);   /* its descriptor is readable */
bool mur_runner_is_idle(const struct mur_runner *runner);                           /* nothing runs */
void mur_keys_make(const char *folder, char **private_key, char **public_key);      /* empty texts if there are none */
void mur_runner_refresh(struct mur_runner *runner, const struct mur_value *config); /* a ConfigMap has changed */
struct mur_pod *mur_runner_find(const struct mur_runner *runner, const char *name, const char *hostname);

/* pod.c's parts. Those that fail say why in *why, which is the caller's to free. */
int mur_volumes_make(struct mur_runner *runner, struct mur_pod *pod, const struct mur_value *object, char **why);
void mur_volumes_refresh(struct mur_runner *runner, struct mur_pod *pod, const struct mur_value *object,
                         const struct mur_value *config);
/* What a ConfigMap or Secret has for a key, decoded, which the caller frees; NULL if it has none. */
char *mur_value_of(const struct mur_value *object, const char *key, size_t *length);
int mur_environment_make(struct mur_runner *runner, struct mur_pod *pod, const struct mur_value *object, char **why);
/* Where the first process of a pod hears and writes. `orders` is -1 if pods do not survive: then `control` stays. */
struct mur_inside_ends {
    int control, output, state, orders;
};
_Noreturn void mur_inside(const struct mur_runner *runner, const struct mur_pod *pod,
                          const struct mur_inside_ends *ends);
struct mur_pod *mur_pod_new(struct mur_runner *runner, const char *name);
void mur_pod_forget(struct mur_runner *runner, struct mur_pod *pod); /* with its folder */
void mur_pod_ended(struct mur_runner *runner, struct mur_pod *pod, int code, double now);

/* record.c */
enum mur_command_state { MUR_COMMAND_NOT_STARTED, MUR_COMMAND_STARTED, MUR_COMMAND_ENDED };
int mur_record_write(const struct mur_pod *pod);
bool mur_record_read(struct mur_pod *pod); /* pid is 0 if its process is not there any more */
enum mur_command_state mur_record_state(const struct mur_pod *pod, int *code);
int mur_record_open_state(const struct mur_pod *pod);
int mur_record_open_orders(const struct mur_pod *pod);
int mur_process_write(const char *path, pid_t pid);
pid_t mur_process_read(const char *path, int *descriptor); /* 0, and no descriptor, if it is not there any more */
void mur_folder_remove(const char *path);
int mur_network_start(struct mur_runner *runner);
void mur_network_find(struct mur_runner *runner); /* that of an earlier runner */
void mur_network_end(struct mur_runner *runner);
int mur_network_join(struct mur_runner *runner, const struct mur_pod *pod);
void mur_groups_clean(const struct mur_runner *runner); /* those that a run that was killed has left */
void mur_groups_make(const struct mur_runner *runner, struct mur_pod *pod, struct mur_limits limits);
void mur_groups_enter(const struct mur_pod *pod, pid_t pid);
bool mur_groups_ran_out(const struct mur_pod *pod); /* something in it was killed for its memory */
void mur_groups_remove(struct mur_pod *pod);
int mur_mounts_make(const struct mur_pod *pod, const char *door); /* in the pod; 0, or -1 after a word on stderr */

void mur_visits_listen(struct mur_runner *runner);
void mur_visits_accept(struct mur_runner *runner);
void mur_visit_event(struct mur_runner *runner, struct mur_pod_visit *visit);

#endif
