/* SPDX-License-Identifier: BSD-3-Clause */
/* Who may do what: tokens name users and their group, a table names what a group may. */
#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "mpijob/server/server.h"

static struct holder {
    char *token, *user, *group;
} * holders;
static int holder_count;

/* What a group may: lists with spaces between; * is everything. The group of controllers is as the ClusterRole of
 * examples/kubernetes/controller.yaml says. */
static const struct rule {
    const char *group, *verbs, *resources;
} rules[] = {
    {"system:masters", "*", "*"},
    {"edit", "*",
     "mpijobs mpijobs/status pods pods/status pods/log pods/exec configmaps secrets services events leases"},
    {"edit", "get list watch", "namespaces"},
    {"view", "get list watch", "mpijobs pods pods/log configmaps services events leases namespaces"},
    {"mpijob:controllers", "get list watch update patch delete", "mpijobs mpijobs/status"},
    {"mpijob:controllers", "get list watch create update patch delete", "pods configmaps secrets services"},
    {"mpijob:controllers", "create patch", "events"},
    {"mpijob:controllers", "get create update", "leases"},
};

void mur_access_add(const char *token, const char *user, const char *group)
{
    bool is_known = false;

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        is_known |= strcmp(rules[i].group, group) == 0;
    if (!is_known)
        mur_quit(MUR_EXIT_USAGE,
                 "the group \"%s\" of user %s is none of system:masters, edit, view, mpijob:controllers", group, user);
    if (strlen(token) < 8)
        mur_quit(MUR_EXIT_USAGE, "the token of user %s is shorter than 8 characters", user);
    holders = mur_alloc_again(holders, (size_t)holder_count + 1, sizeof *holders);
    holders[holder_count++] =
        (struct holder){mur_alloc_text("%s", token), mur_alloc_text("%s", user), mur_alloc_text("%s", group)};
}

/* Lines as Kubernetes has them: TOKEN,USER,UID,"GROUP". */
void mur_access_read(const char *path)
{
    FILE *file = fopen(path, "re");
    char line[4096];

    if (!file)
        mur_quit(MUR_EXIT_USAGE, "cannot read the file of tokens %s: %s", path, strerror(errno));
    for (int number = 1; fgets(line, sizeof line, file); number++) {
        char *parts[4] = {line}, *at = line;

        line[strcspn(line, "\r\n")] = '\0';
        if (!*line || *line == '#')
            continue;
        for (int i = 1; i < 4 && at; i++)
            if ((at = strchr(at, ','))) {
                *at++ = '\0';
                parts[i] = at;
            }
        if (!parts[3])
            mur_quit(MUR_EXIT_USAGE, "%s:%d: TOKEN,USER,UID,GROUP is expected", path, number);
        parts[3] += *parts[3] == '"';
        parts[3][strcspn(parts[3], "\"")] = '\0';
        mur_access_add(parts[0], parts[1], parts[3]);
    }
    fclose(file);
}

/* Takes as long for a wrong token as for a right one of the same length. */
bool mur_access_find(const char *authorization, const char **user, const char **group)
{
    static const char bearer[] = "Bearer ";
    const char *token = authorization + sizeof bearer - 1;
    bool is_found = false;

    if (strncasecmp(authorization, bearer, sizeof bearer - 1) != 0)
        return false;
    for (int i = 0; i < holder_count; i++)
        if (strlen(token) == strlen(holders[i].token) && gnutls_memcmp(token, holders[i].token, strlen(token)) == 0) {
            *user = holders[i].user;
            *group = holders[i].group;
            is_found = true;
        }
    return is_found;
}

static bool is_in(const char *list, const char *word)
{
    return strcmp(list, "*") == 0 || mur_words_have(list, word);
}

bool mur_access_permits(const char *group, const char *verb, const struct mur_resource *resource, const char *part)
{
    char *name = mur_alloc_text("%s%s%s", resource->plural, *part ? "/" : "", part);
    bool may = false;

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        may |= strcmp(rules[i].group, group) == 0 && is_in(rules[i].verbs, verb) && is_in(rules[i].resources, name);
    free(name);
    return may;
}
