/* SPDX-License-Identifier: BSD-3-Clause */
/* Splitting PMI messages into words. A value may hold any character but the separator and a newline; it may be empty.
 */
#include "boot/pmi/words.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

bool mur_pmi_word_next(char **text, char separator, const char **key, const char **value)
{
    char *word = *text, *end, *equals;

    while (*word == separator)
        word++;
    end = word + strcspn(word, (const char[]){separator, '\0'});
    equals = memchr(word, '=', (size_t)(end - word));
    *text = word;
    if (!equals || equals == word)
        return false;
    *text = *end ? end + 1 : end;
    *equals = *end = '\0';
    *key = word;
    *value = equals + 1;
    return true;
}

bool mur_pmi_words_split(struct mur_pmi_words *words, char *text, char separator)
{
    words->count = 0;
    while (words->count < MUR_PMI_WORDS_MAX &&
           mur_pmi_word_next(&text, separator, &words->word[words->count].key, &words->word[words->count].value))
        words->count++;
    return words->count > 0 && !*text;
}

const char *mur_pmi_words_find(const struct mur_pmi_words *words, const char *key)
{
    for (int i = 0; i < words->count; i++)
        if (strcmp(words->word[i].key, key) == 0)
            return words->word[i].value;
    return NULL;
}

bool mur_pmi_number(const char *text, int *number)
{
    long parsed;
    char *end;

    if (!text || !*text)
        return false;
    errno = 0;
    parsed = strtol(text, &end, 10);
    if (*end || errno || parsed < INT_MIN || parsed > INT_MAX)
        return false;
    *number = (int)parsed;
    return true;
}

int mur_pmi_words_number(const struct mur_pmi_words *words, const char *key, int otherwise)
{
    int number;

    return mur_pmi_number(mur_pmi_words_find(words, key), &number) ? number : otherwise;
}
