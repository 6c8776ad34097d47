/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects and journal in SQLite: see base.h. One table has the objects as JSON, the other the changes. */
#include "mpijob/server/base.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "launch/say.h"

enum { KEPT = 4000, TRIM = 500 }; /* changes in the journal; so many are let go at once */

static const char tables[] =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
    "CREATE TABLE IF NOT EXISTS objects (resource TEXT, space TEXT, name TEXT, uid TEXT, owners TEXT, body TEXT,"
    " PRIMARY KEY (resource, space, name)) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS uids ON objects (uid);"
    "CREATE TABLE IF NOT EXISTS journal (version INTEGER PRIMARY KEY, type TEXT, resource TEXT, space TEXT,"
    " before TEXT, after TEXT);";

enum statement { GET, LIST, LIST_ALL, OWNED, UID, ANY, PUT, REMOVE, NOTE, CHANGES, TRIM_JOURNAL, STATEMENTS };
static const char *const texts[STATEMENTS] = {
    [GET] = "SELECT body FROM objects WHERE resource = ?1 AND space = ?2 AND name = ?3",
    [LIST] = "SELECT body FROM objects WHERE resource = ?1 AND space = ?2 ORDER BY name",
    [LIST_ALL] = "SELECT body FROM objects WHERE resource = ?1 ORDER BY space, name",
    [OWNED] = "SELECT body FROM objects WHERE instr(owners, ?1) > 0",
    [UID] = "SELECT 1 FROM objects WHERE uid = ?1",
    [ANY] = "SELECT 1 FROM objects WHERE space = ?1 LIMIT 1",
    [PUT] = "INSERT OR REPLACE INTO objects VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    [REMOVE] = "DELETE FROM objects WHERE resource = ?1 AND space = ?2 AND name = ?3",
    [NOTE] = "INSERT INTO journal VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    [CHANGES] = "SELECT version, type, before, after, space FROM journal WHERE version > ?1 AND resource = ?2 "
                "ORDER BY version",
    [TRIM_JOURNAL] = "DELETE FROM journal WHERE version <= ?1",
};

/* The one database of this process. */
static struct {
    sqlite3 *file;
    sqlite3_stmt *statements[STATEMENTS];
    long long version, oldest;
} base;

static long long ask_number(const char *text)
{
    sqlite3_stmt *statement;
    long long number = 0;

    if (sqlite3_prepare_v2(base.file, text, -1, &statement, NULL) != SQLITE_OK)
        mur_quit(MUR_EXIT_TROUBLE, "the database cannot be read: %s", sqlite3_errmsg(base.file));
    if (sqlite3_step(statement) == SQLITE_ROW)
        number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

void mur_base_open(const char *path)
{
    char *why = NULL;

    if (sqlite3_open(path, &base.file) != SQLITE_OK || sqlite3_exec(base.file, tables, NULL, NULL, &why) != SQLITE_OK)
        mur_quit(MUR_EXIT_TROUBLE, "the database %s cannot be opened: %s", path, why ? why : sqlite3_errmsg(base.file));
    for (int i = 0; i < STATEMENTS; i++)
        if (sqlite3_prepare_v3(base.file, texts[i], -1, SQLITE_PREPARE_PERSISTENT, &base.statements[i], NULL) !=
            SQLITE_OK)
            mur_quit(MUR_EXIT_TROUBLE, "the database %s is not one of mpijob: %s", path, sqlite3_errmsg(base.file));
    base.version = ask_number("SELECT max(version) FROM journal");
    base.oldest = ask_number("SELECT min(version) FROM journal") - 1;
    if (base.oldest < 0)
        base.oldest = 0;
}

void mur_base_close(void)
{
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(base.statements[i]);
    sqlite3_close(base.file);
}

long long mur_base_version(void)
{
    return base.version;
}

long long mur_base_oldest(void)
{
    return base.oldest;
}

/* The statement with its texts bound; NULLs are left out. */
static sqlite3_stmt *bind(enum statement which, const char *first, const char *second, const char *third)
{
    sqlite3_stmt *statement = base.statements[which];
    const char *parts[] = {first, second, third};

    sqlite3_reset(statement);
    for (int i = 0; i < 3; i++)
        if (parts[i])
            sqlite3_bind_text(statement, i + 1, parts[i], -1, SQLITE_TRANSIENT);
    return statement;
}

static struct mur_value *read_body(sqlite3_stmt *statement)
{
    struct mur_document_error error;
    const char *text = (const char *)sqlite3_column_text(statement, 0);
    struct mur_value *object = mur_json_read(text, (size_t)sqlite3_column_bytes(statement, 0), &error);

    if (!object)
        mur_say("an object in the database is left out: %s", error.text);
    return object;
}

static struct mur_value *read_all(sqlite3_stmt *statement)
{
    struct mur_value *list = mur_value_new(MUR_LIST), *object;

    while (sqlite3_step(statement) == SQLITE_ROW)
        if ((object = read_body(statement)))
            mur_value_add(list, object);
    sqlite3_reset(statement);
    return list;
}

static bool has_row(sqlite3_stmt *statement)
{
    bool has = sqlite3_step(statement) == SQLITE_ROW;

    sqlite3_reset(statement);
    return has;
}

/* Resources of all groups have names of their own, so the plural is the key. */
struct mur_value *mur_base_get(const struct mur_resource *resource, const char *space, const char *name)
{
    sqlite3_stmt *statement = bind(GET, resource->plural, space, name);
    struct mur_value *object = sqlite3_step(statement) == SQLITE_ROW ? read_body(statement) : NULL;

    sqlite3_reset(statement);
    return object;
}

struct mur_value *mur_base_list(const struct mur_resource *resource, const char *space)
{
    if (!*space)
        return read_all(bind(LIST_ALL, resource->plural, NULL, NULL));
    return read_all(bind(LIST, resource->plural, space, NULL));
}

struct mur_value *mur_base_dependents(const char *uid)
{
    return read_all(bind(OWNED, uid, NULL, NULL));
}

bool mur_base_has_uid(const char *uid)
{
    return has_row(bind(UID, uid, NULL, NULL));
}

bool mur_base_is_empty(const char *space)
{
    return !has_row(bind(ANY, space, NULL, NULL));
}

static char *owners_of(const struct mur_value *object)
{
    const struct mur_value *list = mur_value_at(object, "metadata.ownerReferences");
    char *text = NULL;
    size_t length;
    FILE *file = open_memstream(&text, &length);

    for (int i = 0; i < mur_value_count(list); i++)
        fprintf(file, "%s ", mur_value_string(list->members[i].value, "uid", ""));
    fclose(file);
    return text;
}

static bool run(sqlite3_stmt *statement)
{
    bool is_done = sqlite3_step(statement) == SQLITE_DONE;

    sqlite3_reset(statement);
    return is_done;
}

static bool note(const struct mur_resource *resource, const char *type, const char *space, const char *before,
                 const char *after)
{
    sqlite3_stmt *statement = bind(NOTE, NULL, type, resource->plural);

    sqlite3_bind_int64(statement, 1, base.version + 1);
    sqlite3_bind_text(statement, 4, space, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(statement, 5, before, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(statement, 6, after, -1, SQLITE_TRANSIENT);
    return run(statement);
}

static void trim(void)
{
    sqlite3_stmt *statement = base.statements[TRIM_JOURNAL];

    if (base.version - base.oldest < KEPT + TRIM)
        return;
    sqlite3_reset(statement);
    sqlite3_bind_int64(statement, 1, base.version - KEPT);
    if (run(statement))
        base.oldest = base.version - KEPT;
}

static char *old_body(const struct mur_resource *resource, const char *space, const char *name)
{
    sqlite3_stmt *statement = bind(GET, resource->plural, space, name);
    const char *text = sqlite3_step(statement) == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : "";
    char *copy = mur_alloc_text("%s", text);

    sqlite3_reset(statement);
    return copy;
}

static bool change_objects(const struct mur_resource *resource, const struct mur_value *object, const char *type,
                           const char *body)
{
    const char *space = mur_value_string(object, "metadata.namespace", "");
    const char *name = mur_value_string(object, "metadata.name", "");
    sqlite3_stmt *statement;
    char *owners;

    if (strcmp(type, "DELETED") == 0)
        return run(bind(REMOVE, resource->plural, space, name));
    statement = bind(PUT, resource->plural, space, name);
    owners = owners_of(object);
    sqlite3_bind_text(statement, 4, mur_value_string(object, "metadata.uid", ""), -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(statement, 5, owners, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(statement, 6, body, -1, SQLITE_TRANSIENT);
    free(owners);
    return run(statement);
}

/* Object and journal change together or not at all. */
static int change(const struct mur_resource *resource, struct mur_value *object, const char *type)
{
    const char *space = mur_value_string(object, "metadata.namespace", "");
    char *before = old_body(resource, space, mur_value_string(object, "metadata.name", "")), *after;
    bool is_done;

    mur_value_set(object, "metadata.resourceVersion", mur_value_text("%lld", base.version + 1));
    after = mur_json_text(object);
    is_done = sqlite3_exec(base.file, "BEGIN", NULL, NULL, NULL) == SQLITE_OK &&
              change_objects(resource, object, type, after) && note(resource, type, space, before, after) &&
              sqlite3_exec(base.file, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
    free(before);
    free(after);
    if (!is_done) {
        mur_say("the database cannot be written: %s", sqlite3_errmsg(base.file));
        sqlite3_exec(base.file, "ROLLBACK", NULL, NULL, NULL);
        return -1;
    }
    base.version++;
    trim();
    return 0;
}

int mur_base_put(const struct mur_resource *resource, struct mur_value *object, bool is_new)
{
    return change(resource, object, is_new ? "ADDED" : "MODIFIED");
}

int mur_base_remove(const struct mur_resource *resource, struct mur_value *object)
{
    return change(resource, object, "DELETED");
}

void mur_base_changes(const struct mur_resource *resource, const char *space, long long *version,
                      bool (*take)(void *whom, const struct mur_api_change *change), void *whom)
{
    sqlite3_stmt *statement = base.statements[CHANGES];
    bool goes_on = true;

    sqlite3_reset(statement);
    sqlite3_bind_int64(statement, 1, *version);
    sqlite3_bind_text(statement, 2, resource->plural, -1, SQLITE_TRANSIENT);
    while (goes_on && sqlite3_step(statement) == SQLITE_ROW) {
        struct mur_api_change found = {
            sqlite3_column_int64(statement, 0), (const char *)sqlite3_column_text(statement, 1),
            (const char *)sqlite3_column_text(statement, 2), (const char *)sqlite3_column_text(statement, 3)};

        *version = found.version;
        if (!*space || strcmp((const char *)sqlite3_column_text(statement, 4), space) == 0)
            goes_on = take(whom, &found);
    }
    sqlite3_reset(statement);
    if (goes_on)
        *version = base.version;
}
