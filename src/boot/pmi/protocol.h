/* SPDX-License-Identifier: BSD-3-Clause */
/* What a protocol of the PMI client must do, and what the two on the wire share. */
#ifndef MUR_BOOT_PMI_PROTOCOL_H
#define MUR_BOOT_PMI_PROTOCOL_H

#include "boot/pmi/pmi.h"
#include "boot/pmi/words.h"

struct mur_pmi_protocol {
    const char *name;
    int (*put)(struct mur_pmi *pmi, const char *key, const char *value);
    int (*commit)(struct mur_pmi *pmi);
    int (*fence)(struct mur_pmi *pmi);
    int (*get)(struct mur_pmi *pmi, int rank, const char *key, char **value);
    int (*publish)(struct mur_pmi *pmi, const char *service, const char *port);
    int (*unpublish)(struct mur_pmi *pmi, const char *service);
    int (*lookup)(struct mur_pmi *pmi, const char *service, char **port);
    int (*spawn)(struct mur_pmi *pmi, const struct mur_pmi_command *commands, int count,
                 const struct mur_pmi_pair *preputs, int preput_count);
    void (*abort)(struct mur_pmi *pmi, int code, const char *text);
    int (*finalize)(struct mur_pmi *pmi);

    /* PMI-1 and 2 only: one value as it goes over the wire, under a key of the whole job. */
    int (*store)(struct mur_pmi *pmi, const char *key, const char *value);
    int (*fetch)(struct mur_pmi *pmi, const char *key, char **value);
};

extern const struct mur_pmi_protocol mur_pmi_protocol_1, mur_pmi_protocol_2, mur_pmi_protocol_x;

/* Fills rank and size: from the environment, or, in port mode, by telling the launcher the id that it gave. */
int mur_pmi_1_introduce(struct mur_pmi *pmi, const char *port_mode_id);

/* Fill appnum, kvs_name, ... The first two have fd and rank; *speaks_2 tells that the launcher knows PMI-2 only. */
int mur_pmi_1_open(struct mur_pmi *pmi, bool *speaks_2);
int mur_pmi_2_open(struct mur_pmi *pmi);
int mur_pmix_open(struct mur_pmi *pmi);

/* The wire: a command goes out in one write, since Slurm takes what one read gives it for one command. */
int mur_pmi_wire_connect(struct mur_pmi *pmi, const char *address); /* HOST:PORT */
int mur_pmi_wire_send(struct mur_pmi *pmi, const char *command, size_t length);
int mur_pmi_wire_line(struct mur_pmi *pmi, char **line);                 /* the next one, without its newline */
int mur_pmi_wire_bytes(struct mur_pmi *pmi, size_t length, char **text); /* these many, and a NUL behind them */
void mur_pmi_wire_close(struct mur_pmi *pmi);

/* put and get of both wires: values that do not fit into one command go in segments. */
int mur_pmi_segments_put(struct mur_pmi *pmi, const char *key, const char *value);
int mur_pmi_segments_get(struct mur_pmi *pmi, int rank, const char *key, char **value);

/* A text that grows; `failed` remembers that memory ran out, so that only the end is checked. */
struct mur_pmi_text {
    char *at;
    size_t length, size;
    bool failed;
};
void mur_pmi_text_add(struct mur_pmi_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void mur_pmi_text_add_escaped(struct mur_pmi_text *text, const char *value);

int mur_pmi_no_memory(void);
#endif
