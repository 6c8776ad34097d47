/* SPDX-License-Identifier: BSD-3-Clause */
/* mpijob serve: the API on this machine, with a folder in which all that it keeps lies. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "launch/signals.h"
#include "mpijob/cli/cli.h"
#include "mpijob/controller/controller.h"
#include "mpijob/document/base64.h"
#include "mpijob/node/node.h"
#include "mpijob/server/certificate.h"
#include "mpijob/server/http.h"
#include "mpijob/store/store.h"

enum { SWEEP = 60 }; /* seconds between looks for events that are too old */
enum { NODE, CONTROLLER, CHILDREN };

static struct {
    const char *listen, *token_file, *certificate, *key;
    char *folder, *certificate_text, *host;
    int port;
    bool is_ending, has_no_controller;
    struct mur_node_plan node;
    char *node_token, *controller_token;
} serve = {.listen = "127.0.0.1:6443", .node = {.wants_namespaces = true, .restart_delay = 10}};

/* The processes that act on the API: each is started again when it has ended. */
struct child {
    const char *name;
    void (*run)(void);
    pid_t pid;
    double due; /* of the next start */
};
static void run_node(void), run_controller(void);
static struct child children[] = {{"node", run_node, 0, 0}, {"controller", run_controller, 0, 0}};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static char *place(const char *name)
{
    return mur_alloc_text("%s/%s", serve.folder, name);
}

static void make_folder(const char *path)
{
    struct stat status;

    if (mkdir(path, 0711) < 0 && errno != EEXIST)
        mur_quit(MUR_EXIT_TROUBLE, "cannot make the folder %s: %s", path, strerror(errno));
    if (stat(path, &status) < 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 022))
        mur_quit(MUR_EXIT_TROUBLE, "%s is not a folder that only this user can write to", path);
}

static char *default_folder(void)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char *above = state && *state ? mur_alloc_text("%s", state) : mur_alloc_text("%s/.local", home ? home : "");
    char *folder;

    if (!state || !*state) {
        mkdir(above, 0700);
        folder = mur_alloc_text("%s/state", above);
        free(above);
        above = folder;
    }
    mkdir(above, 0700);
    folder = mur_alloc_text("%s/mpijob", above);
    free(above);
    return folder;
}

static void write_private(const char *name, const char *text)
{
    char *path = place(name), *fresh = mur_alloc_text("%s.new", path);
    int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    size_t length = strlen(text);

    if (fd < 0 || write(fd, text, length) != (ssize_t)length || close(fd) < 0 || rename(fresh, path) < 0)
        mur_quit(MUR_EXIT_TROUBLE, "cannot write %s: %s", path, strerror(errno));
    free(path);
    free(fresh);
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = mur_alloc(65536, 1);
    size_t got = file ? fread(text, 1, 65535, file) : 0;

    if (file)
        fclose(file);
    if (got > 0)
        return text;
    free(text);
    return NULL;
}

static char *make_token(void)
{
    unsigned char random[24];
    char *coded, *at;

    if (gnutls_rnd(GNUTLS_RND_KEY, random, sizeof random) < 0)
        mur_quit(MUR_EXIT_TROUBLE, "there is no random number for a token");
    coded = mur_base64_encode(random, sizeof random);
    for (at = coded; *at; at++)
        *at = (char)(*at == '+' ? '-' : *at == '/' ? '_' : *at);
    return coded;
}

/* The token of the user admin: made at the first start, and the same afterwards. */
static char *admin_token(void)
{
    char *path = place("token"), *token = read_text(path);

    if (token) {
        token[strcspn(token, "\n")] = '\0';
    } else {
        char *line;

        token = make_token();
        line = mur_alloc_text("%s\n", token);
        write_private("token", line);
        mur_say("the token of user admin: %s", token);
        free(line);
    }
    free(path);
    mur_access_add(token, "admin", "system:masters");
    return token;
}

static void write_kubeconfig(const char *token)
{
    char *coded = mur_base64_encode(serve.certificate_text, strlen(serve.certificate_text));
    bool is_v6 = strchr(serve.host, ':') != NULL;
    char *text =
        mur_alloc_text("apiVersion: v1\nkind: Config\ncurrent-context: mpijob\nclusters:\n- name: mpijob\n"
                       "  cluster:\n    server: https://%s%s%s:%d\n    certificate-authority-data: %s\n"
                       "contexts:\n- name: mpijob\n  context: {cluster: mpijob, user: admin, namespace: default}\n"
                       "users:\n- name: admin\n  user:\n    token: \"%s\"\n",
                       is_v6 ? "[" : "", serve.host, is_v6 ? "]" : "", serve.port, coded, token);

    write_private("kubeconfig", text);
    free(text);
    free(coded);
}

/* The host that clients on this machine call. */
static char *find_host(void)
{
    const char *colon = strrchr(serve.listen, ':');
    char *host = mur_alloc_text("%.*s", colon ? (int)(colon - serve.listen) : 0, serve.listen);

    if (host[0] == '[' && strchr(host, ']')) {
        memmove(host, host + 1, strlen(host));
        *strchr(host, ']') = '\0';
    }
    if (*host && strcmp(host, "0.0.0.0") != 0 && strcmp(host, "::") != 0)
        return host;
    free(host);
    return mur_alloc_text("127.0.0.1");
}

static char *load_certificate(void)
{
    char *own = place("tls.crt"), *own_key = place("tls.key"), *key;

    if (!serve.certificate && access(own_key, R_OK) < 0)
        mur_certificate_make(own, own_key, serve.host);
    serve.certificate_text = read_text(serve.certificate ? serve.certificate : own);
    key = read_text(serve.key ? serve.key : own_key);
    if (!serve.certificate_text || !key)
        mur_quit(MUR_EXIT_TROUBLE, "cannot read the certificate %s or its key: %s",
                 serve.certificate ? serve.certificate : own, strerror(errno));
    free(own);
    free(own_key);
    return key;
}

static void make_space(const char *name)
{
    const struct mur_resource *spaces = mur_resource_find("", "v1", "namespaces");
    struct mur_value *space = mur_base_get(spaces, "", name);

    if (!space) {
        space = mur_value_new(MUR_MAP);
        mur_value_put(space, "apiVersion", mur_value_text("v1"));
        mur_value_put(space, "kind", mur_value_text("Namespace"));
        mur_value_set(space, "metadata.name", mur_value_text("%s", name));
        mur_value_set(space, "metadata.uid", mur_uid_node());
        mur_value_set(space, "metadata.creationTimestamp", mur_time_node((double)time(NULL)));
        mur_value_set(space, "status.phase", mur_value_text("Active"));
        mur_base_put(spaces, space, true);
    }
    mur_value_free(space);
}

/* As a name of the API: this host's, in lower case. */
static char *node_name(void)
{
    char name[256] = "";

    gethostname(name, sizeof name - 1);
    for (char *at = name; *at; at++)
        *at = (char)(isalnum((unsigned char)*at) || *at == '.' ? tolower((unsigned char)*at) : '-');
    return mur_alloc_text("%s", isalnum((unsigned char)name[0]) ? name : "localhost");
}

static void take_folder(void)
{
    char *lock = NULL, *base;
    int fd;

    if (!serve.folder)
        serve.folder = default_folder();
    make_folder(serve.folder);
    serve.folder = realpath(serve.folder, NULL);
    lock = place("lock");
    fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
        mur_quit(MUR_EXIT_TROUBLE, "the folder %s is in use by another mpijob serve, or cannot be locked",
                 serve.folder);
    base = place("objects.db");
    umask(077);
    mur_base_open(base);
    umask(022);
    free(lock);
    free(base);
    mur_server_folder = serve.folder;
    mur_node_name = node_name();
    make_space("default");
    mur_orphans_collect();
}

static void read_words(int count, char **words)
{
    for (int i = 0; i < count; i++) {
        const char *word = words[i] + (strncmp(words[i], "--", 2) == 0), *value = i + 1 < count ? words[i + 1] : NULL;

        if (strcmp(word, "-listen") == 0 && value)
            serve.listen = words[++i];
        else if (strcmp(word, "-data") == 0 && value)
            serve.folder = words[++i];
        else if (strcmp(word, "-token-file") == 0 && value)
            serve.token_file = words[++i];
        else if (strcmp(word, "-cert") == 0 && value)
            serve.certificate = words[++i];
        else if (strcmp(word, "-key") == 0 && value)
            serve.key = words[++i];
        else if (strcmp(word, "-image") == 0 && value)
            mur_cli_add_image(&serve.node.images, &serve.node.image_count, words[++i]);
        else if (strcmp(word, "-no-namespaces") == 0)
            serve.node.wants_namespaces = false;
        else if (strcmp(word, "-no-controller") == 0)
            serve.has_no_controller = true;
        else if (strcmp(word, "-restart-delay") == 0 && value)
            serve.node.restart_delay = mur_cli_seconds("--restart-delay", words[++i]);
        else
            mur_quit(MUR_EXIT_USAGE, "serve: unknown or incomplete: %s; see mpijob help", words[i]);
    }
    if (!serve.certificate != !serve.key)
        mur_quit(MUR_EXIT_USAGE, "serve: --cert and --key belong together");
}

/* ---- node and controller ---- */

/* Of two that come after each other the second waits until the first is really gone. */
static void lock_child(const char *name)
{
    char *path = mur_alloc_text("%s/%s.lock", serve.folder, name);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0 || flock(fd, LOCK_EX) < 0)
        mur_quit(MUR_EXIT_TROUBLE, "cannot lock %s: %s", path, strerror(errno));
    free(path);
}

/* Both call this server as anybody would, with tokens of their own. A certificate that was given may be for a name by
 * which they do not call. */
static struct mur_cluster cluster_for(char *token)
{
    bool is_v6 = strchr(serve.host, ':') != NULL;

    return (struct mur_cluster){
        .server = mur_alloc_text("https://%s%s%s:%d", is_v6 ? "[" : "", serve.host, is_v6 ? "]" : "", serve.port),
        .token = token,
        .authority = serve.certificate_text,
        .space = mur_alloc_text("default"),
        .trusts_anyone = serve.certificate != NULL};
}

static void run_node(void)
{
    struct mur_cluster cluster = cluster_for(serve.node_token);

    serve.node.cluster = &cluster;
    serve.node.name = mur_node_name;
    serve.node.folder = serve.folder;
    serve.node.program_folder = mur_cli_program_folder();
    exit(mur_node_run(&serve.node));
}

static void run_controller(void)
{
    struct mur_cluster cluster = cluster_for(serve.controller_token);
    struct mur_controller_plan plan = {.cluster = &cluster,
                                       .identity = "mpijob-serve",
                                       .lease_space = "default",
                                       .agent_folder = serve.folder,
                                       .retry_delay = serve.node.restart_delay};

    exit(mur_controller_run(&plan));
}

static void start_child(struct child *child)
{
    pid_t parent = getpid();
    sigset_t none;

    child->pid = fork();
    if (child->pid != 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    close_range(3, ~0u, 0); /* connections, and the database */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    mur_say_name = mur_alloc_text("mpijob %s", child->name);
    lock_child(child->name);
    child->run();
    _exit(1);
}

static void start_children(void)
{
    for (int i = 0; i < CHILDREN; i++)
        if (children[i].pid <= 0 && !serve.is_ending && now() >= children[i].due &&
            !(i == CONTROLLER && serve.has_no_controller))
            start_child(&children[i]);
}

static bool reap_child(pid_t pid)
{
    for (int i = 0; i < CHILDREN; i++)
        if (children[i].pid == pid) {
            if (!serve.is_ending)
                mur_say("the %s has ended, and is started again", children[i].name);
            children[i].pid = 0;
            children[i].due = now() + 1;
            return true;
        }
    return false;
}

/* First the controller, which would make new pods in place of those that the node ends. Returns whether both are gone.
 */
static bool end_children(void)
{
    static bool is_asked[CHILDREN];

    for (int i = CHILDREN - 1; i >= 0; i--)
        if (children[i].pid > 0) {
            if (!is_asked[i])
                kill(children[i].pid, SIGTERM);
            is_asked[i] = true;
            return false;
        }
    return true;
}

static void take_signals(int fd)
{
    struct signalfd_siginfo info;
    pid_t pid;

    while (read(fd, &info, sizeof info) == (ssize_t)sizeof info)
        serve.is_ending |= info.ssi_signo != SIGCHLD;
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
        if (!reap_child(pid))
            mur_http_reap(pid);
}

/* The API is there until those who use it have ended. */
static void loop(int signals)
{
    double sweep = now();

    while (!serve.is_ending || !end_children()) {
        struct pollfd polled[] = {{signals, POLLIN, 0}, {mur_http_descriptor(), POLLIN, 0}};
        double due = mur_http_due();

        start_children();
        poll(polled, 2, due >= 0 && due < 0.1 ? (int)(due * 1000) : 100);
        if (polled[0].revents)
            take_signals(signals);
        mur_http_step(now());
        if (now() >= sweep) {
            mur_events_expire((double)time(NULL));
            sweep = now() + SWEEP;
        }
    }
}

/* As many connections as the machine permits. */
static void raise_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max < 65536 ? limit.rlim_max : 65536;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int mur_cli_serve(int count, char **words)
{
    char *key, *token;
    int signals;

    read_words(count, words);
    raise_limit();
    take_folder();
    serve.host = find_host();
    key = load_certificate();
    if (serve.token_file)
        mur_access_read(serve.token_file);
    token = admin_token();
    serve.node_token = make_token();
    serve.controller_token = make_token();
    mur_access_add(serve.node_token, "system:node", "system:masters");
    mur_access_add(serve.controller_token, "mpijob-controller", "mpijob:controllers");
    signals = mur_signals_open((const int[]){SIGCHLD, SIGINT, SIGTERM, 0});
    serve.port = mur_http_start(serve.listen, serve.certificate_text, key);
    write_kubeconfig(token);
    mur_say("serves the API at https://%s:%d; KUBECONFIG=%s/kubeconfig", serve.host, serve.port, serve.folder);
    loop(signals);
    mur_http_stop();
    mur_base_close();
    return 0;
}
