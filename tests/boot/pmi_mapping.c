/* SPDX-License-Identifier: BSD-3-Clause */
/* Process mappings: texts of several launchers, what is malformed, random placements written and read again, and random
 * texts. The seed is printed; MUR_TEST_SEED repeats one. */

#include "boot/pmi/escape.h"
#include "boot/pmi/mapping.h"
#include "unit.h"

enum { MOST = 200 };

static void test_texts(void)
{
    static const struct {
        const char *text, *nodes; /* a digit a rank; NULL: malformed or unknown */
    } cases[] = {
        {"(vector,(0,1,1))", "00000"},
        {"(vector,(0,1,2))", "00"},
        {"(vector,(0,2,1),(0,2,1))", "0101"},
        {"(vector,(0,2,1))", "01010"},
        {"(vector,(0,3,2))", "00112200"},
        {"(vector,(2,1,1),(0,2,2))", "200112"},
        {"(vector,0,1,1,2)", "0112"},
        {"(vector,[0,1]x3,2)", "0101012"},
        {"(vector,[(0,2,1),[3]x2]x2,(4,1,1))", "0133013340"},
        {"(vector,[0]x1000000000)", "0000"},
        {"(vector,(0,1000000000,1000000000))", "0000"},
        {"(vector,(0,2,2))", "001"},
        {"", NULL},
        {"(vector)", NULL},
        {"(vector,)", NULL},
        {"(vector,(0,1,1)", NULL},
        {"(vector,(0,1,1)))", NULL},
        {"(vector,(0,0,1))", NULL},
        {"(vector,(0,1,0))", NULL},
        {"(vector,(-1,1,1))", NULL},
        {"(vector,(0,1))", NULL},
        {"(vector,(0,1,99999999999))", NULL},
        {"(vector,(2147483647,2,1))", NULL},
        {"(vector,[0,1])", NULL},
        {"(vector,[0,1]x)", NULL},
        {"(vector,[0,1]x0)", NULL},
        {"(vector,[]x2)", NULL},
        {"(vector,[[[[[[[[[[0]x1]x1]x1]x1]x1]x1]x1]x1]x1]x1)", NULL},
        {"(vector,0,)", NULL},
        {"(vector, 0)", NULL},
        {"(matrix,0)", NULL},
    };
    int node_of[16];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int size = cases[i].nodes ? (int)strlen(cases[i].nodes) : 4;
        bool is_good = mur_pmi_mapping_read(cases[i].text, size, node_of);

        if (is_good != (cases[i].nodes != NULL)) {
            fprintf(stderr, "'%s' was read as %s\n", cases[i].text, is_good ? "good" : "malformed");
            failures++;
        }
        for (int rank = 0; rank < size && is_good && cases[i].nodes; rank++)
            if (node_of[rank] != cases[i].nodes[rank] - '0') {
                fprintf(stderr, "'%s': rank %d is on node %d, not %c\n", cases[i].text, rank, node_of[rank],
                        cases[i].nodes[rank]);
                failures++;
            }
    }
}

static void test_writer(void)
{
    static const struct {
        const char *nodes, *text;
    } cases[] = {
        {"0", "(vector,(0,1,1))"},
        {"0000", "(vector,(0,1,1))"},
        {"0011", "(vector,(0,2,2))"},
        {"001122", "(vector,(0,3,2))"},
        {"01230123", "(vector,(0,4,1))"},
        {"0123012", "(vector,(0,4,1))"},
        {"0001", "(vector,(0,1,3),(1,1,1))"},
        {"2011", "(vector,(2,1,1),(0,1,1),(1,1,2))"},
    };
    int node_of[16];
    char text[64];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int size = (int)strlen(cases[i].nodes);

        for (int rank = 0; rank < size; rank++)
            node_of[rank] = cases[i].nodes[rank] - '0';
        CHECK(mur_pmi_mapping_write(node_of, size, text, sizeof text));
        if (strcmp(text, cases[i].text) != 0) {
            fprintf(stderr, "%s is written as %s, not %s\n", cases[i].nodes, text, cases[i].text);
            failures++;
        }
        CHECK(mur_pmi_mapping_write(node_of, size, text, strlen(cases[i].text) + 1));
        for (size_t bytes = 0; bytes <= strlen(cases[i].text); bytes++)
            CHECK(!mur_pmi_mapping_write(node_of, size, text, bytes));
    }
    CHECK(!mur_pmi_mapping_write(node_of, 0, text, sizeof text));
}

/* By blocks, in turns, by random runs, or anyhow. */
static void place(int *node_of, int size)
{
    unsigned nodes = 1 + below(6), block = 1 + below(5), kind = below(4);

    for (int rank = 0; rank < size; rank++)
        if (kind == 0)
            node_of[rank] = (int)((unsigned)rank / block % nodes);
        else if (kind == 1)
            node_of[rank] = (int)((unsigned)rank % nodes);
        else if (kind == 2 && rank > 0 && below(4))
            node_of[rank] = node_of[rank - 1];
        else
            node_of[rank] = (int)below(nodes);
}

static void test_round_trips(void)
{
    int node_of[MOST], again[MOST];
    char text[MOST * 12];

    for (int round = 0; round < 20000; round++) {
        int size = 1 + (int)below(MOST);

        place(node_of, size);
        CHECK(mur_pmi_mapping_write(node_of, size, text, sizeof text) && mur_pmi_mapping_read(text, size, again) &&
              memcmp(node_of, again, (size_t)size * sizeof *again) == 0);
    }
}

static void test_noise(void)
{
    static const char alphabet[] = "0123456789(((),,,,[[]]xx";
    int node_of[MOST + 1];
    char text[64];

    for (int round = 0; round < 300000; round++) {
        size_t length = below(40);
        int size = 1 + (int)below(MOST);

        strcpy(text, below(8) ? "(vector," : "");
        for (size_t i = strlen(text), end = i + length; i < end; i++) {
            text[i] = alphabet[below(sizeof alphabet - 1)];
            text[i + 1] = '\0';
        }
        if (below(2))
            strcat(text, ")");
        node_of[size] = 12345;
        if (mur_pmi_mapping_read(text, size, node_of))
            for (int rank = 0; rank < size; rank++)
                CHECK(node_of[rank] >= 0);
        CHECK(node_of[size] == 12345);
    }
}

/* Any text survives escaping, and the escaped one is a word of both protocols. */
static void test_escape(void)
{
    char text[64], *escaped;

    for (int round = 0; round < 20000; round++) {
        size_t length = below(60);

        for (size_t i = 0; i < length; i++)
            text[i] = (char)(1 + below(255));
        text[length] = '\0';
        escaped = mur_pmi_escape(text);
        CHECK(!strpbrk(escaped, " \n;\\\t"));
        mur_pmi_unescape(escaped);
        CHECK(strcmp(escaped, text) == 0);
        free(escaped);
    }
    strcpy(text, "plain#1$%zz%4%");
    mur_pmi_unescape(text);
    CHECK(strcmp(text, "plain#1$%zz%4%") == 0);
}

int main(void)
{
    unit_start();
    test_texts();
    test_writer();
    test_round_trips();
    test_noise();
    test_escape();
    return unit_end();
}
