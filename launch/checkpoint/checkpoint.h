/* SPDX-License-Identifier: BSD-3-Clause */
/* Snapshots of a whole job, and its restart from them, by CRIU.
 *
 * With -ckpointlib, an agent starts its ranks under a root process of their own, in new namespaces of process numbers
 * and mounts. CRIU saves and restores the root process's whole process tree at once, so all that processes of a node
 * share is again what it was: memory, pipes, process numbers. What leads out of the tree is the agent's: pipes, control
 * sockets and PMI sockets, which a restart replaces by new ones, and connections between hosts, which are closed in the
 * image and made anew by the library (transport/tcp/tcp.h: a link survives its connections).
 *
 * A consistent cut. Each node's tree is frozen and written to files, and stays frozen until the trees of all nodes are
 * written. So no message can leave one node after its part of the cut, and arrive at another before that one's; what
 * was on its way is kept by the links until it is acknowledged, and sent once more. mpiexec asks (MUR_FRAME_SNAPSHOT),
 * each agent answers when its tree is frozen and written (MUR_FRAME_FROZEN), then all go on (MUR_FRAME_THAW), and
 * compress what was written beside the job (MUR_FRAME_SAVED). The last act gives the snapshot its name.
 *
 *   PREFIX/N/manifest      what the snapshot is of, and the checksums of all that follows; it is there, or nothing is
 *   PREFIX/N/job           the job as agents are told of it (tree/spec.h)
 *   PREFIX/N/node-I.ranks  what agent I knew of its ranks (notes.h)
 *   PREFIX/N/node-I.image  CRIU's files, packed (pack.h)
 *   PREFIX/N.partial       one that is being written, or was left by a job that was killed then
 *
 *   root.c        the process at the root of a node's tree, and the one above it
 *   criu.c        CRIU's command line, and what it complains of
 *   hook.c        what CRIU runs while the tree is frozen
 *   saver.c       the process that writes one node's part of a snapshot
 *   carried.c     what cannot be carried over
 *   sockets.c     CRIU's note of each socket
 *   pack.c        files in one, with checksums
 *   notes.c       node-I.ranks
 *   restorer.c    the process that brings back one node's part
 *   manifest.c    a snapshot as a whole: finding, checking, naming, removing
 *   restart.c     the job that a snapshot is of, and its new hosts
 *   trigger.c     mpiexec's part: when, and in which order */
#ifndef MUR_LAUNCH_CHECKPOINT_H
#define MUR_LAUNCH_CHECKPOINT_H

#include "launch/jobspec.h"

/* mpiexec, run by CRIU: returns whether it is, with its exit code. */
bool mur_hook_is_meant(void);
int mur_hook_run(void);

/* Makes of a command line without a program the job that a snapshot is of, or ends with what is wrong. */
void mur_restart_prepare(struct mur_jobspec *job);

/* mpiexec -ckpoint-check: tries on this machine what a snapshot needs. Returns an exit code. */
int mur_checkpoint_try(void);

#endif
