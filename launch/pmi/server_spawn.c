/* SPDX-License-Identifier: BSD-3-Clause */
/* Spawn commands of PMI-1 and PMI-2, parsed into one form. The texts stay in the message; lists grow as they come, so
 * that no count of the sender's decides about memory: counts are only compared in the end. */
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "launch/pmi/inside.h"

struct parser {
    struct mur_pmi_server_spawn *spawn;
    struct mur_pmi_server_command *command; /* the one being read, or NULL */
    int arguments_said, info_said, commands_said;
    struct mur_pmi_server_pair **waiting; /* the list whose last pair still lacks its value, or NULL */
};

/* Makes room for one more where count is 0 or a power of two. */
static void *more(void *list, int count, size_t size)
{
    return count & (count - 1) ? list : mur_alloc_again(list, count ? 2 * (size_t)count : 1, size);
}

static void add_command(struct parser *parser)
{
    struct mur_pmi_server_spawn *spawn = parser->spawn;

    spawn->commands = more(spawn->commands, spawn->command_count, sizeof *spawn->commands);
    parser->command = &spawn->commands[spawn->command_count++];
    *parser->command = (struct mur_pmi_server_command){0};
    parser->arguments_said = parser->info_said = -1;
}

static void add_argument(struct mur_pmi_server_command *command, const char *argument)
{
    command->arguments = more(command->arguments, command->argument_count, sizeof *command->arguments);
    command->arguments[command->argument_count++] = argument;
}

/* A pair comes as two words, its key and then its value. */
static bool add_pair(struct parser *parser, struct mur_pmi_server_pair **list, int *count, const char *text,
                     bool is_key)
{
    if (parser->waiting != (is_key ? NULL : list))
        return false;
    parser->waiting = is_key ? list : NULL;
    if (is_key) {
        *list = more(*list, *count, sizeof **list);
        (*list)[(*count)++] = (struct mur_pmi_server_pair){.key = text};
    } else {
        (*list)[*count - 1].value = text;
    }
    return *text || !is_key;
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Words that both protocols have, under names that differ. */
struct names {
    const char *argument, *argument_count, *ranks, *info_key, *info_value, *info_count;
    const char *preput_key, *preput_value;
};
static const struct names names_1 = {"arg",       "argcnt",   "nprocs",      "info_key_",
                                     "info_val_", "info_num", "preput_key_", "preput_val_"};
static const struct names names_2 = {"argv",    "argc",         "maxprocs", "infokey",
                                     "infoval", "infokeycount", "ppkey",    "ppval"};

/* False: malformed. Words that are not known are left out, as other servers do. */
static bool common_word(struct parser *parser, const struct names *names, const char *key, const char *value)
{
    struct mur_pmi_server_spawn *spawn = parser->spawn;
    struct mur_pmi_server_command *command = parser->command;

    if (starts_with(key, names->preput_key))
        return add_pair(parser, &spawn->preputs, &spawn->preput_count, value, true);
    if (starts_with(key, names->preput_value))
        return add_pair(parser, &spawn->preputs, &spawn->preput_count, value, false);
    if (!command)
        return true;
    if (strcmp(key, names->ranks) == 0)
        return mur_pmi_number(value, &command->ranks) && command->ranks > 0;
    if (strcmp(key, names->argument_count) == 0)
        return mur_pmi_number(value, &parser->arguments_said);
    if (strcmp(key, names->info_count) == 0)
        return mur_pmi_number(value, &parser->info_said);
    if (starts_with(key, names->info_key))
        return add_pair(parser, &command->info, &command->info_count, value, true);
    if (starts_with(key, names->info_value))
        return add_pair(parser, &command->info, &command->info_count, value, false);
    if (starts_with(key, names->argument))
        add_argument(command, value);
    return true;
}

/* Compares what was said with what came, and ends the list of arguments. */
static bool end_command(struct parser *parser)
{
    struct mur_pmi_server_command *command = parser->command;

    if (!command)
        return false;
    parser->command = NULL;
    add_argument(command, NULL);
    command->argument_count--;
    return command->ranks > 0 && command->program && *command->program && !parser->waiting &&
           (parser->arguments_said < 0 || parser->arguments_said == command->argument_count) &&
           (parser->info_said < 0 || parser->info_said == command->info_count);
}

static bool is_complete(const struct parser *parser)
{
    return !parser->command && !parser->waiting && parser->spawn->command_count > 0 &&
           parser->commands_said == parser->spawn->command_count;
}

/* A line of PMI-1; old clients repeat the preputs in each block, and the last ones count. */
static bool line_1(struct parser *parser, const char *key, const char *value)
{
    if (strcmp(key, "mcmd") == 0) {
        if (parser->command || strcmp(value, "spawn") != 0)
            return false;
        add_command(parser);
        return true;
    }
    if (!parser->command)
        return false;
    if (strcmp(key, "execname") == 0) {
        parser->command->program = value;
        return true;
    }
    if (strcmp(key, "totspawns") == 0)
        return mur_pmi_number(value, &parser->commands_said);
    if (strcmp(key, "preput_num") == 0 && !parser->waiting && strcmp(value, "0") != 0)
        parser->spawn->preput_count = 0;
    return common_word(parser, &names_1, key, value);
}

bool mur_pmi_server_spawn_parse_1(struct mur_pmi_server_spawn *spawn, char *text)
{
    struct parser parser = {.spawn = spawn};
    const char *key, *value;

    *spawn = (struct mur_pmi_server_spawn){0};
    while (*text) {
        char *end = text + strcspn(text, "\n");

        if (strncmp(text, "endcmd\n", 7) == 0) {
            if (!end_command(&parser))
                return false;
            text = end + 1;
        } else if (!mur_pmi_word_next(&text, '\n', &key, &value) || !line_1(&parser, key, value)) {
            return false;
        }
    }
    return is_complete(&parser);
}

bool mur_pmi_server_spawn_parse_2(struct mur_pmi_server_spawn *spawn, char *text)
{
    struct parser parser = {.spawn = spawn, .commands_said = -1};
    const char *key, *value;

    *spawn = (struct mur_pmi_server_spawn){0};
    while (mur_pmi_word_next(&text, ';', &key, &value)) {
        if (strcmp(key, "ncmds") == 0) {
            if (!mur_pmi_number(value, &parser.commands_said))
                return false;
        } else if (strcmp(key, "subcmd") == 0) {
            if (parser.command && !end_command(&parser))
                return false;
            add_command(&parser);
            parser.command->program = value;
        } else if (!common_word(&parser, &names_2, key, value)) {
            return false;
        }
    }
    return !*text && end_command(&parser) && is_complete(&parser);
}

void mur_pmi_server_spawn_free(struct mur_pmi_server_spawn *spawn)
{
    for (int i = 0; i < spawn->command_count; i++) {
        free(spawn->commands[i].arguments);
        free(spawn->commands[i].info);
    }
    free(spawn->commands);
    free(spawn->preputs);
}
