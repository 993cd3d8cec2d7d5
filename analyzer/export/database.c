#include "export/database.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/message.h"
#include "base/utf8.h"

static void __attribute__((noreturn)) database_fail(struct database *d)
{
    char *why = strdup(d->sqlite ? sqlite3_errmsg(d->sqlite) : "out of memory");
    sqlite3_close_v2(d->sqlite);
    unlink(d->unfinished);
    die(STATUS_ERROR, "%s: %s", d->path, why ? why : "out of memory");
}

/* As any other new file: readable by whom the user lets read. */
static void database_make_file(struct database *d)
{
    struct stat status;
    if (stat(d->path, &status) == 0 && !S_ISREG(status.st_mode))
        die(STATUS_ERROR, "%s: is not a regular file", d->path);
    d->unfinished = need_text("%s.XXXXXX", d->path);
    const int fd = mkstemp(d->unfinished);
    if (fd < 0)
        die(STATUS_ERROR, "%s: %s", d->path, strerror(errno));
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
    close(fd);
}

struct database database_begin(const char *path)
{
    struct database d = { .path = path };
    database_make_file(&d);
    if (sqlite3_open_v2(d.unfinished, &d.sqlite, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        database_fail(&d);
    /* Until it is whole it is nobody's, and nobody needs it back. */
    database_run(&d, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; BEGIN;");
    return d;
}

void database_run(struct database *d, const char *sql)
{
    if (sqlite3_exec(d->sqlite, sql, NULL, NULL, NULL) != SQLITE_OK)
        database_fail(d);
}

sqlite3_stmt *database_prepare(struct database *d, const char *sql)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(d->sqlite, sql, -1, &statement, NULL) != SQLITE_OK)
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

void database_insert(struct database *d, sqlite3_stmt *statement, const char *kinds, ...)
{
    va_list values;
    va_start(values, kinds);
    for (int i = 0; kinds[i]; i++) {
        const int result = kinds[i] == 't' ? database_bind_text(statement, i + 1, va_arg(values, const char *))
                                           : database_bind_number(statement, i + 1, va_arg(values, int64_t), kinds[i]);
        if (result != SQLITE_OK)
            database_fail(d);
    }
    va_end(values);
    if (sqlite3_step(statement) != SQLITE_DONE)
        database_fail(d);
    sqlite3_reset(statement);
}

void database_end(struct database *d)
{
    database_run(d, "COMMIT");
    if (sqlite3_close(d->sqlite) != SQLITE_OK)
        database_fail(d);
    d->sqlite = NULL;
    if (rename(d->unfinished, d->path) < 0) {
        const int error = errno;
        unlink(d->unfinished);
        die(STATUS_ERROR, "%s: %s", d->path, strerror(error));
    }
    free(d->unfinished);
}
