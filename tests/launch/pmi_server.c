/* SPDX-License-Identifier: BSD-3-Clause */
/* The PMI server by itself: conversations word by word, also split at every byte; ranks that break the rules; and
 * random bytes and mutated conversations, which must neither crash it nor make it grow. The seed is printed;
 * MUR_TEST_SEED repeats one. */
#include <malloc.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launch/kvs.h"
#include "launch/pmi/server.h"
#include "unit.h"

/* One rank: the server, the rank's end, and what the agent was asked. */
struct rank {
    struct mur_pmi_server *server;
    int ends[2];
    struct mur_kvs *kvs;
    bool answers_late;
    uint32_t tickets[128];
    int ticket_count;
    char log[4096]; /* spawns, aborts, finalizes */
};

static void note(struct rank *rank, const char *text)
{
    snprintf(rank->log + strlen(rank->log), sizeof rank->log - strlen(rank->log), "%s ", text);
}

static void answer(struct rank *rank, uint32_t ticket, bool is_good, const char *text)
{
    if (rank->answers_late && rank->ticket_count < 128)
        rank->tickets[rank->ticket_count++] = ticket;
    else
        mur_pmi_server_answer(rank->server, ticket, is_good, text);
}

static bool put(void *owner, const char *key, const char *value)
{
    return mur_kvs_put(((struct rank *)owner)->kvs, key, value);
}

static void get(void *owner, const char *key, uint32_t ticket)
{
    const char *value = mur_kvs_get(((struct rank *)owner)->kvs, key);

    answer(owner, ticket, value != NULL, value);
}

static void barrier(void *owner, uint32_t ticket)
{
    answer(owner, ticket, true, NULL);
}

static void group_barrier(void *owner, const char *group, int tag, uint32_t ticket)
{
    char text[64];

    snprintf(text, sizeof text, "group %.30s tag %d", group, tag);
    note(owner, text);
    answer(owner, ticket, true, NULL);
}

static void node_get(void *owner, const char *key, bool waits, uint32_t ticket)
{
    if (waits)
        note(owner, "waits");
    get(owner, key, ticket);
}

static void publish(void *owner, const char *service, const char *port, uint32_t ticket)
{
    answer(owner, ticket, put(owner, service, port), NULL);
}

static void unpublish(void *owner, const char *service, uint32_t ticket)
{
    answer(owner, ticket, mur_kvs_remove(((struct rank *)owner)->kvs, service), "not_published");
}

static void spawn(void *owner, const struct mur_pmi_server_spawn *asked, uint32_t ticket)
{
    char text[256];

    for (int i = 0; i < asked->command_count; i++) {
        const struct mur_pmi_server_command *command = &asked->commands[i];

        snprintf(text, sizeof text, "%d x %.40s", command->ranks, command->program);
        note(owner, text);
        for (int j = 0; j < command->argument_count; j++)
            note(owner, command->arguments[j]);
        CHECK(!command->arguments[command->argument_count]);
        for (int j = 0; j < command->info_count; j++) {
            snprintf(text, sizeof text, "%.40s:%.40s", command->info[j].key, command->info[j].value);
            note(owner, text);
        }
    }
    for (int i = 0; i < asked->preput_count; i++) {
        snprintf(text, sizeof text, "preput %.40s:%.40s", asked->preputs[i].key, asked->preputs[i].value);
        note(owner, text);
    }
    answer(owner, ticket, true, "job-7");
}

static void abort_job(void *owner, int code, const char *text)
{
    char line[128];

    snprintf(line, sizeof line, "abort %d %.60s", code, text);
    note(owner, line);
}

static void finalized(void *owner)
{
    note(owner, "finalized");
}

static const struct mur_pmi_server_calls calls = {
    .put = put,
    .get = get,
    .barrier = barrier,
    .group_barrier = group_barrier,
    .node_put = put,
    .node_get = node_get,
    .publish = publish,
    .unpublish = unpublish,
    .lookup = get,
    .spawn = spawn,
    .abort = abort_job,
    .finalized = finalized,
};
static const struct mur_pmi_server_calls bare_calls = {
    .put = put, .get = get, .barrier = barrier, .abort = abort_job, .finalized = finalized};

static void begin(struct rank *rank, const struct mur_pmi_server_calls *how)
{
    static const struct mur_pmi_server_facts facts = {
        .rank = 3, .size = 8, .appnum = 1, .universe_size = 9, .kvs_name = "space", .mapping = "(vector,(0,2,4))"};

    memset(rank, 0, sizeof *rank);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, rank->ends) != 0)
        perror("socketpair"), exit(1);
    rank->kvs = mur_kvs_create(1 << 20);
    rank->server = mur_pmi_server_create(rank->ends[0], &facts, how, rank);
}

static void end(struct rank *rank)
{
    mur_pmi_server_free(rank->server);
    mur_kvs_free(rank->kvs);
    close(rank->ends[0]);
    close(rank->ends[1]);
}

static bool feed(struct rank *rank, const char *text)
{
    return mur_pmi_server_feed(rank->server, text, strlen(text));
}

/* What the rank has been told since the last call. */
static const char *heard(struct rank *rank)
{
    static char text[1 << 17];
    ssize_t length = recv(rank->ends[1], text, sizeof text - 1, MSG_DONTWAIT);

    text[length > 0 ? length : 0] = '\0';
    return text;
}

struct exchange {
    const char *said, *answer;
};

static const struct exchange talk_1[] = {
    {"cmd=init pmi_version=1 pmi_subversion=1\n", "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=2\n"},
    {"cmd=get_maxes\n", "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024\n"},
    {"cmd=get_appnum\n", "cmd=appnum rc=0 appnum=1\n"},
    {"cmd=get_universe_size\n", "cmd=universe_size rc=0 size=9\n"},
    {"cmd=get_my_kvsname\n", "cmd=my_kvsname rc=0 kvsname=space\n"},
    {"cmd=get kvsname=space key=PMI_process_mapping\n", "cmd=get_result rc=0 msg=success value=(vector,(0,2,4))\n"},
    {"cmd=put kvsname=space key=-a-[1]/2 value=x=y;z\n", "cmd=put_result rc=0 msg=success\n"},
    {"cmd=get kvsname=space key=-a-[1]/2\n", "cmd=get_result rc=0 msg=success value=x=y;z\n"},
    {"cmd=get key=-a-[1]/2 kvsname=space\n", "cmd=get_result rc=0 msg=success value=x=y;z\n"},
    {"cmd=put kvsname=space key=empty value=\n", "cmd=put_result rc=0 msg=success\n"},
    {"cmd=get kvsname=space key=empty\n", "cmd=get_result rc=0 msg=success value=\n"},
    {"cmd=get kvsname=space key=b\n", "cmd=get_result rc=1 msg=key_not_found value=unknown\n"},
    {"cmd=get kvsname=other key=b\n", "cmd=get_result rc=-1 msg=unknown_kvsname\n"},
    {"cmd=get kvsname=space\n", "cmd=get_result rc=-1 msg=missing_argument\n"},
    {"cmd=put kvsname=space key= value=a\n", "cmd=put_result rc=-1 msg=missing_argument\n"},
    {"cmd=put kvsname=space key=PMI_x value=a\n", "cmd=put_result rc=-1 msg=reserved_key\n"},
    {"cmd=barrier_in\n", "cmd=barrier_out rc=0 tag=0\n"},
    {"cmd=barrier_in group=0,3:77\n", "cmd=barrier_out rc=0 tag=77\n"},
    {"cmd=lookup_name service=s\n", "cmd=lookup_result info=fail rc=1 msg=not_published\n"},
    {"cmd=publish_name service=s port=p#1$2\n", "cmd=publish_result info=ok rc=0 msg=success\n"},
    {"cmd=lookup_name service=s\n", "cmd=lookup_result info=ok rc=0 port=p#1$2\n"},
    {"cmd=unpublish_name service=s\n", "cmd=unpublish_result info=ok rc=0 msg=success\n"},
    {"cmd=unpublish_name service=s\n", "cmd=unpublish_result info=fail rc=1 msg=not_published\n"},
    {"cmd=getbyidx kvsname=space idx=0\n", "cmd=getbyidx_results rc=-1 reason=no_more_keyvals\n"},
    {"cmd=create_kvs\n", "cmd=newkvs rc=-1 msg=not_supported\n"},
    {"cmd=dance\n", "cmd=dance_result rc=-1 msg=unknown_command\n"},
    {"mcmd=spawn\nnprocs=2\nexecname=a b\ntotspawns=2\nspawnssofar=1\nargcnt=1\narg1=x y\npreput_num=1\n"
     "preput_key_0=P\npreput_val_0=v\ninfo_num=1\ninfo_key_0=wdir\ninfo_val_0=/tmp\nendcmd\n",
     ""},
    {"mcmd=spawn\nnprocs=3\nexecname=c\ntotspawns=2\nspawnssofar=2\narg1=z\nargcnt=1\ninfo_num=0\nendcmd\n",
     "cmd=spawn_result info=ok rc=0 msg=success\n"},
    {"cmd=abort exitcode=5 message=abort\n", ""},
    {"cmd=finalize\n", "cmd=finalize_ack rc=0\n"},
};
static const char log_1[] = "group 0,3 tag 77 2 x a b x y wdir:/tmp 3 x c z preput P:v abort 5 abort finalized ";

static const struct exchange init_2 = {"cmd=init pmi_version=2 pmi_subversion=0\n",
                                       "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n"};

/* PMI-2 by its bodies; lengths are added. */
static const struct exchange bodies_2[] = {
    {"cmd=fullinit;pmijobid=1.2;pmirank=3;threaded=FALSE;",
     "cmd=fullinit-response;rc=0;pmi-version=2;pmi-subversion=0;rank=3;size=8;appnum=1;debugged=FALSE;"
     "pmiverbose=FALSE;"},
    {"cmd=fullinit;pmirank=2;", "cmd=fullinit-response;rc=1;errmsg=wrong_rank;"},
    {"cmd=job-getid;", "cmd=job-getid-response;rc=0;jobid=space;"},
    {"cmd=kvs-put;thrid=7;key=a;value=;", "cmd=kvs-put-response;thrid=7;rc=0;"},
    {"cmd=kvs-put;key=a b=[c];value=d e = f;", "cmd=kvs-put-response;rc=0;"},
    {"cmd=kvs-get;jobid=;srcid=-1;key=a b=[c];", "cmd=kvs-get-response;rc=0;found=TRUE;value=d e = f;"},
    {"cmd=kvs-get;jobid=other;srcid=-1;key=a;", "cmd=kvs-get-response;rc=0;found=FALSE;"},
    {"cmd=kvs-get;thrid=1234;key=none;", "cmd=kvs-get-response;thrid=1234;rc=0;found=FALSE;"},
    {"cmd=kvs-get;", "cmd=kvs-get-response;rc=1;errmsg=missing_argument;"},
    {"cmd=kvs-put;key=PMI_x;value=1;", "cmd=kvs-put-response;rc=1;errmsg=reserved_key;"},
    {"cmd=kvs-fence;", "cmd=kvs-fence-response;rc=0;"},
    {"cmd=info-getjobattr;key=PMI_process_mapping;",
     "cmd=info-getjobattr-response;rc=0;found=TRUE;value=(vector,(0,2,4));"},
    {"cmd=info-getjobattr;key=universeSize;", "cmd=info-getjobattr-response;rc=0;found=TRUE;value=9;"},
    {"cmd=info-getjobattr;key=weather;", "cmd=info-getjobattr-response;rc=0;found=FALSE;"},
    {"cmd=info-putnodeattr;key=n;value=1;", "cmd=info-putnodeattr-response;rc=0;"},
    {"cmd=info-getnodeattr;key=n;wait=TRUE;", "cmd=info-getnodeattr-response;rc=0;found=TRUE;value=1;"},
    {"cmd=info-getnodeattr;key=m;wait=FALSE;", "cmd=info-getnodeattr-response;rc=0;found=FALSE;"},
    {"cmd=name-publish;name=s;port=p;", "cmd=name-publish-response;rc=0;"},
    {"cmd=name-lookup;name=s;", "cmd=name-lookup-response;rc=0;port=p;"},
    {"cmd=name-unpublish;name=s;", "cmd=name-unpublish-response;rc=0;"},
    {"cmd=name-lookup;name=s;", "cmd=name-lookup-response;rc=1;errmsg=failed;"},
    {"cmd=ring;ring-count=1;", "cmd=ring-response;rc=2;errmsg=unknown_command;"},
    {"cmd=spawn;thrid=5;ncmds=2;preputcount=1;ppkey0=P;ppval0=v;subcmd=a b;maxprocs=2;argc=1;argv0=x y;"
     "infokeycount=1;infokey0=wdir;infoval0=/tmp;subcmd=c;maxprocs=3;argc=0;infokeycount=0;",
     "cmd=spawn-response;thrid=5;rc=0;jobid=job-7;nerrs=0;"},
    {"cmd=spawn;ncmds=2;preputcount=0;subcmd=a;maxprocs=2;argc=0;", "cmd=spawn-response;rc=1;errmsg=malformed_spawn;"},
    {"cmd=abort;isworld=TRUE;msg=so be it;", ""},
    {"cmd=finalize;", "cmd=finalize-response;rc=0;"},
};
static const char log_2[] = "waits 2 x a b x y wdir:/tmp 3 x c preput P:v abort 1 so be it finalized ";

/* All exchanges of both protocols, as one text each way. */
static char said_1[8192], answer_1[8192], said_2[8192], answer_2[8192];

static void with_length(char *to, const char *body)
{
    if (*body)
        sprintf(to + strlen(to), "%6zu%s", strlen(body), body);
}

static void compose(void)
{
    for (size_t i = 0; i < sizeof talk_1 / sizeof talk_1[0]; i++) {
        strcat(said_1, talk_1[i].said);
        strcat(answer_1, talk_1[i].answer);
    }
    strcat(said_2, init_2.said);
    strcat(answer_2, init_2.answer);
    for (size_t i = 0; i < sizeof bodies_2 / sizeof bodies_2[0]; i++) {
        with_length(said_2, bodies_2[i].said);
        with_length(answer_2, bodies_2[i].answer);
    }
}

static void test_talk_1(void)
{
    struct rank rank;

    begin(&rank, &calls);
    for (size_t i = 0; i < sizeof talk_1 / sizeof talk_1[0]; i++) {
        const char *answered;

        CHECK(feed(&rank, talk_1[i].said));
        answered = heard(&rank);
        if (strcmp(answered, talk_1[i].answer) != 0) {
            fprintf(stderr, "said:     %sheard:    %sexpected: %s", talk_1[i].said, answered, talk_1[i].answer);
            failures++;
        }
        CHECK(mur_pmi_server_is_active(rank.server) == (i + 1 < sizeof talk_1 / sizeof talk_1[0]));
    }
    CHECK(strcmp(rank.log, log_1) == 0);
    end(&rank);
}

/* Every way to cut the conversation in two gives the same answers. */
static void test_splits(const char *said, const char *answered, const char *log)
{
    size_t length = strlen(said);
    struct rank rank;

    for (size_t cut = 0; cut <= length; cut++) {
        begin(&rank, &calls);
        CHECK(mur_pmi_server_feed(rank.server, said, cut));
        CHECK(mur_pmi_server_feed(rank.server, said + cut, length - cut));
        CHECK(strcmp(heard(&rank), answered) == 0 && strcmp(rank.log, log) == 0);
        end(&rank);
    }
    begin(&rank, &calls);
    for (size_t i = 0; i < length; i++)
        CHECK(mur_pmi_server_feed(rank.server, said + i, 1));
    CHECK(strcmp(heard(&rank), answered) == 0 && strcmp(rank.log, log) == 0);
    end(&rank);
}

/* Lengths padded on either side, as two clients write them. */
static void test_lengths(void)
{
    static const char *const heads[] = {"    14", "14    ", "000014", "  14  "};
    struct rank rank;

    begin(&rank, &calls);
    CHECK(feed(&rank, init_2.said) && feed(&rank, "    23cmd=fullinit;pmirank=3;"));
    heard(&rank);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        CHECK(feed(&rank, heads[i]) && feed(&rank, "cmd=job-getid;"));
        CHECK(strcmp(heard(&rank), "    40cmd=job-getid-response;rc=0;jobid=space;") == 0);
    }
    end(&rank);
}

/* What ends the connection, and how the fault is named. */
static void test_faults(void)
{
    static const struct {
        const char *said, *fault;
    } cases[] = {
        {"\n", "sent '', which is no PMI command"},
        {"hello\n", "'hello'"},
        {"cmd=get_maxes\n", "'get_maxes' before init"},
        {"cmd=\n", "before init"},
        {"cmd=initack pmiid=4\n", "another"},
        {"mcmd=spawn\n", "'mcmd=spawn'"},
        {"cmd=init pmi_version=1\nmcmd=dance\n", "'mcmd=dance'"},
        {"cmd=init pmi_version=1\ncmd=barrier_in group=0:x\n", "0:x"},
        {"cmd=init pmi_version=1\ncmd=barrier_in group=0:-1\n", "0:-1"},
        {"cmd=init pmi_version=1\ncmd=a b\n", "no PMI command"},
        {"cmd=init pmi_version=2\nhello there", "'hello ' in the place"},
        {"cmd=init pmi_version=2\n    -1x", "'    -1'"},
        {"cmd=init pmi_version=2\n     0x", "'     0'"},
        {"cmd=init pmi_version=2\n    14cmd=job-getid;", "before fullinit"},
        {"cmd=init pmi_version=2\n     3abc", "'abc'"},
    };
    struct rank rank;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin(&rank, &calls);
        CHECK(!feed(&rank, cases[i].said));
        if (!mur_pmi_server_fault(rank.server) || !strstr(mur_pmi_server_fault(rank.server), cases[i].fault)) {
            fprintf(stderr, "said '%s': fault '%s', expected '%s'\n", cases[i].said,
                    mur_pmi_server_fault(rank.server) ? mur_pmi_server_fault(rank.server) : "", cases[i].fault);
            failures++;
        }
        CHECK(!feed(&rank, "cmd=init pmi_version=1\n") && !mur_pmi_server_wants_output(rank.server));
        end(&rank);
    }
}

/* A version that is not known is refused, and the next try goes on. */
static void test_versions(void)
{
    struct rank rank;

    begin(&rank, &bare_calls);
    CHECK(feed(&rank, "cmd=init pmi_version=3 pmi_subversion=0\n"));
    CHECK(strcmp(heard(&rank), "cmd=response_to_init rc=-1 pmi_version=1 pmi_subversion=1\n") == 0);
    CHECK(feed(&rank, "cmd=initack pmiid=3\n"));
    CHECK(strcmp(heard(&rank), "cmd=initack rc=0\ncmd=set size=8\ncmd=set rank=3\ncmd=set debug=0\n") == 0);
    CHECK(feed(&rank, "cmd=init pmi_version=1 pmi_subversion=1\n"));
    CHECK(strcmp(heard(&rank), "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n") == 0);
    CHECK(feed(&rank, "cmd=publish_name service=s port=p\n"));
    CHECK(strcmp(heard(&rank), "cmd=publish_result info=fail rc=1 msg=not_supported\n") == 0);
    end(&rank);
}

/* A process mapping that old clients could not read is not told. */
static void test_long_mapping(void)
{
    struct mur_pmi_server_facts facts = {.size = 1, .kvs_name = "space"};
    char mapping[1200];
    struct rank rank;

    memset(mapping, '1', sizeof mapping);
    mapping[sizeof mapping - 1] = '\0';
    facts.mapping = mapping;
    begin(&rank, &calls);
    mur_pmi_server_free(rank.server);
    rank.server = mur_pmi_server_create(rank.ends[0], &facts, &calls, &rank);
    CHECK(feed(&rank, "cmd=init pmi_version=1 pmi_subversion=1\ncmd=get kvsname=space key=PMI_process_mapping\n"));
    CHECK(strstr(heard(&rank), "cmd=get_result rc=1"));
    end(&rank);
}

/* Answers that come late, out of order, twice, or for nothing. */
static void test_tickets(void)
{
    struct rank rank;

    begin(&rank, &calls);
    CHECK(feed(&rank, talk_1[0].said));
    heard(&rank);
    rank.answers_late = true;
    CHECK(feed(&rank, "cmd=barrier_in group=0,3:5\ncmd=barrier_in group=3,4:6\n") && rank.ticket_count == 2);
    rank.answers_late = false;
    mur_pmi_server_answer(rank.server, rank.tickets[1], true, NULL);
    CHECK(strcmp(heard(&rank), "cmd=barrier_out rc=0 tag=6\n") == 0);
    mur_pmi_server_answer(rank.server, rank.tickets[1], true, NULL);
    mur_pmi_server_answer(rank.server, rank.tickets[1] + 64, true, NULL);
    mur_pmi_server_answer(rank.server, 999, true, NULL);
    CHECK(strcmp(heard(&rank), "") == 0);
    mur_pmi_server_answer(rank.server, rank.tickets[0], false, "lost a rank");
    CHECK(strcmp(heard(&rank), "cmd=barrier_out rc=-1 msg=failed tag=5\n") == 0);
    /* Once round the table: an old ticket does not answer the new question in its place. */
    for (int i = 0; i < 62; i++)
        CHECK(feed(&rank, "cmd=barrier_in\n"));
    heard(&rank);
    rank.answers_late = true;
    CHECK(feed(&rank, "cmd=barrier_in group=0,3:8\n"));
    CHECK(rank.ticket_count == 3 && rank.tickets[2] == rank.tickets[0] + 64);
    mur_pmi_server_answer(rank.server, rank.tickets[0], true, NULL);
    CHECK(strcmp(heard(&rank), "") == 0);
    mur_pmi_server_answer(rank.server, rank.tickets[2], true, NULL);
    CHECK(strcmp(heard(&rank), "cmd=barrier_out rc=0 tag=8\n") == 0);
    for (int i = 0; i < 64; i++)
        CHECK(feed(&rank, "cmd=barrier_in\n"));
    CHECK(!feed(&rank, "cmd=barrier_in\n") && strstr(mur_pmi_server_fault(rank.server), "more than 64"));
    end(&rank);
}

/* Spawns that make no sense are answered so; the next command is served. */
static void test_bad_spawns(void)
{
    static const char *const spawns[] = {
        "mcmd=spawn\nendcmd\n",
        "mcmd=spawn\nnprocs=1\nexecname=a\nendcmd\n",
        "mcmd=spawn\nnprocs=0\nexecname=a\ntotspawns=1\nspawnssofar=1\nendcmd\n",
        "mcmd=spawn\nnprocs=x\nexecname=a\ntotspawns=1\nspawnssofar=1\nendcmd\n",
        "mcmd=spawn\nnprocs=1\nexecname=\ntotspawns=1\nspawnssofar=1\nendcmd\n",
        "mcmd=spawn\nnprocs=1\nexecname=a\ntotspawns=1\nspawnssofar=2\nargcnt=2\narg1=x\nendcmd\n",
        "mcmd=spawn\nnprocs=1\nexecname=a\ntotspawns=2\nspawnssofar=2\nendcmd\n",
        "mcmd=spawn\nnprocs=1\nexecname=a\ntotspawns=1\nspawnssofar=1\ninfo_num=1\nendcmd\n",
        "mcmd=spawn\nnprocs=1\nexecname=a\ntotspawns=1\nspawnssofar=1\ninfo_key_0=k\nendcmd\n",
        "mcmd=spawn\nnprocs=1\nexecname=a\ntotspawns=1\nspawnssofar=1\ninfo_val_0=v\nendcmd\n",
        "mcmd=spawn\nnprocs=1\nexecname=a\ntotspawns=1\nspawnssofar=1\npreput_key_0=k\ninfo_val_0=v\nendcmd\n",
        "mcmd=spawn\nnprocs=1\nexecname=a\ntotspawns=1\nspawnssofar=1\nrubbish\nendcmd\n",
        "mcmd=spawn\nnprocs=1\nexecname=a\ntotspawns=1\nspawnssofar=1\ncmd=put key=a value=b\nmcmd=spawn\nendcmd\n",
    };
    struct rank rank;

    begin(&rank, &calls);
    CHECK(feed(&rank, talk_1[0].said));
    heard(&rank);
    for (size_t i = 0; i < sizeof spawns / sizeof spawns[0]; i++) {
        const char *answered;

        CHECK(feed(&rank, spawns[i]));
        answered = heard(&rank);
        if (strcmp(answered, "cmd=spawn_result info=fail rc=1 msg=malformed_spawn\n") != 0) {
            fprintf(stderr, "spawn %zu was answered: %s\n", i, answered);
            failures++;
        }
    }
    CHECK(feed(&rank, "cmd=get_appnum\n") && strcmp(heard(&rank), "cmd=appnum rc=0 appnum=1\n") == 0);
    CHECK(strcmp(rank.log, "") == 0);
    end(&rank);
}

/* A value that a rank stored by the other protocol does not tear the line. */
static void test_odd_values(void)
{
    struct rank rank;

    begin(&rank, &calls);
    CHECK(feed(&rank, talk_1[0].said));
    heard(&rank);
    mur_kvs_put(rank.kvs, "k", "a b");
    CHECK(feed(&rank, "cmd=get kvsname=space key=k\n") && strstr(heard(&rank), "rc=1"));
    mur_kvs_put(rank.kvs, "k", "a\ncmd=b");
    CHECK(feed(&rank, "cmd=get kvsname=space key=k\n") && strstr(heard(&rank), "rc=1"));
    end(&rank);
}

/* A rank that asks without reading, one that never ends its line, and one that puts for ever. */
static void test_greed(void)
{
    static char big[70000];
    struct rank rank;
    char line[64];
    int turns = 0;

    begin(&rank, &calls);
    memset(big, 'x', 1000);
    CHECK(feed(&rank, talk_1[0].said));
    mur_kvs_put(rank.kvs, "k", big);
    while (turns < 100000 && feed(&rank, "cmd=get kvsname=space key=k\n"))
        turns++;
    CHECK(turns > 100 && turns < 100000 && strstr(mur_pmi_server_fault(rank.server), "does not read"));
    end(&rank);

    begin(&rank, &calls);
    memset(big, 'x', sizeof big - 1);
    CHECK(!feed(&rank, big) && strstr(mur_pmi_server_fault(rank.server), "longer than"));
    end(&rank);

    begin(&rank, &calls);
    CHECK(feed(&rank, talk_1[0].said) && feed(&rank, "mcmd=spawn\n"));
    for (turns = 0; turns < 100000 && feed(&rank, "arg1=0123456789012345678901234567890123456789\n"); turns++)
        ;
    CHECK(turns < 30000 && strstr(mur_pmi_server_fault(rank.server), "spawn longer"));
    end(&rank);

    begin(&rank, &calls);
    CHECK(feed(&rank, talk_1[0].said));
    heard(&rank);
    for (turns = 0; turns < 100000; turns++) {
        snprintf(line, sizeof line, "cmd=put kvsname=space key=k%d value=v\n", turns);
        CHECK(feed(&rank, line));
        if (strcmp(heard(&rank), "cmd=put_result rc=-1 msg=no_room\n") == 0)
            break;
    }
    CHECK(turns > 1000 && turns < 100000 && mur_kvs_bytes(rank.kvs) <= 1 << 20);
    end(&rank);
}

/* A few changes: a byte replaced, removed, doubled, a stretch copied elsewhere. */
static size_t mutate(char *text, size_t length, size_t room)
{
    for (unsigned changes = 1 + below(4); changes > 0 && length > 2; changes--) {
        size_t at = below((unsigned)length), from = below((unsigned)length), count = 1 + below(12);

        if (count > length - at)
            count = length - at;
        switch (below(4)) {
        case 0:
            text[at] = (char)below(256);
            break;
        case 1:
            memmove(text + at, text + at + count, length - at - count);
            length -= count;
            break;
        case 2:
            if (length + count < room && from + count <= length) {
                char piece[16];

                memcpy(piece, text + from, count);
                memmove(text + at + count, text + at, length - at);
                memcpy(text + at, piece, count);
                length += count;
            }
            break;
        default:
            text[at] = (" =;\n0-9%")[below(8)];
            break;
        }
    }
    return length;
}

static void feed_in_pieces(struct rank *rank, const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        size_t piece = 1 + below(below(2) ? 8 : 600);

        if (piece > length - at)
            piece = length - at;
        if (!mur_pmi_server_feed(rank->server, text + at, piece))
            return;
        at += piece;
        heard(rank);
    }
}

static void test_fuzz(int rounds)
{
    static char text[16384];
    struct rank rank;

    for (int round = 0; round < rounds; round++) {
        size_t length = below(400);

        begin(&rank, &calls);
        if (below(4) == 0) { /* noise, perhaps behind a good beginning */
            size_t start = below(3);

            strcpy(text, start == 0 ? "" : start == 1 ? talk_1[0].said : init_2.said);
            start = strlen(text);
            for (size_t i = 0; i < length; i++)
                text[start + i] = (char)(below(3) ? 32 + below(90) : below(256));
            length += start;
        } else {
            const char *original = below(2) ? said_1 : said_2;

            length = strlen(original);
            memcpy(text, original, length);
            length = mutate(text, length, sizeof text);
        }
        feed_in_pieces(&rank, text, length);
        end(&rank);
    }
}

int main(int argc, char **argv)
{
    size_t before, after;

    unit_start();
    compose();
    test_talk_1();
    test_splits(said_1, answer_1, log_1);
    test_splits(said_2, answer_2, log_2);
    test_lengths();
    test_faults();
    test_versions();
    test_long_mapping();
    test_tickets();
    test_bad_spawns();
    test_odd_values();
    test_greed();
    before = mallinfo2().uordblks;
    test_fuzz(argc > 1 ? atoi(argv[1]) : 10000);
    after = mallinfo2().uordblks;
    CHECK(after < before + (512 << 10)); /* nothing is left behind but what malloc keeps for later */
    return unit_end();
}
