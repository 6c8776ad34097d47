/* SPDX-License-Identifier: BSD-3-Clause */
/* Feeds: what goes on, from the API to a browser, as server-sent events.
 *
 * A feed has one or more sources, each a fetch that does not end: a watch, whose lines become events of their own, or a
 * log, whose bytes become events with a text each. What the browser does not read in time is not kept: the source is
 * paused when ENOUGH is waiting, and the API waits in turn. A comment goes out now and then, so that both sides notice
 * when the other is gone. An event "failed" tells of what the API refused, "ended" of a log that is complete. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "launch/alloc.h"
#include "mpijob/console/console.h"

#define BEAT 15.0 /* seconds */

enum { SOURCES = 3, ENOUGH = 256 << 10, LONGEST_LINE = 16 << 20, MOST_FEEDS = 800 }; /* bytes */

struct source {
    struct mur_feed *feed;
    struct mur_fetch *fetch;
    const char *event;
    char *part; /* of a line, or of a character, that is not complete yet */
    size_t length;
    bool is_log, is_paused;
};

struct mur_feed {
    struct mur_http_stream stream;
    struct source sources[SOURCES];
    int count;
    char *text;
    size_t length, sent, room;
    bool is_raw, is_over;
    long long expires;
    double beat;
};

static int feed_count;

static void add(struct mur_feed *feed, const char *data, size_t length)
{
    if (feed->sent == feed->length)
        feed->sent = feed->length = 0;
    if (feed->length + length > feed->room) {
        feed->room = (feed->length + length) * 2;
        feed->text = mur_alloc_again(feed->text, feed->room, 1);
    }
    memcpy(feed->text + feed->length, data, length);
    feed->length += length;
}

static void add_text(struct mur_feed *feed, const char *text)
{
    add(feed, text, strlen(text));
}

/* `data` is JSON without line ends. */
static void add_event(struct mur_feed *feed, const char *event, const char *data, size_t length)
{
    add_text(feed, "event: ");
    add_text(feed, event);
    add_text(feed, "\ndata: ");
    add(feed, data, length);
    add_text(feed, "\n\n");
}

static void add_failure(struct mur_feed *feed, long code, const char *message)
{
    struct mur_value *body = mur_value_new(MUR_MAP);
    char *text;

    mur_value_put(body, "code", mur_value_integer(code));
    mur_value_put(body, "message", mur_value_text("%s", message));
    text = mur_json_text(body);
    add_event(feed, "failed", text, strlen(text));
    mur_value_free(body);
    free(text);
}

/* The bytes of a log as a string of JSON. What is no UTF-8 is left for the browser, which shows it as such. */
static void add_log(struct mur_feed *feed, const char *data, size_t length)
{
    char escape[8];
    size_t plain = 0;

    add_text(feed, "event: log\ndata: \"");
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)data[i];

        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        add(feed, data + plain, i - plain);
        add(feed, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", c));
        plain = i + 1;
    }
    add(feed, data + plain, length - plain);
    add_text(feed, "\"\n\n");
}

/* How many bytes at the end are the beginning of a character. */
static size_t count_cut(const char *data, size_t length)
{
    for (size_t back = 1; back <= 3 && back <= length; back++) {
        unsigned char c = (unsigned char)data[length - back];
        size_t whole = c >= 0xf8 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;

        if (c < 0x80)
            return 0;
        if (whole > 1 || c >= 0xf8)
            return whole > back ? back : 0;
    }
    return 0;
}

static void keep(struct source *source, const char *data, size_t length)
{
    source->part = mur_alloc_again(source->part, source->length + length, 1);
    memcpy(source->part + source->length, data, length);
    source->length += length;
}

static void take_log(struct source *source, const char *data, size_t length)
{
    size_t cut;

    keep(source, data, length);
    cut = source->feed->is_raw ? 0 : count_cut(source->part, source->length);
    length = source->length - cut;
    if (source->feed->is_raw)
        add(source->feed, source->part, length);
    else if (length > 0)
        add_log(source->feed, source->part, length);
    memmove(source->part, source->part + length, cut);
    source->length = cut;
}

static void take_lines(struct source *source, const char *data, size_t length)
{
    const char *end;

    while ((end = memchr(data, '\n', length))) {
        keep(source, data, (size_t)(end - data));
        add_event(source->feed, source->event, source->part, source->length);
        source->length = 0;
        length -= (size_t)(end - data) + 1;
        data = end + 1;
    }
    keep(source, data, length);
}

static bool take(struct mur_fetch *fetch, const char *data, size_t length)
{
    struct source *source = fetch->whom;
    struct mur_feed *feed = source->feed;

    if (feed->length - feed->sent > ENOUGH) {
        source->is_paused = true;
        return false;
    }
    if (source->is_log)
        take_log(source, data, length);
    else
        take_lines(source, data, length);
    if (source->length > LONGEST_LINE) {
        add_failure(feed, 0, "the API has sent an object that is too long");
        feed->is_over = true;
        source->length = 0;
    }
    return true;
}

/* A watch that ends in peace, too, ends the feed: the page begins again with what there is then. */
static void done(struct mur_fetch *fetch, long code)
{
    struct source *source = fetch->whom;
    struct mur_feed *feed = source->feed;
    struct mur_document_error error;
    struct mur_value *body;

    if (code == 200 && source->is_log && !feed->is_raw) {
        if (source->length > 0)
            add_log(feed, source->part, source->length);
        add_event(feed, "ended", "true", 4);
    } else if (code != 200 && feed->is_raw) {
        feed->stream.is_lost = true;
    } else if (code != 200) {
        body = fetch->length ? mur_json_read(fetch->text, fetch->length, &error) : NULL;
        add_failure(feed, code, mur_value_string(body, "message", code ? "the API refuses it" : fetch->error));
        mur_value_free(body);
    }
    feed->is_over = true;
}

static ssize_t feed_read(struct mur_http_stream *stream, char *to, size_t room)
{
    struct mur_feed *feed = (struct mur_feed *)stream;
    size_t left = feed->length - feed->sent;

    if (left == 0 && !feed->is_over && !feed->is_raw && mur_steady_clock() >= feed->beat) {
        add_text(feed, ": still here\n\n");
        left = feed->length - feed->sent;
    }
    feed->beat = mur_steady_clock() + BEAT;
    if (left == 0 || time(NULL) >= feed->expires)
        return feed->is_over || time(NULL) >= feed->expires ? -1 : 0;
    left = left < room ? left : room;
    memcpy(to, feed->text + feed->sent, left);
    feed->sent += left;
    for (int i = 0; i < feed->count && feed->length - feed->sent < ENOUGH / 2; i++)
        if (feed->sources[i].is_paused && !feed->sources[i].fetch->is_over) {
            feed->sources[i].is_paused = false;
            curl_easy_pause(feed->sources[i].fetch->handle, CURLPAUSE_CONT);
        }
    return (ssize_t)left;
}

static bool feed_is_ready(const struct mur_http_stream *stream, double now)
{
    const struct mur_feed *feed = (const struct mur_feed *)stream;

    return feed->length > feed->sent || feed->is_over || now >= feed->beat || time(NULL) >= feed->expires;
}

static void feed_free(struct mur_http_stream *stream)
{
    struct mur_feed *feed = (struct mur_feed *)stream;

    for (int i = 0; i < feed->count; i++) {
        mur_fetch_free(feed->sources[i].fetch);
        free(feed->sources[i].part);
    }
    free(feed->text);
    free(feed);
    feed_count--;
}

struct mur_feed *mur_feed_new(const struct mur_login *login)
{
    struct mur_feed *feed;

    if (feed_count >= MOST_FEEDS)
        return NULL;
    feed_count++;
    feed = mur_alloc(1, sizeof *feed);
    feed->stream = (struct mur_http_stream){
        .content_type = "text/event-stream", .read = feed_read, .is_ready = feed_is_ready, .free = feed_free};
    feed->expires = login->expires;
    return feed;
}

static void add_source(struct mur_feed *feed, const char *event, const char *path, bool is_log)
{
    struct source *source = &feed->sources[feed->count++];

    *source = (struct source){.feed = feed, .event = event, .is_log = is_log};
    source->fetch = mur_fetch_start("GET", path, "", NULL, 0);
    source->fetch->take = take;
    source->fetch->done = done;
    source->fetch->whom = source;
}

void mur_feed_watch(struct mur_feed *feed, const char *event, const char *path)
{
    add_source(feed, event, path, false);
}

void mur_feed_log(struct mur_feed *feed, const char *path, bool is_raw)
{
    feed->is_raw = is_raw;
    if (is_raw)
        feed->stream.content_type = "text/plain; charset=utf-8";
    add_source(feed, "log", path, true);
}

/* The first bytes go out at once, so that the browser knows that the feed is there. */
struct mur_http_stream *mur_feed_stream(struct mur_feed *feed)
{
    feed->beat = feed->is_raw ? mur_steady_clock() + BEAT : 0;
    return &feed->stream;
}
