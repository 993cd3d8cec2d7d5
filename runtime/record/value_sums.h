/*
 * Mode profile with --values: a call has the node of its values, beside that of its call path. Such a node is like the
 * other one, with the same caller and function, and what is called goes on below it. So its amounts, and those below
 * it, are the sums of these calls. A row of values says which they are (dwell/format_values.h).
 *
 * A call path has at most VALUE_SUMS_OF_PATH such nodes, and a thread VALUE_SUMS_OF_THREAD. Calls with further values
 * share one. A call within another one of its function has none: it belongs to that one.
 */
#ifndef DWELL_VALUE_SUMS_H
#define DWELL_VALUE_SUMS_H

#include "common.h"
#include "dwell/format.h"
#include "grown_table.h"
#include "value_rows.h"

#pragma GCC visibility push(hidden)

struct thread;
struct value_sum_table;
struct value_sum_words;

enum {
    VALUE_SUMS_OF_PATH = 256,
    VALUE_SUMS_OF_THREAD = 4096,
    VALUE_SUMS_WORDS = 128 << 10, /* of all values of a thread */
};

/* In a thread's block. */
struct thread_value_sums {
    struct value_sum_table *table; /* NULL if there is none yet */
    struct grown_table *kept;      /* those of a tree from before a fork: an interrupted probe may look into them */
    struct value_sum_words *words; /* the last block of the values that are kept */
    uint32_t nodes, kept_words;
};

/* Gives the innermost call, which was entered just now, the node of its values. Signals need not be held back. */
void value_sums_enter(struct thread *t, const struct value_row *row);

/* The thread's call tree begins, perhaps in a forked child: forgets the nodes. Signals are held back in both. */
void value_sums_begin(struct thread *t);
void value_sums_end(struct thread *t);

#pragma GCC visibility pop

#endif
