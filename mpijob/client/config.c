/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the API is, and who calls it: a kubeconfig, or what a pod finds in itself. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "mpijob/client/client.h"
#include "mpijob/document/base64.h"

#define ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"

char *mur_text_read(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t length = 0, got;

    if (!file)
        return NULL;
    do {
        text = mur_alloc_again(text, length + 4096 + 1, 1);
        got = fread(text + length, 1, 4096, file);
        length += got;
    } while (got > 0);
    text[length] = '\0';
    fclose(file);
    return text;
}

static const struct mur_value *named(const struct mur_value *config, const char *list_name, const char *name)
{
    const struct mur_value *list = mur_value_get(config, list_name);

    for (int i = 0; i < mur_value_count(list); i++)
        if (strcmp(mur_value_string(list->members[i].value, "name", ""), name) == 0)
            return list->members[i].value;
    return NULL;
}

/* "NAME-data", in base64, or the file that NAME names, which is relative to the kubeconfig. */
static char *read_pem(const struct mur_value *map, const char *name, const char *config_path)
{
    char *data_name = mur_alloc_text("%s-data", name), *text = NULL, *path;
    const char *data = mur_value_string(map, data_name, NULL), *file = mur_value_string(map, name, NULL);
    const char *slash = strrchr(config_path, '/');

    free(data_name);
    if (data) {
        text = mur_alloc(strlen(data) + 1, 1);
        text[mur_base64_decode(data, text)] = '\0';
    } else if (file) {
        path = *file == '/' || !slash ? mur_alloc_text("%s", file)
                                      : mur_alloc_text("%.*s/%s", (int)(slash - config_path), config_path, file);
        text = mur_text_read(path);
        if (!text)
            mur_quit(MUR_EXIT_USAGE, "%s: cannot read %s: %s", config_path, path, strerror(errno));
        free(path);
    }
    return text;
}

static char *copy_at(const struct mur_value *map, const char *path)
{
    const char *text = mur_value_string(map, path, NULL);

    return text ? mur_alloc_text("%s", text) : NULL;
}

static void take_config(struct mur_cluster *to, const struct mur_value *config, const char *path)
{
    const char *current = mur_value_string(config, "current-context", "");
    const struct mur_value *context = named(config, "contexts", current), *cluster, *user;

    if (!context)
        mur_quit(MUR_EXIT_USAGE, "%s: its current-context \"%s\" is none of its contexts", path, current);
    cluster = named(config, "clusters", mur_value_string(context, "context.cluster", ""));
    user = mur_value_get(named(config, "users", mur_value_string(context, "context.user", "")), "user");
    cluster = mur_value_get(cluster, "cluster");
    to->server = copy_at(cluster, "server");
    if (!to->server)
        mur_quit(MUR_EXIT_USAGE, "%s: the cluster of context \"%s\" has no server", path, current);
    for (const char *const *refused = (const char *const[]){"exec", "auth-provider", "username", NULL}; *refused;
         refused++)
        if (mur_value_get(user, *refused))
            mur_quit(MUR_EXIT_USAGE, "%s: a user with \"%s\" is not supported: use a token or a certificate", path,
                     *refused);
    to->token = copy_at(user, "token");
    to->token_file = copy_at(user, "tokenFile");
    to->authority = read_pem(cluster, "certificate-authority", path);
    to->certificate = read_pem(user, "client-certificate", path);
    to->key = read_pem(user, "client-key", path);
    to->space = copy_at(context, "context.namespace");
    to->trusts_anyone = mur_value_true(cluster, "insecure-skip-tls-verify");
}

static void read_config(struct mur_cluster *cluster, const char *path)
{
    char *text = mur_text_read(path);
    struct mur_document_error error;
    struct mur_value *documents;

    if (!text)
        mur_quit(MUR_EXIT_USAGE, "cannot read the kubeconfig %s: %s", path, strerror(errno));
    documents = mur_document_read(text, strlen(text), &error);
    if (!documents || documents->count != 1)
        mur_quit(MUR_EXIT_USAGE, "%s:%d: %s", path, documents ? 1 : error.line,
                 documents ? "one document is expected" : error.text);
    take_config(cluster, documents->members[0].value, path);
    mur_value_free(documents);
    free(text);
}

/* The account of the pod that this runs in. Its token is renewed in its file. */
static bool take_account(struct mur_cluster *cluster)
{
    const char *host = getenv("KUBERNETES_SERVICE_HOST"), *port = getenv("KUBERNETES_SERVICE_PORT");

    if (!host || !port || access(ACCOUNT "/token", R_OK) < 0)
        return false;
    cluster->server = mur_alloc_text(strchr(host, ':') ? "https://[%s]:%s" : "https://%s:%s", host, port);
    cluster->token_file = mur_alloc_text(ACCOUNT "/token");
    cluster->authority = mur_text_read(ACCOUNT "/ca.crt");
    cluster->space = mur_text_read(ACCOUNT "/namespace");
    return true;
}

bool mur_cluster_is_named(void)
{
    const char *path = getenv("KUBECONFIG");

    return path && *path;
}

void mur_cluster_load(struct mur_cluster *cluster, const char *kubeconfig)
{
    const char *home = getenv("HOME");
    char *path;

    *cluster = (struct mur_cluster){0};
    if (!kubeconfig && mur_cluster_is_named())
        kubeconfig = getenv("KUBECONFIG");
    if (kubeconfig) {
        read_config(cluster, kubeconfig);
    } else if (!take_account(cluster)) {
        path = mur_alloc_text("%s/.kube/config", home ? home : "");
        read_config(cluster, path);
        free(path);
    }
    if (!cluster->space || !*cluster->space)
        cluster->space = mur_alloc_text("default");
}

static void add_header(struct curl_slist **headers, const char *name, const char *value)
{
    char *text = mur_alloc_text("%s: %s", name, value);

    *headers = curl_slist_append(*headers, text);
    free(text);
}

static void set_blob(CURL *handle, CURLoption option, const char *text)
{
    struct curl_blob blob = {(void *)text, strlen(text), CURL_BLOB_COPY};

    curl_easy_setopt(handle, option, &blob);
}

void mur_cluster_setup(const struct mur_cluster *cluster, CURL *handle, struct curl_slist **headers)
{
    char *token = cluster->token_file ? mur_text_read(cluster->token_file) : NULL, *bearer;
    const char *used = token ? token : cluster->token;

    if (token)
        token[strcspn(token, "\r\n")] = '\0';
    if (used) {
        bearer = mur_alloc_text("Bearer %s", used);
        add_header(headers, "Authorization", bearer);
        free(bearer);
    }
    free(token);
    add_header(headers, "Accept", "application/json");
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, *headers);
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_USERAGENT, "mpijob/" MUR_VERSION);
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, 10L);
    if (cluster->authority)
        set_blob(handle, CURLOPT_CAINFO_BLOB, cluster->authority);
    if (cluster->certificate)
        set_blob(handle, CURLOPT_SSLCERT_BLOB, cluster->certificate);
    if (cluster->key)
        set_blob(handle, CURLOPT_SSLKEY_BLOB, cluster->key);
    curl_easy_setopt(handle, CURLOPT_SSL_VERIFYPEER, cluster->trusts_anyone ? 0L : 1L);
    curl_easy_setopt(handle, CURLOPT_SSL_VERIFYHOST, cluster->trusts_anyone ? 0L : 2L);
}
