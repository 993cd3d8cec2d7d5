/* A new SQLite database. It is made under a temporary name and renamed when it is complete. */
#ifndef DWELL_EXPORT_DATABASE_H
#define DWELL_EXPORT_DATABASE_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/error.h"

struct database {
    sqlite3 *sqlite;
    const char *path;
    char *unfinished; /* the file until it is whole; NULL if it could not be made */
    struct error *error;
};

/* Begins a database whose first failure sets the error; what is called after that does nothing. */
struct database database_begin(const char *path, struct error *error);
void database_run(struct database *d, const char *sql);
sqlite3_stmt *database_prepare(struct database *d, const char *sql);

/* Puts the database in its place. Where that or any step before failed, leaves nothing behind, replaces nothing and
 * returns false. */
bool database_end(struct database *d);

/* Runs a statement with values. `kinds` has a letter for each: i is an int64_t; z an int64_t that becomes NULL if it is
 * 0; n an int64_t that always becomes NULL; t a text of any bytes, which becomes UTF-8, or NULL. */
void database_insert(struct database *d, sqlite3_stmt *statement, const char *kinds, ...);

/* Runs a statement with numbers by `kinds`, the same letters without t. */
void database_insert_numbers(struct database *d, sqlite3_stmt *statement, const char *kinds, const int64_t *numbers);

#endif
