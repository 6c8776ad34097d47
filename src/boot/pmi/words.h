/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of PMI messages: `key=value`, separated by blanks in PMI-1 and by semicolons in PMI-2. Client and server
 * share this file; it needs nothing but the C library. */
#ifndef MUR_BOOT_PMI_WORDS_H
#define MUR_BOOT_PMI_WORDS_H

#include <stdbool.h>

enum { MUR_PMI_WORDS_MAX = 32 }; /* a message with more words is malformed; spawn is read word by word instead */

struct mur_pmi_words {
    int count;
    struct {
        const char *key, *value;
    } word[MUR_PMI_WORDS_MAX];
};

/* Cuts the next word off *text, which moves on; false at the end and where no word is. The text is written to. */
bool mur_pmi_word_next(char **text, char separator, const char **key, const char **value);

/* Splits a whole message, which is written to and must outlive the words. False when it is malformed. */
bool mur_pmi_words_split(struct mur_pmi_words *words, char *text, char separator);

/* The value of a key, or NULL. */
const char *mur_pmi_words_find(const struct mur_pmi_words *words, const char *key);

/* The decimal number in `text`; false when it is none (or NULL, or out of int). */
bool mur_pmi_number(const char *text, int *number);

/* The number of a key; `otherwise` where the key is missing or no number. */
int mur_pmi_words_number(const struct mur_pmi_words *words, const char *key, int otherwise);

#endif
