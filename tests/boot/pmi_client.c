/* SPDX-License-Identifier: BSD-3-Clause */
/* The PMI client against prepared answers: those of several launchers, then answers that stop at every byte, mutated
 * ones, endless ones. Each call ends with success or an error that has a text; none crashes or hangs. The seed is
 * printed; MUR_TEST_SEED repeats one. */
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "boot/pmi/pmi.h"
#include "mpi.h"
#include "unit.h"

/* Makes a launcher that has said `answers` already, and hung up. Returns its end. */
static int prepare(const char *answers, size_t length)
{
    int ends[2], room = 1 << 20;
    char text[16];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        perror("socketpair"), exit(1);
    setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    if (write(ends[1], answers, length) != (ssize_t)length)
        perror("write"), exit(1);
    shutdown(ends[1], SHUT_WR);
    snprintf(text, sizeof text, "%d", ends[0]);
    setenv("PMI_FD", text, 1);
    setenv("PMI_RANK", "1", 1);
    setenv("PMI_SIZE", "2", 1);
    return ends[1];
}

/* What the client has sent. */
static const char *sent(int end)
{
    static char text[1 << 16];
    ssize_t length = recv(end, text, sizeof text - 1, MSG_DONTWAIT);

    text[length > 0 ? length : 0] = '\0';
    return text;
}

/* A call may fail, but then with a text. */
static bool ok(int rc)
{
    CHECK(!rc || (mur_error_text(rc) && *mur_error_text(rc)));
    return rc == MPI_SUCCESS;
}

/* Everything that a client can ask; true when all went well. */
static bool ask_all(struct mur_pmi *pmi, enum mur_pmi_kind kind)
{
    static char *arguments[] = {"-x", NULL};
    static const struct mur_pmi_pair info = {"wdir", "/tmp"}, preput = {"parent", "a b"};
    const struct mur_pmi_command commands[] = {{"prog", arguments, 2, &info, 1}, {"other", NULL, 1, NULL, 0}};
    char *value = NULL, *port = NULL;
    bool is_good = ok(mur_pmi_open_as(pmi, kind));

    if (!is_good)
        return false;
    is_good = ok(mur_pmi_put(pmi, "card", "a text")) && ok(mur_pmi_commit(pmi)) && ok(mur_pmi_fence(pmi)) &&
              ok(mur_pmi_get(pmi, 0, "card", &value)) && ok(mur_pmi_publish(pmi, "name", "port 1")) &&
              ok(mur_pmi_lookup(pmi, "name", &port)) && ok(mur_pmi_unpublish(pmi, "name")) &&
              ok(mur_pmi_spawn(pmi, commands, 2, &preput, 1));
    if (is_good)
        is_good = value && strcmp(value, "ab cd") == 0 && port && strcmp(port, "port 1") == 0;
    free(value);
    free(port);
    return ok(mur_pmi_finalize(pmi)) && is_good;
}

/* The same conversation as a new Hydra, an old one, and Slurm word it. */
static const char *const servers_1[] = {
    "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=2\n"
    "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024\n"
    "cmd=my_kvsname rc=0 kvsname=kvs_1\ncmd=appnum rc=0 appnum=0\ncmd=universe_size rc=0 size=-1\n"
    "cmd=get_result rc=0 value=(vector,(0,1,2))\ncmd=put_result rc=0\ncmd=barrier_out rc=0 tag=0\n"
    "cmd=get_result rc=0 value=ab%20cd\ncmd=publish_result rc=0\ncmd=lookup_result rc=0 port=port%201\n"
    "cmd=unpublish_result rc=0\ncmd=spawn_result rc=0 errcodes=0,0,0\ncmd=finalize_ack rc=0\n",
    "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
    "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n"
    "cmd=my_kvsname kvsname=kvs_1\ncmd=appnum appnum=0\ncmd=universe_size size=8\n"
    "cmd=get_result rc=-1 msg=key_PMI_process_mapping_not_found value=unknown\ncmd=put_result rc=0 msg=success\n"
    "cmd=barrier_out\ncmd=get_result rc=0 msg=success value=ab%20cd\ncmd=publish_result info=ok rc=0 msg=success\n"
    "cmd=lookup_result info=ok rc=0 port=port%201\ncmd=unpublish_result info=ok rc=0 msg=success\n"
    "cmd=spawn_result rc=0\ncmd=finalize_ack\n",
    "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n"
    "cmd=maxes rc=0 kvsname_max=256 keylen_max=256 vallen_max=1024\n"
    "cmd=my_kvsname rc=0 kvsname=1.0\ncmd=appnum rc=0 appnum=-1\ncmd=universe_size rc=0 size=2\n"
    "cmd=get_result rc=0 value=(vector,(0,2,1),(0,2,1))\ncmd=put_result rc=0\ncmd=barrier_out rc=0\n"
    "cmd=get_result rc=0 value=ab%20cd\ncmd=publish_result info=ok\ncmd=lookup_result info=ok port=port%201\n"
    "cmd=unpublish_result info=ok\ncmd=spawn_result rc=0 errcodes=0,0,0\ncmd=finalize_ack rc=0\n",
};

static const char server_2_start[] = "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n";
static const char *const server_2[] = {
    "cmd=fullinit-response;rc=0;pmi-version=2;pmi-subversion=0;rank=1;size=2;appnum=0;debugged=FALSE;pmiverbose=FALSE;",
    "cmd=job-getid-response;rc=0;jobid=1.0;",
    "cmd=info-getjobattr-response;rc=0;found=TRUE;value=(vector,(0,1,2));",
    "cmd=info-getjobattr-response;rc=0;found=FALSE;",
    "cmd=kvs-put-response;rc=0;",
    "cmd=kvs-fence-response;rc=0;",
    "cmd=kvs-get-response;rc=0;found=TRUE;value=ab%20cd;",
    "cmd=name-publish-response;rc=0;",
    "cmd=name-lookup-response;rc=0;value=port%201;",
    "cmd=name-unpublish-response;rc=0;",
    "cmd=spawn-response;rc=0;jobid=1.1;nerrs=0;",
    "cmd=finalize-response;rc=0;",
};
static char talk_2[2048];

static void compose(void)
{
    strcpy(talk_2, server_2_start);
    for (size_t i = 0; i < sizeof server_2 / sizeof server_2[0]; i++)
        sprintf(talk_2 + strlen(talk_2), i % 2 ? "%-6zu%s" : "%6zu%s", strlen(server_2[i]), server_2[i]);
}

static bool talk(const char *answers, size_t length, enum mur_pmi_kind kind)
{
    struct mur_pmi pmi;
    int end = prepare(answers, length);
    bool is_good = ask_all(&pmi, kind);

    if (pmi.kind != MUR_PMI_NONE)
        mur_pmi_finalize(&pmi);
    close(end);
    return is_good;
}

static void test_servers(void)
{
    struct mur_pmi pmi;
    int end;

    for (size_t i = 0; i < sizeof servers_1 / sizeof servers_1[0]; i++)
        CHECK(talk(servers_1[i], strlen(servers_1[i]), MUR_PMI_1));
    CHECK(talk(talk_2, strlen(talk_2), MUR_PMI_2));

    end = prepare(servers_1[1], strlen(servers_1[1]));
    CHECK(ok(mur_pmi_open(&pmi)) && pmi.kind == MUR_PMI_1 && pmi.rank == 1 && pmi.size == 2 && pmi.appnum == 0);
    CHECK(pmi.universe_size == 8 && strcmp(pmi.kvs_name, "kvs_1") == 0 && !pmi.mapping && !pmi.is_spawned);
    mur_pmi_finalize(&pmi); /* gets an answer to another question, and frees all the same */
    CHECK(pmi.kind == MUR_PMI_NONE && pmi.size == 1);
    close(end);
}

/* A launcher that knows version 2 only. */
static void test_only_2(void)
{
    static const char refusal[] = "cmd=response_to_init rc=-1 pmi_version=2 pmi_subversion=0\n";
    char answers[sizeof refusal + sizeof talk_2];
    struct mur_pmi pmi;
    int end;

    snprintf(answers, sizeof answers, "%s%s", refusal, talk_2);
    end = prepare(answers, strlen(answers));
    CHECK(ask_all(&pmi, MUR_PMI_NONE));
    CHECK(strncmp(sent(end), "cmd=init pmi_version=1 pmi_subversion=1\ncmd=init pmi_version=2 pmi_subversion=0\n",
                  80) == 0);
    close(end);
}

/* What goes over the wire, word by word. */
static void test_sent(void)
{
    static const char wanted[] =
        "cmd=init pmi_version=1 pmi_subversion=1\ncmd=get_maxes\ncmd=get_my_kvsname\ncmd=get_appnum\n"
        "cmd=get_universe_size\ncmd=get kvsname=kvs_1 key=PMI_process_mapping\n"
        "cmd=put kvsname=kvs_1 key=card.1 value=a%20text\ncmd=barrier_in\ncmd=get kvsname=kvs_1 key=card.0\n"
        "cmd=publish_name service=name port=port%201\ncmd=lookup_name service=name\ncmd=unpublish_name service=name\n"
        "mcmd=spawn\nnprocs=2\nexecname=prog\ntotspawns=2\nspawnssofar=1\nargcnt=1\narg1=-x\npreput_num=1\n"
        "preput_key_0=parent\npreput_val_0=a%20b\ninfo_num=1\ninfo_key_0=wdir\ninfo_val_0=/tmp\nendcmd\n"
        "mcmd=spawn\nnprocs=1\nexecname=other\ntotspawns=2\nspawnssofar=2\nargcnt=0\npreput_num=0\ninfo_num=0\nendcmd\n"
        "cmd=finalize\n";
    struct mur_pmi pmi;
    int end = prepare(servers_1[0], strlen(servers_1[0]));

    CHECK(ask_all(&pmi, MUR_PMI_1));
    CHECK(strcmp(sent(end), wanted) == 0);
    close(end);
}

/* The launcher dies after any byte it said. */
static void test_cuts(const char *answers, enum mur_pmi_kind kind)
{
    for (size_t length = 0; length < strlen(answers); length++)
        CHECK(!talk(answers, length, kind));
}

static void test_refusals(void)
{
    static const struct {
        const char *from, *to; /* a change of the first server's answers */
        const char *text;      /* of the error that comes of it */
        int error_class;
    } cases[] = {
        {"rc=0 pmi_version=1", "rc=-1 pmi_version=1", "speaks PMI 1.2", MPI_ERR_OTHER},
        {"kvsname=kvs_1", "kvsname=", "names its key-value space ''", MPI_ERR_OTHER},
        {"vallen_max=1024", "vallen_max=5", "values of 5 bytes", MPI_ERR_OTHER},
        {"cmd=put_result rc=0", "cmd=put_result rc=1 msg=no_room", "no_room", MPI_ERR_OTHER},
        {"cmd=put_result rc=0", "cmd=get_result rc=0", "'put_result' was expected", MPI_ERR_OTHER},
        {"cmd=barrier_out rc=0", "cmd=barrier_out rc=-1 msg=lost", "barrier failed: lost", MPI_ERR_OTHER},
        {"cmd=publish_result rc=0", "cmd=publish_result info=fail", "refused to publish", MPI_ERR_SERVICE},
        {"cmd=lookup_result rc=0 port=port%201", "cmd=lookup_result rc=1", "under the name 'name'", MPI_ERR_NAME},
        {"cmd=unpublish_result rc=0", "cmd=unpublish_result rc=1", "cannot take back", MPI_ERR_SERVICE},
        {"errcodes=0,0,0", "errcodes=0,5,0", "process 1: code 5", MPI_ERR_SPAWN},
        {"spawn_result rc=0", "spawn_result rc=-1 msg=no_slots", "no_slots", MPI_ERR_SPAWN},
        {"cmd=appnum", "appnum", "'appnum' was expected", MPI_ERR_OTHER},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char answers[4096];
        const char *place = strstr(servers_1[0], cases[i].from);
        struct mur_pmi pmi;
        int end, rc;
        char *port;

        snprintf(answers, sizeof answers, "%.*s%s%s", (int)(place - servers_1[0]), servers_1[0], cases[i].to,
                 place + strlen(cases[i].from));
        end = prepare(answers, strlen(answers));
        rc = mur_pmi_open(&pmi);
        if (!rc)
            rc = mur_pmi_put(&pmi, "card", "x");
        if (!rc)
            rc = mur_pmi_fence(&pmi);
        if (!rc)
            rc = mur_pmi_get(&pmi, 0, "card", &port), free(port);
        if (!rc)
            rc = mur_pmi_publish(&pmi, "name", "p");
        if (!rc)
            rc = mur_pmi_lookup(&pmi, "name", &port), free(port);
        if (!rc)
            rc = mur_pmi_unpublish(&pmi, "name");
        if (!rc)
            rc = mur_pmi_spawn(&pmi, &(struct mur_pmi_command){"p", NULL, 1, NULL, 0}, 1, NULL, 0);
        if (!rc || mur_error_class(rc) != cases[i].error_class || !strstr(mur_error_text(rc), cases[i].text)) {
            fprintf(stderr, "case %zu: class %d, '%s', expected '%s'\n", i, mur_error_class(rc),
                    rc ? mur_error_text(rc) : "", cases[i].text);
            failures++;
        }
        mur_pmi_finalize(&pmi);
        close(end);
    }
}

/* Arguments that are refused before anything is sent. */
static void test_misuse(void)
{
    static char *newline[] = {"a\nb", NULL}, *empty[] = {"", NULL};
    struct mur_pmi pmi;
    char *value = NULL;
    int end;

    unsetenv("PMI_FD");
    unsetenv("PMI_RANK");
    unsetenv("PMI_SIZE");
    CHECK(ok(mur_pmi_open(&pmi)) && pmi.kind == MUR_PMI_NONE && pmi.rank == 0 && pmi.size == 1);
    CHECK(!ok(mur_pmi_put(&pmi, "a", "b")) && !ok(mur_pmi_fence(&pmi)) && !ok(mur_pmi_get(&pmi, 0, "a", &value)));
    CHECK(!value && ok(mur_pmi_finalize(&pmi)));
    mur_pmi_abort(&pmi, 1, "nobody hears");

    end = prepare(servers_1[0], strlen(servers_1[0]));
    CHECK(ok(mur_pmi_open(&pmi)));
    sent(end);
    CHECK(!ok(mur_pmi_put(&pmi, "", "x")) && !ok(mur_pmi_put(&pmi, "a b", "x")) && !ok(mur_pmi_put(&pmi, "a;b", "x")));
    CHECK(!ok(mur_pmi_put(&pmi, "a-key-that-is-longer-than-forty-characters", "x")));
    CHECK(mur_error_class(mur_pmi_get(&pmi, 2, "a", &value)) == MPI_ERR_RANK);
    CHECK(mur_error_class(mur_pmi_get(&pmi, -2, "a", &value)) == MPI_ERR_RANK);
    CHECK(mur_error_class(mur_pmi_publish(&pmi, "", "x")) == MPI_ERR_SERVICE);
    CHECK(!ok(mur_pmi_spawn(&pmi, &(struct mur_pmi_command){"", NULL, 1, NULL, 0}, 1, NULL, 0)));
    CHECK(!ok(mur_pmi_spawn(&pmi, &(struct mur_pmi_command){"p", NULL, 0, NULL, 0}, 1, NULL, 0)));
    CHECK(!ok(mur_pmi_spawn(&pmi, &(struct mur_pmi_command){"p", newline, 1, NULL, 0}, 1, NULL, 0)));
    CHECK(!ok(mur_pmi_spawn(&pmi, &(struct mur_pmi_command){"p", empty, 1, NULL, 0}, 1, NULL, 0)));
    CHECK(strcmp(sent(end), "") == 0);
    mur_pmi_abort(&pmi, 9, "text");
    CHECK(strcmp(sent(end), "cmd=abort exitcode=9 message=abort\n") == 0);
    mur_pmi_finalize(&pmi);
    close(end);
}

static void *pour(void *end)
{
    static char x[4096];

    memset(x, 'x', sizeof x);
    for (int i = 0; i < 10000 && send(*(int *)end, x, sizeof x, MSG_NOSIGNAL) > 0; i++)
        ;
    return NULL;
}

/* An answer that does not end: 40 MB of it, of which the client takes but a few. */
static void test_endless(void)
{
    struct mur_pmi pmi;
    pthread_t thread;
    char text[16];
    int ends[2], rc;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        perror("socketpair"), exit(1);
    snprintf(text, sizeof text, "%d", ends[0]);
    setenv("PMI_FD", text, 1);
    pthread_create(&thread, NULL, pour, &ends[1]);
    rc = mur_pmi_open(&pmi);
    CHECK(rc && strstr(mur_error_text(rc), "longer than"));
    pthread_join(thread, NULL);
    close(ends[1]);
}

static void test_fuzz(int rounds)
{
    static char answers[4096];

    for (int round = 0; round < rounds; round++) {
        unsigned which = below(4);
        const char *original = which < 3 ? servers_1[which] : talk_2;
        size_t length = strlen(original);

        memcpy(answers, original, length);
        for (unsigned changes = 1 + below(5); changes > 0; changes--) {
            size_t at = below((unsigned)length), count = 1 + below(10);

            if (count > length - at)
                count = length - at;
            if (below(3) == 0) {
                memmove(answers + at, answers + at + count, length - at - count);
                length -= count;
            } else if (below(2)) {
                answers[at] = (" =;\n0-9%+")[below(9)];
            } else {
                answers[at] = (char)below(256);
            }
        }
        talk(answers, length, which < 3 ? (below(4) ? MUR_PMI_1 : MUR_PMI_NONE) : MUR_PMI_2);
    }
}

int main(int argc, char **argv)
{
    unit_start();
    compose();
    test_servers();
    test_only_2();
    test_sent();
    for (size_t i = 0; i < sizeof servers_1 / sizeof servers_1[0]; i++)
        test_cuts(servers_1[i], MUR_PMI_1);
    test_cuts(talk_2, MUR_PMI_2);
    test_refusals();
    test_misuse();
    test_endless();
    test_fuzz(argc > 1 ? atoi(argv[1]) : 10000);
    return unit_end();
}
