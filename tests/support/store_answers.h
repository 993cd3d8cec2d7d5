/* A prepared server that answers the questions to a fleet's store, and the rows of its answers. */
#ifndef DWELL_TESTS_STORE_ANSWERS_H
#define DWELL_TESTS_STORE_ANSWERS_H

#include "fleet/binary.h"
#include "fleet/schema.h"
#include "fleet/store_answer.h"
#include "support/http_stub.h"

#define ANSWERS_COLUMN(name, add) +1
enum {
    ANSWERS_MOST = 12,
    OWN_NUMBERS = 0 FLEET_OWN_COLUMNS(ANSWERS_COLUMN),
    INCLUSIVE_NUMBERS = 0 FLEET_INCLUSIVE_COLUMNS(ANSWERS_COLUMN, function_)
};

#define ANSWER_WRONG "its answer is incomplete or wrong"

struct answers {
    struct http_stub *stub;
    struct fleet_store store;
    char *texts[ANSWERS_MOST];
    size_t lengths[ANSWERS_MOST], count;
};

/* Starts a server that gives these answers, one after the other. */
void answers_start(struct answers *a, const struct binary_rows *rows, size_t count);
void answers_stop(struct answers *a);

/* Checks that a question succeeded, or failed with a message that has this text, and drops the message. */
void answers_check(bool good, struct error *error, const char *expected);

void answers_drop_rows(struct binary_rows *rows, size_t count);

/* Rows of names: of a module at /bin/shop, and of a function in line 3 of main. */
void answers_put_module(struct binary_rows *rows, uint64_t module);
void answers_put_function(struct binary_rows *rows, uint64_t module, uint64_t address, uint64_t function,
                          const char *name);

/* The amounts of a row: each number is `number`, and no time is estimated. */
void answers_put_own(struct binary_rows *rows, uint64_t number);
void answers_put_inclusive(struct binary_rows *rows, uint64_t number);

#endif
