/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a command for which the kernel refuses some system calls, as the filters of containers do:
 *   denied NAME[,NAME...] COMMAND...   with the names of the table below. 77: filters cannot be set here. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned number;
    unsigned argument; /* only with this first argument, unless 0 */
} calls[] = {
    {"memfd_create", SYS_memfd_create, 0},
    {"setpgid", SYS_setpgid, 0},
    {"membarrier", SYS_membarrier, 0},
    {"process_vm_readv", SYS_process_vm_readv, 0},
    {"kcmp", SYS_kcmp, 0},
    {"process_vm_writev", SYS_process_vm_writev, 0},
    {"pidfd_open", 434, 0},
    {"io_uring_setup", 425, 0},
    {"sched_setaffinity", SYS_sched_setaffinity, 0},
    {"subreaper", SYS_prctl, PR_SET_CHILD_SUBREAPER},
    {"madvise", SYS_madvise, 0},
    {"fallocate", SYS_fallocate, 0},
    {"close_range", 436, 0},
    {"getrandom", SYS_getrandom, 0},
};
enum { CALLS = sizeof calls / sizeof calls[0], PER_CALL = 5, MOST = PER_CALL * CALLS + 4 };

static const struct sock_filter refuse = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
static const struct sock_filter load_number = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));

static int add(struct sock_filter *filter, int count, const char *name)
{
    for (int i = 0; i < CALLS; i++)
        if (strcmp(name, calls[i].name) == 0) {
            filter[count++] =
                (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, 0, calls[i].argument ? 4 : 1);
            if (calls[i].argument) {
                filter[count++] =
                    (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args));
                filter[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].argument, 0, 1);
            }
            filter[count++] = refuse;
            if (calls[i].argument)
                filter[count++] = load_number;
            return count;
        }
    fprintf(stderr, "denied: unknown system call %s\n", name);
    _exit(2);
}

int main(int argc, char **argv)
{
    struct sock_filter filter[MOST];
    struct sock_fprog program = {.filter = filter};
    int count = 0;

    if (argc < 3)
        return 2;
    filter[count++] = load_number;
    for (char *name = strtok(argv[1], ","); name; name = strtok(NULL, ","))
        count = add(filter, count, name);
    filter[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program.len = (unsigned short)count;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        perror("denied: no filters here");
        return 77;
    }
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 126;
}
