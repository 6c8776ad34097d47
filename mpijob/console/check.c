/* SPDX-License-Identifier: BSD-3-Clause */
/* The check of a text as `mpijob validate` makes it, for the form: what the text says, and what is wrong with it. */
#include <string.h>

#include "mpijob/console/console.h"
#include "mpijob/schema/schema.h"

enum { MOST_FINDINGS = 100 };

static void take(void *whom, enum mur_severity severity, int line, const char *text)
{
    static const char *const names[] = {"error", "refused", "note"};
    struct mur_value *list = whom, *finding = mur_value_new(MUR_MAP);

    if (list->count >= MOST_FINDINGS) {
        mur_value_free(finding);
        return;
    }
    mur_value_put(finding, "severity", mur_value_text("%s", names[severity]));
    mur_value_put(finding, "line", mur_value_integer(line));
    mur_value_put(finding, "text", mur_value_text("%s", text));
    mur_value_add(list, finding);
}

void mur_check_act(struct mur_console_visit *visit)
{
    struct mur_value *list = mur_value_new(MUR_LIST), *body = mur_value_new(MUR_MAP), *documents;
    struct mur_findings findings = {.file = "", .tells_use = true, .hides_notes = true, .take = take, .whom = list};
    struct mur_document_error error;

    documents = mur_document_read(visit->body ? visit->body : "", visit->body ? visit->length : 0, &error);
    if (documents)
        mur_documents_check(documents, &findings);
    else
        mur_finding(&findings, MUR_SEVERITY_ERROR, error.line, "%s", error.text);
    mur_value_put(body, "documents", documents ? documents : mur_value_new(MUR_NULL));
    mur_value_put(body, "findings", list);
    mur_visit_answer(visit, 200, body);
}
