/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits text into words as the shell would, without anything that the shell would put in: "two words" and 'two words'
 * are one word, and a backslash takes the meaning from what follows, within '' excepted. */
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "launch/options/parser.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Copies the next word of [*text, end) to `word`; false: its quote is not closed. */
static bool take_word(const char **text, const char *end, char *word)
{
    const char *next = *text;
    char quote = 0;

    while (next < end && (quote || !is_blank(*next))) {
        if (*next == '\\' && quote != '\'' && next + 1 < end) {
            *word++ = next[1];
            next += 2;
        } else if (quote ? *next == quote : (*next == '"' || *next == '\'')) {
            quote = quote ? 0 : *next;
            next++;
        } else {
            *word++ = *next++;
        }
    }
    *word = '\0';
    *text = next;
    return !quote;
}

char **mur_words_split(const char *text, size_t length)
{
    const char *end = text + length;
    char **words = mur_alloc(length / 2 + 2, sizeof *words);
    char *memory = mur_alloc(length + 1, 1); /* the words, which are no longer than the text, one NUL a blank */
    size_t count = 0;

    for (;;) {
        while (text < end && is_blank(*text))
            text++;
        if (text == end)
            return words;
        words[count++] = memory;
        if (!take_word(&text, end, memory))
            return NULL;
        memory += strlen(memory) + 1;
    }
}
