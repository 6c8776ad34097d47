/* SPDX-License-Identifier: BSD-3-Clause */
/* Single calls, one after the other over one connection. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "mpijob/client/client.h"

enum { LONGEST_ANSWER = 256 << 20 }; /* bytes */

/* What comes is kept, or passed on if it is no error. */
struct arrival {
    CURL *handle;
    char *text;
    size_t length;
    FILE *out;
};

double mur_clock(void)
{
    struct timespec time;

    clock_gettime(CLOCK_REALTIME, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static size_t arrive(char *data, size_t size, size_t count, void *whom)
{
    struct arrival *arrival = whom;
    size_t length = size * count;
    long code = 0;

    curl_easy_getinfo(arrival->handle, CURLINFO_RESPONSE_CODE, &code);
    if (arrival->out && code == 200) {
        if (fwrite(data, 1, length, arrival->out) != length || fflush(arrival->out) != 0)
            return 0;
        return length;
    }
    if (arrival->length + length > LONGEST_ANSWER)
        return 0;
    arrival->text = mur_alloc_again(arrival->text, arrival->length + length + 1, 1);
    memcpy(arrival->text + arrival->length, data, length);
    arrival->length += length;
    arrival->text[arrival->length] = '\0';
    return length;
}

/* Connections are kept for the next call. */
static CURL *handle_of_calls(void)
{
    static CURL *handle;

    if (!handle)
        handle = curl_easy_init();
    if (!handle)
        mur_quit(MUR_EXIT_TROUBLE, "libcurl cannot be set up");
    curl_easy_reset(handle);
    return handle;
}

static void perform(const struct mur_cluster *cluster, CURL *handle, const char *path, struct curl_slist *headers,
                    struct arrival *arrival, struct mur_answer *answer)
{
    char *url = mur_alloc_text("%s%s", cluster->server, path);
    struct mur_document_error error;

    mur_cluster_setup(cluster, handle, &headers);
    arrival->handle = handle;
    curl_easy_setopt(handle, CURLOPT_URL, url);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, arrive);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, arrival);
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, answer->error);
    if (curl_easy_perform(handle) == CURLE_OK)
        curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &answer->code);
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, NULL);
    curl_slist_free_all(headers);
    free(url);
    answer->text = arrival->text;
    if (arrival->length > 0)
        answer->body = mur_json_read(arrival->text, arrival->length, &error);
}

void mur_call(const struct mur_cluster *cluster, const char *method, const char *path, const char *type,
              const struct mur_value *body, long seconds, struct mur_answer *answer)
{
    CURL *handle = handle_of_calls();
    struct arrival arrival = {0};
    struct curl_slist *headers = NULL;
    char *text = body ? mur_json_text(body) : NULL, *header = mur_alloc_text("Content-Type: %s", type);

    *answer = (struct mur_answer){0};
    if (text) {
        headers = curl_slist_append(headers, header);
        headers = curl_slist_append(headers, "Expect:");
        curl_easy_setopt(handle, CURLOPT_POSTFIELDS, text);
        curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(text));
    }
    curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(handle, CURLOPT_TIMEOUT, seconds);
    perform(cluster, handle, path, headers, &arrival, answer);
    free(text);
    free(header);
}

long mur_call_stream(const struct mur_cluster *cluster, const char *path, FILE *out, struct mur_answer *answer)
{
    struct arrival arrival = {.out = out};

    *answer = (struct mur_answer){0};
    perform(cluster, handle_of_calls(), path, NULL, &arrival, answer);
    return answer->code;
}

void mur_answer_free(struct mur_answer *answer)
{
    mur_value_free(answer->body);
    free(answer->text);
    answer->body = NULL;
    answer->text = NULL;
}

bool mur_answer_is_well(const struct mur_answer *answer)
{
    return answer->code >= 200 && answer->code < 300;
}

/* "... cannot list resource "pods" in API group "" ...": the words in quotes are what a role lacks. */
static void say_what_to_add(const char *message)
{
    const char *cannot = strstr(message, "cannot "), *resource = cannot ? strstr(cannot, "resource \"") : NULL;
    const char *group = resource ? strstr(resource, "API group \"") : NULL;

    if (!group)
        return;
    cannot += strlen("cannot ");
    resource += strlen("resource \"");
    group += strlen("API group \"");
    mur_say("what a Role or ClusterRole of this user lacks: {apiGroups: [\"%.*s\"], resources: [%.*s], verbs: [%.*s]}",
            (int)strcspn(group, "\""), group, (int)strcspn(resource, "\""), resource, (int)strcspn(cannot, " "),
            cannot);
}

void mur_answer_say(const struct mur_answer *answer, const char *what)
{
    const char *message = mur_value_string(answer->body, "message", answer->text ? answer->text : "");

    if (answer->code == 0)
        mur_say("%s: the API cannot be reached: %s", what, answer->error);
    else
        mur_say("%s: %s (%ld)", what, message, answer->code);
    if (answer->code == 403)
        say_what_to_add(message);
}

char *mur_path(const struct mur_resource *resource, const char *version, const char *space, const char *name,
               const char *part)
{
    char *full = version ? mur_alloc_text("%s", version) : mur_resource_version(resource), *path;

    path = mur_alloc_text("/%s/%s%s%s/%s%s%s%s%s", strchr(full, '/') ? "apis" : "api", full,
                          space && *space ? "/namespaces/" : "", space ? space : "", resource->plural,
                          name && *name ? "/" : "", name ? name : "", part && *part ? "/" : "", part ? part : "");
    free(full);
    return path;
}
