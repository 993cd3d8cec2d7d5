/* Creates a SQLite database under a temporary name, inserts rows, and renames it when complete. After a failed step,
 * later steps do nothing. */
#include "export/database.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/leftovers.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "trace/read_error.h"
#include "trace/session_file.h"

/* True if a step has failed. Later steps then do nothing. */
static bool database_has_failed(const struct database *d)
{
    return d->error->text != NULL;
}

static void database_fail(struct database *d)
{
    error_set(d->error, "%s: %s", d->path, d->sqlite ? sqlite3_errmsg(d->sqlite) : "out of memory");
}

/* Creates the file with the permissions of the user's umask. */
static bool database_make_file(struct database *d)
{
    struct stat status;
    if (stat(d->path, &status) == 0 && !S_ISREG(status.st_mode))
        return error_set(d->error, "%s: is not a regular file", d->path);
    char *unfinished = need_text("%s.XXXXXX", d->path);
    leftover_add(unfinished);
    const int fd = mkstemp(unfinished);
    if (fd < 0) {
        leftover_forget(unfinished);
        error_set(d->error, "%s: %s", d->path, strerror(errno));
        free(unfinished);
        return false;
    }
    d->unfinished = unfinished;
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
    close(fd);
    return true;
}

struct database database_begin(const char *path, struct error *error)
{
    struct database d = { .path = path, .error = error };
    if (!database_make_file(&d))
        return d;
    if (sqlite3_open_v2(d.unfinished, &d.sqlite, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        database_fail(&d);
    /* No journal is needed: only this process uses the unfinished database, and removes it after a failure. */
    database_run(&d, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; BEGIN;");
    return d;
}

void database_run(struct database *d, const char *sql)
{
    if (!database_has_failed(d) && sqlite3_exec(d->sqlite, sql, NULL, NULL, NULL) != SQLITE_OK)
        database_fail(d);
}

sqlite3_stmt *database_prepare(struct database *d, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (!database_has_failed(d) && sqlite3_prepare_v2(d->sqlite, sql, -1, &statement, NULL) != SQLITE_OK)
        database_fail(d);
    return statement;
}

static int database_bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    return text ? sqlite3_bind_text(statement, at, utf8_repair(text), -1, free) : sqlite3_bind_null(statement, at);
}

static int database_bind_number(sqlite3_stmt *statement, int at, int64_t number, char kind)
{
    return kind == 'i' || (kind == 'z' && number) ? sqlite3_bind_int64(statement, at, number)
                                                  : sqlite3_bind_null(statement, at);
}

static bool database_bind(sqlite3_stmt *statement, const char *kinds, va_list values)
{
    for (int i = 0; kinds[i]; i++) {
        int result;
        if (kinds[i] == 't')
            result = database_bind_text(statement, i + 1, va_arg(values, const char *));
        else if (kinds[i] == 'r')
            result = sqlite3_bind_double(statement, i + 1, va_arg(values, double));
        else
            result = database_bind_number(statement, i + 1, va_arg(values, int64_t), kinds[i]);
        if (result != SQLITE_OK)
            return false;
    }
    return true;
}

static void database_end_row(struct database *d, sqlite3_stmt *statement, bool bound)
{
    if (!bound || sqlite3_step(statement) != SQLITE_DONE)
        database_fail(d);
    sqlite3_reset(statement);
}

void database_insert(struct database *d, sqlite3_stmt *statement, const char *kinds, ...)
{
    va_list values;
    if (database_has_failed(d))
        return;
    va_start(values, kinds);
    const bool bound = database_bind(statement, kinds, values);
    va_end(values);
    database_end_row(d, statement, bound);
}

void database_insert_numbers(struct database *d, sqlite3_stmt *statement, const char *kinds, const int64_t *numbers)
{
    bool bound = true;
    if (database_has_failed(d))
        return;
    for (int i = 0; kinds[i]; i++)
        bound &= database_bind_number(statement, i + 1, numbers[i], kinds[i]) == SQLITE_OK;
    database_end_row(d, statement, bound);
}

static void database_put_in_place(struct database *d)
{
    const int unread = read_error_take_any();
    if (unread) {
        error_set(d->error, "a part of the session could not be read: %s", strerror(unread));
        return;
    }
    if (sqlite3_close(d->sqlite) != SQLITE_OK) {
        database_fail(d);
        return;
    }
    d->sqlite = NULL;
    if (rename(d->unfinished, d->path) < 0)
        error_set(d->error, "%s: %s", d->path, strerror(errno));
}

bool database_end(struct database *d)
{
    database_run(d, "COMMIT");
    if (!database_has_failed(d))
        database_put_in_place(d);
    const bool good = !database_has_failed(d);
    sqlite3_close_v2(d->sqlite);
    if (!good && d->unfinished)
        unlink(d->unfinished);
    if (d->unfinished)
        leftover_forget(d->unfinished);
    free(d->unfinished);
    return good;
}
