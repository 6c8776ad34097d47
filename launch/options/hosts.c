/* SPDX-License-Identifier: BSD-3-Clause */
/* Options about hosts, and which rank runs on which. */
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "launch/alloc.h"
#include "launch/hosts/managers.h"
#include "launch/options/parser.h"

/* ---- which hosts ---- */

static int set_hostfile(struct mur_parser *parser, const char *value)
{
    if (!*value)
        return mur_parser_fail(parser, "%s wants a file, not an empty name", parser->option);
    if (parser->job->placing.hostfile && strcmp(parser->job->placing.hostfile, value) != 0)
        return mur_parser_fail(parser, "%s '%s': '%s' was given before; a job has one host file", parser->option, value,
                               parser->job->placing.hostfile);
    parser->job->placing.hostfile = value;
    return 0;
}

/* `-host a,b:2,n[1-3]` */
static int set_host(struct mur_parser *parser, const char *value)
{
    struct mur_problem problem;

    if (!mur_hosts_add_list(&parser->context->hosts, value, &problem))
        return mur_parser_fail_problem(parser, &problem);
    return 0;
}

/* `-hosts 2 a 4 b 1`: a number of hosts, then each with the number of its ranks, which may be left out. */
static int set_counted_hosts(struct mur_parser *parser, int count)
{
    for (int i = 0; i < count; i++) {
        struct mur_problem problem;
        struct mur_host more = {0};
        const char *host = *parser->next;

        if (!host)
            return mur_parser_fail(parser, "%s %d wants %d hosts after it, not %d", parser->option, count, count, i);
        parser->next++;
        if (*parser->next && mur_number_read(*parser->next, strlen(*parser->next), 0, MUR_SLOTS_MAX, &more.slots)) {
            more.has_slots = true;
            parser->next++;
        }
        if (!mur_hosts_add_word(&parser->context->hosts, host, strlen(host), &more, &problem))
            return mur_parser_fail_problem(parser, &problem);
    }
    return 0;
}

static int set_hosts(struct mur_parser *parser, const char *value)
{
    int count;

    if (mur_number_read(value, strlen(value), 1, MUR_HOSTS_MAX, &count))
        return set_counted_hosts(parser, count);
    return set_host(parser, value);
}

static int set_manager(struct mur_parser *parser, const char *value)
{
    if (!mur_manager_is_known(value))
        return mur_parser_fail(parser, "%s wants slurm, lsf, sge, pbs, cobalt, ll, volcano, user or none, not '%s'",
                               parser->option, value);
    parser->job->placing.manager = value;
    return 0;
}

static int set_no_local(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->placing.skips_local = true;
    if (parser->job->placing.only_local)
        return mur_parser_fail(parser, "%s: -localonly was given before, which leaves no host", parser->option);
    return 0;
}

/* A number of ranks may follow, as smpd's users write it. */
static int set_only_local(struct mur_parser *parser, const char *value)
{
    const char *word = *parser->next;

    (void)value;
    parser->job->placing.only_local = true;
    if (parser->job->placing.skips_local)
        return mur_parser_fail(parser, "%s: -nolocal was given before, which leaves no host", parser->option);
    if (!word || !*word || word[strspn(word, "0123456789")])
        return 0;
    parser->next++;
    return mur_parser_set_ranks(parser, word);
}

/* ---- which rank on which ---- */

static int set_ranking(struct mur_parser *parser, const char *value)
{
    static const char *const by_slot[] = {"slot", "fill", "core", "hwthread", "socket", "package", "numa"};
    size_t length = strcspn(value, ":");

    if (strncasecmp(value, "node", length) == 0 || strncasecmp(value, "span", length) == 0) {
        parser->job->placing.ranking = MUR_RANK_BY_NODE;
        return 0;
    }
    for (size_t i = 0; i < sizeof by_slot / sizeof by_slot[0]; i++)
        if (length == strlen(by_slot[i]) && strncasecmp(value, by_slot[i], length) == 0) {
            parser->job->placing.ranking = MUR_RANK_BY_SLOT;
            return 0;
        }
    return mur_parser_fail(parser, "%s wants slot, fill, node or span, not '%s'", parser->option, value);
}

static int set_order(struct mur_parser *parser, const char *value)
{
    size_t length = strlen(value);

    if (length >= 3 && strncasecmp(value, "ascending", length) == 0)
        parser->job->placing.order = MUR_HOSTS_ASCENDING;
    else if (length >= 3 && strncasecmp(value, "descending", length) == 0)
        parser->job->placing.order = MUR_HOSTS_DESCENDING;
    else
        return mur_parser_fail(parser, "%s wants ascending or descending, not '%s'", parser->option, value);
    return 0;
}

/* Numbers of hosts, in the order of the list, for rank 0, 1, ... */
static int set_rank_map(struct mur_parser *parser, const char *value)
{
    for (const char *at = value;; at++) {
        size_t length = strcspn(at, ",");
        int host;

        if (!mur_number_read(at, length, 0, MUR_HOSTS_MAX - 1, &host))
            return mur_parser_fail(parser,
                                   "%s wants the number of a host, from 0, for each rank, as in 0,1,0,1, not '%s'",
                                   parser->option, value);
        at += length;
        if (!*at)
            break;
    }
    parser->job->placing.rank_map = value;
    return 0;
}

static int set_rank_file(struct mur_parser *parser, const char *value)
{
    if (!*value)
        return mur_parser_fail(parser, "%s wants a file, not an empty name", parser->option);
    parser->job->placing.rank_file = value;
    return 0;
}

/* ---- how many ranks a host ---- */

static int set_per_host(struct mur_parser *parser, const char *value)
{
    return mur_parser_read_number(parser, value, "a number of ranks", 1, MUR_SLOTS_MAX, &parser->job->placing.per_host);
}

static int set_default_slots(struct mur_parser *parser, const char *value)
{
    return mur_parser_read_number(parser, value, "a number of slots", 1, MUR_SLOTS_MAX,
                                  &parser->job->placing.default_slots);
}

static int set_round_robin(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->placing.per_host = 1;
    return 0;
}

static int set_per_object(struct mur_parser *parser, const char *number, size_t length, enum mur_part object)
{
    struct mur_jobspec *job = parser->job;

    if (!mur_number_read(number, length, 1, MUR_SLOTS_MAX, &job->placing.per_object))
        return mur_parser_fail(parser, "%s wants a number of ranks from 1 to %d, not '%.*s'", parser->option,
                               MUR_SLOTS_MAX, (int)length, number);
    job->placing.object = object;
    job->binding.map = object;
    job->binding.block = job->placing.per_object;
    return 0;
}

static int set_per_node(struct mur_parser *parser, const char *value)
{
    return set_per_object(parser, value, strlen(value), MUR_PART_MACHINE);
}

static int set_per_socket(struct mur_parser *parser, const char *value)
{
    return set_per_object(parser, value, strlen(value), MUR_PART_SOCKET);
}

static int set_one_per_node(struct mur_parser *parser, const char *value)
{
    (void)value;
    return set_per_node(parser, "1");
}

static int set_crowded(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->placing.crowding = MUR_CROWD_ALLOWED;
    return 0;
}

static int set_uncrowded(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->placing.crowding = MUR_CROWD_FORBIDDEN;
    return 0;
}

/* ---- -map-by ---- */

static bool is_text(const char *text, size_t length, const char *name)
{
    return strlen(name) == length && strncasecmp(text, name, length) == 0;
}

/* What may follow the object, in capitals or not: PE=2,OVERSUBSCRIBE */
static int set_modifier(struct mur_parser *parser, const char *text, size_t length)
{
    struct mur_jobspec *job = parser->job;

    if (length > 3 && strncasecmp(text, "PE=", 3) == 0) {
        if (!mur_number_read(text + 3, length - 3, 1, 1024, &job->binding.width))
            return mur_parser_fail(parser, "%s: PE= wants a number of cores, not '%.*s'", parser->option,
                                   (int)length - 3, text + 3);
        if (!job->binding.is_explicit)
            job->binding.bind = job->binding.bind ? job->binding.bind : MUR_PART_CORE;
    } else if (is_text(text, length, "HWTCPUS")) {
        if (!job->binding.is_explicit)
            job->binding.bind = MUR_PART_HWTHREAD;
    } else if (is_text(text, length, "OVERSUBSCRIBE")) {
        job->placing.crowding = MUR_CROWD_ALLOWED;
    } else if (is_text(text, length, "NOOVERSUBSCRIBE")) {
        job->placing.crowding = MUR_CROWD_FORBIDDEN;
    } else if (is_text(text, length, "NOLOCAL")) {
        job->placing.skips_local = true;
    } else if (!is_text(text, length, "CORECPUS") && !is_text(text, length, "INHERIT")) {
        return mur_parser_fail(parser,
                               "%s: PE=N, HWTCPUS, OVERSUBSCRIBE, NOOVERSUBSCRIBE or NOLOCAL may follow ':', not "
                               "'%.*s'",
                               parser->option, (int)length, text);
    }
    return 0;
}

static int set_modifiers(struct mur_parser *parser, const char *text)
{
    while (*text) {
        size_t length = strcspn(text, ",:");
        int rc = set_modifier(parser, text, length);

        if (rc)
            return rc;
        text += length + (text[length] != '\0');
    }
    return 0;
}

/* The object itself: by slot or node is about hosts, all others are about where on a host. */
static int set_map_object(struct mur_parser *parser, const char *text, size_t length)
{
    struct mur_jobspec *job = parser->job;
    enum mur_part part = mur_part_read(text, (int)length);

    job->placing.is_by_node = part == MUR_PART_MACHINE;
    if (is_text(text, length, "slot") || part == MUR_PART_MACHINE) {
        job->binding.map = MUR_PART_NONE;
        return 0;
    }
    if (part == MUR_PART_COUNT || part == MUR_PART_NONE)
        return mur_parser_fail(parser,
                               "%s wants slot, node, core, hwthread, l1cache to l5cache, numa, socket or ppr:N:OBJECT, "
                               "not '%.*s'",
                               parser->option, (int)length, text);
    job->binding.map = part;
    return 0;
}

/* `slot`, `core:PE=2`, `ppr:2:socket:PE=2` */
static int set_map_by(struct mur_parser *parser, const char *value)
{
    size_t length = strcspn(value, ":");
    const char *rest = value + length;
    int rc;

    if (is_text(value, length, "ppr")) {
        const char *number = rest + (*rest == ':');
        size_t digits = strcspn(number, ":");
        const char *object = number + digits + (number[digits] == ':');
        enum mur_part part;

        length = strcspn(object, ":");
        part = mur_part_read(object, (int)length);
        if (part == MUR_PART_COUNT || part == MUR_PART_NONE)
            return mur_parser_fail(parser, "%s wants ppr:N:node, or another object, not '%s'", parser->option, value);
        rc = set_per_object(parser, number, digits, part);
        rest = object + length;
    } else {
        rc = length || !*rest ? set_map_object(parser, value, length) : 0; /* ":oversubscribe" alone is a habit, too */
    }
    return rc ? rc : set_modifiers(parser, rest + (*rest == ':'));
}

static int set_by_node(struct mur_parser *parser, const char *value)
{
    (void)value;
    return set_map_by(parser, "node");
}

static int set_by_slot(struct mur_parser *parser, const char *value)
{
    (void)value;
    return set_map_by(parser, "slot");
}

static int set_by_core(struct mur_parser *parser, const char *value)
{
    (void)value;
    return set_map_by(parser, "core");
}

static int set_by_socket(struct mur_parser *parser, const char *value)
{
    (void)value;
    return set_map_by(parser, "socket");
}

static int set_map_shown(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->shows_map = true;
    return 0;
}

/* `-display map,bindings,allocation` */
static int set_display(struct mur_parser *parser, const char *value)
{
    for (;;) {
        size_t length = strcspn(value, ",");

        if (is_text(value, length, "bind") || is_text(value, length, "bindings"))
            parser->job->binding.is_reported = true;
        else if (is_text(value, length, "map") || is_text(value, length, "map-devel") ||
                 is_text(value, length, "allocation"))
            parser->job->shows_map = true;
        else
            return mur_parser_fail(parser, "%s wants map, bindings or allocation, not '%.*s'", parser->option,
                                   (int)length, value);
        if (!value[length])
            return 0;
        value += length + 1;
    }
}

/* Which hosts there are. */
const struct mur_option mur_host_options[] = {
    {"hostfile", "FILE", set_hostfile,
     "hosts from a file, a line each: host:4, or host slots=4 max_slots=8 user=U port=P; ranges as n[01-16], comments "
     "with '#'; a bare host has one slot, and one more each time it comes again. -host then chooses of these"},
    {"f", "FILE", set_hostfile, NULL},
    {"machinefile", "FILE", set_hostfile, NULL},
    {"machines", "FILE", set_hostfile, NULL},
    {"default-hostfile", "FILE", set_hostfile, NULL},
    {"host", "HOST[:SLOTS],...", set_host,
     "run this program on these hosts: a,b:4,n[01-03]; programs without it use all hosts"},
    {"H", "HOST[:SLOTS],...", set_host, NULL},
    {"hosts", "HOST[:SLOTS],...|N HOST SLOTS ...", set_hosts, "the same; or 2 a 4 b 1: a number of hosts, then these"},
    {"hostlist", "HOST[:SLOTS],...", set_hosts, NULL},
    {"machinelist", "HOST[:SLOTS],...", set_hosts, NULL},
    {"rmk", "MANAGER", set_manager, "ask only this one: slurm, lsf, sge, pbs, cobalt, ll, volcano; none"},
    {"nolocal", NULL, set_no_local, "not on this machine"},
    {"skip-launch-node", NULL, set_no_local, NULL},
    {"localonly", NULL, set_only_local, "on this machine only, whatever lists say; a number of ranks may follow"},
    {"default-slots", "N", set_default_slots, "slots of hosts that are listed without a number"},
    {"order-nodes", "ORDER", set_order, "hosts by their slots: ascending or descending"},
    {NULL, NULL, NULL, NULL},
};

/* Which rank runs on which of them. */
const struct mur_option mur_mapping_options[] = {
    {"ppn", "N", set_per_host, "N slots a host, whatever was written"},
    {"perhost", "N", set_per_host, NULL},
    {"grr", "N", set_per_host, NULL},
    {"rr", NULL, set_round_robin, "one slot a host: -ppn 1"},
    {"npernode", "N", set_per_node, "N ranks a host and no more"},
    {"N", "N", set_per_node, NULL},
    {"pernode", NULL, set_one_per_node, "one rank a host"},
    {"npersocket", "N", set_per_socket, "N ranks a socket"},
    {"map-by", "OBJECT", set_map_by,
     "slot (default): fill host after host; node: a rank on each host in turn; ppr:N:node: N a host; core, hwthread, "
     "l1cache to l5cache, numa, socket: fill host after host and go over these in turn when binding; ppr:N:socket and "
     "so on: N for each that a host has, which hosts are asked for first. :PE=N (cores a rank), :HWTCPUS, "
     ":OVERSUBSCRIBE, :NOOVERSUBSCRIBE, :NOLOCAL may follow"},
    {"rank-by", "OBJECT", set_ranking,
     "node: number the ranks over the hosts in turn, wherever -map-by puts them; slot: host by host"},
    {"rankmap", "HOST,HOST,...", set_rank_map, "for each rank the number of its host in the list, from 0"},
    {"rankfile", "FILE", set_rank_file,
     "a line for each rank: rank 0=host slot=1:0-2 (cores of a socket) or slot=3 (a core)"},
    {"bynode", NULL, set_by_node, "-map-by node"},
    {"byslot", NULL, set_by_slot, "-map-by slot"},
    {"bycore", NULL, set_by_core, "-map-by core"},
    {"bysocket", NULL, set_by_socket, "-map-by socket"},
    {"oversubscribe", NULL, set_crowded, "hosts offer their slots again and again, which they do anyway"},
    {"nooversubscribe", NULL, set_uncrowded, "refuse more ranks than slots"},
    {"display", "map,bindings", set_display, "say which rank runs where, or on which CPUs"},
    {"display-map", NULL, set_map_shown, "say which rank runs where"},
    {"display-allocation", NULL, set_map_shown, NULL},
    {NULL, NULL, NULL, NULL},
};
