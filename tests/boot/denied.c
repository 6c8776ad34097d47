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
} calls[] = {
    {"memfd_create", SYS_memfd_create},
    {"setpgid", SYS_setpgid},
    {"membarrier", SYS_membarrier},
    {"process_vm_readv", SYS_process_vm_readv},
    {"kcmp", SYS_kcmp},
    {"process_vm_writev", SYS_process_vm_writev},
    {"pidfd_open", 434},
    {"io_uring_setup", 425},
    {"sched_setaffinity", SYS_sched_setaffinity},
    {"prctl", SYS_prctl},
    {"madvise", SYS_madvise},
    {"fallocate", SYS_fallocate},
    {"close_range", 436},
    {"getrandom", SYS_getrandom},
};
enum { CALLS = sizeof calls / sizeof calls[0], MOST = 4 + CALLS };

static int add(struct sock_filter *filter, int count, const char *name)
{
    for (int i = 0; i < CALLS; i++)
        if (strcmp(name, calls[i].name) == 0) {
            filter[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, 0, 1);
            filter[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
            return count;
        }
    fprintf(stderr, "denied: unknown system call %s\n", name);
    _exit(2);
}

int main(int argc, char **argv)
{
    struct sock_filter filter[2 * MOST];
    struct sock_fprog program = {.filter = filter};
    int count = 0;

    if (argc < 3)
        return 2;
    filter[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
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
