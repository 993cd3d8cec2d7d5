/* A new SQLite database. It is made under a temporary name and renamed when it is complete. */
#ifndef DWELL_EXPORT_DATABASE_H
#define DWELL_EXPORT_DATABASE_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/error.h"

struct database {
    sqlite3 *sqlite;
    const char *path;
    char *unfinished; /* temporary name; NULL if the file could not be made */
    struct error *error;
};

/* Begins a database. The first failure sets the error; later calls then do nothing. */
struct database database_begin(const char *path, struct error *error);
void database_run(struct database *d, const char *sql);
sqlite3_stmt *database_prepare(struct database *d, const char *sql);

/* Renames the database to its path. If that or an earlier step fails, keeps the old file and returns false. */
bool database_end(struct database *d);

/* Runs a statement with values. `kinds` has a letter for each value. `i`, `z` and `n` are int64_t, `r` is a double. `t`
 * is a text of any bytes, or NULL. A text is stored as UTF-8. `z` is stored as NULL if it is 0, `n` always. */
void database_insert(struct database *d, sqlite3_stmt *statement, const char *kinds, ...);

/* Runs a statement with numbers by `kinds`, the same letters without t. */
void database_insert_numbers(struct database *d, sqlite3_stmt *statement, const char *kinds, const int64_t *numbers);

#endif
