/* The tables that all threads of a Firefox profile share: strings, stacks, frames, functions, modules and sources. */
#ifndef DWELL_EXPORT_FIREFOX_TABLES_H
#define DWELL_EXPORT_FIREFOX_TABLES_H

#include <stdio.h>

#include "analysis/order.h"
#include "base/intern.h"

/* Categories of samples, which set their colours. */
enum firefox_category {
    FIREFOX_OTHER, /* unknown */
    FIREFOX_APPLICATION,
    FIREFOX_SYSTEM,
    FIREFOX_IDLE,
    FIREFOX_PREEMPTED,
    FIREFOX_CATEGORIES
};

struct firefox_tables {
    const struct analysis *session;
    const struct order *order;
    struct intern strings;
    struct firefox_row {
        uint32_t parent_plus_1;
        uint32_t frame; /* function * FIREFOX_CATEGORIES + category */
    } * stacks;
    size_t stack_count, stack_room;
    struct number_index *stack_index;
};

struct firefox_tables firefox_tables_begin(const struct analysis *session, const struct order *order);
void firefox_tables_end(struct firefox_tables *tables);

uint32_t firefox_string(struct firefox_tables *tables, const char *text);

/* Returns 1 + the number of the stack that has the function on top of another stack. `parent_plus_1` is 1 + the other
 * stack's number. It is 0 if there is none. */
uint32_t firefox_stack(struct firefox_tables *tables, uint32_t parent_plus_1, uint32_t function,
                       enum firefox_category category);

/* Write "libs":[...] and "shared":{...}. The latter must be written last. */
void firefox_write_libs(const struct firefox_tables *tables, FILE *out);
void firefox_write_shared(struct firefox_tables *tables, FILE *out);

#endif
