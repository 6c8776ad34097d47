/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of the Kubernetes API, many at a time, none of which the others wait for. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "mpijob/console/console.h"

enum { LONGEST_ANSWER = 64 << 20, KEPT_CONNECTIONS = 16 }; /* bytes */

static CURLM *multi(void)
{
    static CURLM *handle;

    if (!handle) {
        handle = curl_multi_init();
        if (!handle)
            mur_quit(MUR_EXIT_TROUBLE, "libcurl cannot be set up");
        curl_multi_setopt(handle, CURLMOPT_MAXCONNECTS, (long)KEPT_CONNECTIONS);
    }
    return handle;
}

double mur_steady_clock(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static size_t arrive(char *data, size_t size, size_t count, void *whom)
{
    struct mur_fetch *fetch = whom;
    size_t length = size * count;
    long code = 0;

    curl_easy_getinfo(fetch->handle, CURLINFO_RESPONSE_CODE, &code);
    if (fetch->take && code == 200)
        return fetch->take(fetch, data, length) ? length : CURL_WRITEFUNC_PAUSE;
    if (fetch->length + length > LONGEST_ANSWER)
        return 0;
    fetch->text = mur_alloc_again(fetch->text, fetch->length + length + 1, 1);
    memcpy(fetch->text + fetch->length, data, length);
    fetch->length += length;
    fetch->text[fetch->length] = '\0';
    return length;
}

struct mur_fetch *mur_fetch_start(const char *method, const char *path, const char *type, char *body, long seconds)
{
    struct mur_fetch *fetch = mur_alloc(1, sizeof *fetch);
    char *header = mur_alloc_text("Content-Type: %s", type);

    fetch->handle = curl_easy_init();
    if (!fetch->handle)
        mur_quit(MUR_EXIT_TROUBLE, "libcurl cannot be set up");
    fetch->url = mur_alloc_text("%s%s", mur_console.cluster.server, path);
    fetch->body = body;
    if (body) {
        fetch->headers = curl_slist_append(fetch->headers, header);
        fetch->headers = curl_slist_append(fetch->headers, "Expect:");
        curl_easy_setopt(fetch->handle, CURLOPT_POSTFIELDS, body);
        curl_easy_setopt(fetch->handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
    }
    mur_cluster_setup(&mur_console.cluster, fetch->handle, &fetch->headers);
    curl_easy_setopt(fetch->handle, CURLOPT_URL, fetch->url);
    curl_easy_setopt(fetch->handle, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(fetch->handle, CURLOPT_TIMEOUT, seconds);
    curl_easy_setopt(fetch->handle, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(fetch->handle, CURLOPT_ERRORBUFFER, fetch->error);
    curl_easy_setopt(fetch->handle, CURLOPT_WRITEFUNCTION, arrive);
    curl_easy_setopt(fetch->handle, CURLOPT_WRITEDATA, fetch);
    curl_easy_setopt(fetch->handle, CURLOPT_PRIVATE, fetch);
    curl_multi_add_handle(multi(), fetch->handle);
    free(header);
    return fetch;
}

void mur_fetch_free(struct mur_fetch *fetch)
{
    if (!fetch)
        return;
    curl_multi_remove_handle(multi(), fetch->handle);
    curl_easy_cleanup(fetch->handle);
    curl_slist_free_all(fetch->headers);
    free(fetch->url);
    free(fetch->body);
    free(fetch->text);
    free(fetch);
}

void mur_fetches_wait(struct curl_waitfd *others, int count, double seconds)
{
    curl_multi_poll(multi(), others, (unsigned)count, (int)(seconds * 1000), NULL);
}

void mur_fetches_step(void)
{
    int running, left;
    CURLMsg *message;
    struct mur_fetch *fetch;

    curl_multi_perform(multi(), &running);
    while ((message = curl_multi_info_read(multi(), &left)))
        if (message->msg == CURLMSG_DONE) {
            long code = 0;

            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&fetch);
            curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &code);
            if (message->data.result != CURLE_OK) {
                code = 0;
                if (!*fetch->error)
                    snprintf(fetch->error, sizeof fetch->error, "%s", curl_easy_strerror(message->data.result));
            }
            fetch->is_over = true;
            fetch->done(fetch, code);
        }
}
