/* A ClickHouse server that holds a fleet's profiles: where it is, and questions to it. */
#ifndef DWELL_FLEET_STORE_H
#define DWELL_FLEET_STORE_H

#include <stdint.h>
#include <stdio.h>

#include "fleet/binary.h"
#include "fleet/http.h"

struct fleet_store {
    char *url;             /* http://HOST:PORT */
    char *user, *password; /* NULL if there are none */
    char *database;
    char *ca;                 /* file of the authorities' certificates; NULL: those of the system */
    unsigned tries;           /* of a request */
    unsigned long first_wait; /* in milliseconds, before the second try; each later one is twice as long */
    bool plain;               /* questions carry no settings: the user's profile is readonly (fleet_check_version) */
    const bool *cancelled;    /* once it is true, requests fail; NULL: they are never cancelled */
};

/* Fills what is still NULL: from DWELL_FLEET_URL, _USER, _PASSWORD, _DATABASE and _CA, then from ~/.config/dwell/fleet,
 * then by default. It is an error if no URL is known, if a file cannot be read, or if the URL holds a password. */
bool fleet_store_find(struct fleet_store *store, struct error *error);

/* Reads the password from the first line of a file. */
bool fleet_store_read_password(struct fleet_store *store, const char *path, struct error *error);

void fleet_store_drop(struct fleet_store *store);

/* Asks in SQL, in the format of printf, and returns the answer, to be read from its beginning. The question is repeated
 * if it fails in a way that may pass, so it must not change anything. Returns NULL if it fails. */
FILE *fleet_ask(const struct fleet_store *store, struct error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Closes an answer that was read. False, with an error, if the reader is broken: it ended early, or cannot be. */
bool fleet_end_answer(const struct fleet_store *store, struct binary_reader *r, struct error *error);

/* Lets the server run a statement that may be repeated, such as CREATE TABLE IF NOT EXISTS. */
bool fleet_run(const struct fleet_store *store, struct error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Inserts rows in the format RowBinary into a table. `prepare` is called before each try with its number, from 0: an
 * earlier try may have inserted some or all rows, so those of each try must be told apart. */
typedef void fleet_prepare(void *context, unsigned attempt);
bool fleet_insert(const struct fleet_store *store, const char *table, const void *rows, size_t length,
                  fleet_prepare *prepare, void *context, struct error *error);

/* A text as an expression of SQL: its bytes in hexadecimal digits, so that no text can be more than a text. The caller
 * frees it. */
char *fleet_sql_text(const char *text);

#endif
