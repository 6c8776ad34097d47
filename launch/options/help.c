/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec -help. */
#include <stdio.h>

#include "launch/options/options.h"

static const char usage[] = "Usage: mpiexec [options] program [arguments] [: [options] program [arguments]]...\n"
                            "Starts the ranks of an MPI job, or of any programs, and tends them until all have ended.\n"
                            "An option may have one or two dashes, capitals where its name is longer than two letters, "
                            "and '=' before its value.\n"
                            "\n";

static const char part_options[] =
    "For each part between ':'\n"
    "  -n N, -np N, -c N      number of ranks (default: the slots of the hosts that were listed; else 1)\n"
    "  -host LIST             run them on these hosts: a,b:4,n[01-03] (a number of slots may follow ':'); also -H,\n"
    "                         -hosts LIST or -hosts 2 a 4 b 1, -hostlist, -machinelist; parts without it use all\n"
    "  -env NAME VALUE        set an environment variable\n"
    "  -envlist NAME,...      pass on these variables of mpiexec's environment only; -envnone none, -envall all\n"
    "  -x NAME=VALUE          as -env; -x NAME,NAME passes them on whatever else is\n"
    "  -wdir DIR, -wd, -dir   start the ranks in DIR; a relative program is looked for from there\n"
    "  -path DIR[:DIR...]     look for the program there before PATH\n"
    "  -initial-errhandler H  mpi_errors_are_fatal (default), mpi_errors_abort or mpi_errors_return\n"
    "  -pset NAME             a process set of these ranks, for sessions; parts may share one, and be in several\n";

static const char host_options[] =
    "Where ranks run\n"
    "  -hostfile FILE         hosts from a file, a line each: host:4, or host slots=4 max_slots=8 user=U port=P;\n"
    "                         ranges, comments with '#'; a bare host has one slot, and one more each time it comes\n"
    "                         again; also -f, -machinefile, -machines. -host then chooses of these\n"
    "  -rmk MANAGER           ask only this one: slurm, lsf, sge, pbs, cobalt, ll, volcano; none\n"
    "  -ppn N, -perhost N     N slots a host, whatever was written; -rr: 1. -default-slots N: of bare hosts\n"
    "  -npernode N, -N N      N ranks a host and no more; -pernode: 1; -npersocket N\n"
    "  -map-by OBJECT         slot (default): fill host after host; node: a rank on each host in turn;\n"
    "                         ppr:N:node: N a host; core, hwthread, l1cache to l5cache, numa, socket: fill host\n"
    "                         after host and go over these in turn when binding; ppr:N:socket and so on: N for\n"
    "                         each that a host has, which hosts are asked for first. :PE=N (cores a rank), :HWTCPUS,\n"
    "                         :OVERSUBSCRIBE, :NOOVERSUBSCRIBE, :NOLOCAL may follow. Also -bynode, -byslot ...\n"
    "  -nolocal, -localonly   not on this machine; on this machine only, whatever lists say\n"
    "  -nooversubscribe       refuse more ranks than slots; otherwise hosts offer their slots again and again\n"
    "  -bind-to OBJECT        none (default), hwthread, core, l1cache to l5cache, numa, socket; OBJECT:N for N each;\n"
    "                         user:0,1+2,4-7 for the CPUs of each rank of a host. -cpus-per-rank N\n"
    "  -report-bindings, -display-map, -display map,bindings   say what came out\n"
    "Hosts are those of the command line; else of MUR_HOSTFILE, HYDRA_HOST_FILE, I_MPI_HYDRA_HOST_FILE,\n"
    "PRTE_MCA_prte_default_hostfile, OMPI_MCA_orte_default_hostfile or I_MPI_HYDRA_HOSTS_GROUP; else of the resource\n"
    "manager (Slurm, LoadLeveler, LSF, Grid Engine, PBS, Cobalt, Volcano); else this machine, for any number of "
    "ranks.\n"
    "How agents are started on other hosts\n"
    "  -launcher NAME         fork, ssh, rsh, smpd, slurm, lsf, sge or pbs (also HYDRA_LAUNCHER, "
    "HYDRA_BOOTSTRAP);\n"
    "                         smpd: by the daemons that stand there (smpd -help; also MPIEXEC_SMPD=1)\n"
    "  -launcher-exec CMD     this command instead (HYDRA_LAUNCHER_EXEC, OMPI_MCA_plm_rsh_agent, "
    "PRTE_MCA_plm_ssh_agent)\n"
    "  -launcher-args OPTIONS, -launcher-slurm-args OPTIONS    options for it, or for srun\n"
    "  -launcher-port PORT, -port, -p    its port;  -agent-width N  how many agents each agent starts\n"
    "  -smpdfile FILE         where the daemons' phrase stands (default ~/.smpd); -pwdfile FILE: alone (also\n"
    "                         MUR_PHRASE_FILE); -phrase PHRASE: for all to see; -noprompt: do not ask for it\n"
    "  -iface NAME            MUR_TCP_INCLUDE for the ranks; -iface-exclude NAME: MUR_TCP_EXCLUDE\n";

static const char job_options[] =
    "For the job\n"
    "  -genv NAME VALUE       set an environment variable for all parts; -genvlist, -genvnone, -genvall as above\n"
    "  -l, -prepend-rank      start each line of output with \"[rank] \"\n"
    "  -tag-output            ... with \"[1,rank]<stdout>:\";  -timestamp-output  ... with the time\n"
    "  -prepend-pattern P     ... with P, where %r is the rank, %h the host, %p its number, %t the time, %% a '%'\n"
    "  -outfile-pattern P     stdout of each rank into the file P;  -errfile-pattern P  stderr\n"
    "  -output-filename DIR   a copy of all output in DIR/1/rank.R/stdout and stderr; DIR:nocopy shows nothing\n"
    "  -output tag,rank,timestamp,merge,dir=DIR,file=NAME      the same; merge: stderr goes where stdout goes\n"
    "  -stdin RANK            the rank that reads standard input (default 0); none; all: each reads all of it\n"
    "  -torch                 RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT for PyTorch\n"
    "  -abi FAMILY            mpich or openmpi: the ranks' MPI is Murmur's library with the binary interface of that\n"
    "                         MPI, whatever the program's own paths say; native: what the program finds by itself;\n"
    "                         auto (default): Murmur's for any, found by LD_LIBRARY_PATH (also MUR_ABI)\n"
    "  -usize N               MPI_UNIVERSE_SIZE (default: the slots of all hosts, or of this machine's CPUs)\n"
    "  -configfile FILE       read what follows from a file, the parts in lines instead of between ':'\n"
    "  -timeout SECONDS       end the job after this time (also MPIEXEC_TIMEOUT; 0: no limit)\n"
    "  -continue-on-failure   a rank that is not in MPI may fail without ending the others (-disable-auto-cleanup,\n"
    "                         -enable-recovery, -mca orte_abort_on_non_zero_status 0); the exit code still shows it\n"
    "  -exitcodes             say at the end how each rank ended (-print-all-exitcodes)\n"
    "  -v, -verbose           say on stderr what is started where; and rank 0, which algorithm performs each kind of\n"
    "                         collective and why (unless MUR_COLL_VERBOSE=0)\n"
    "  -h, -help, -?          this text\n"
    "  -V, -version           the version\n"
    "  -oversubscribe, -allow-run-as-root are accepted: both are allowed anyway. -mca NAME VALUE and other habits\n"
    "  mean the nearest thing here, or nothing, and then a note says so.\n"
    "\n";

static const char behaviour[] =
    "Standard input goes to rank 0 unless -stdin says otherwise; the others read nothing. Lines of ranks never mix; a "
    "line that stays\n"
    "unfinished for 50 ms is shown as far as it is, and other ranks wait up to 200 ms for its end.\n"
    "SIGINT, SIGTERM, SIGHUP and SIGQUIT are passed to the ranks, which then have 2 s to end (more while they wait\n"
    "for a core); a second one kills them. SIGUSR1, SIGUSR2, SIGTSTP and SIGCONT are passed on. Signals\n"
    "go to each rank's process group.\n"
    "\n"
    "Exit code: 0 when all ranks exit with 0, else that of the rank that failed first:\n"
    "  its own code, or 128 + the signal that killed it (1 where it failed with code 0);\n"
    "  after MPI_Abort(comm, code): the low 8 bits of code, 1 when those are 0 but code is not.\n"
    "A rank fails when it exits with another code than 0, dies by a signal, exits between MPI_Init and MPI_Finalize,\n"
    "or exits before an MPI_Init for which other ranks wait. Then the other ranks are ended. If a rank is a script,\n"
    "the same holds for the MPI programs that it runs, one after the other; -continue-on-failure changes it.\n"
    "Other codes of mpiexec:\n"
    "  124 time limit, 126 program cannot be executed, 127 program or directory not found, 2 wrong usage,\n"
    "  1 other trouble of mpiexec, 128 + signal when a signal to mpiexec ended the job, 141 output pipe closed,\n"
    "  200 a host or the agent on it is lost.\n";

void mur_options_print_help(void)
{
    fputs(usage, stdout);
    fputs(part_options, stdout);
    fputs(host_options, stdout);
    fputs(job_options, stdout);
    fputs(behaviour, stdout);
}
