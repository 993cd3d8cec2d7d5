/* The values of arguments that a session holds (`dwell record --values`). */
#ifndef DWELL_TRACE_RECORDED_VALUES_H
#define DWELL_TRACE_RECORDED_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwell/format.h"

struct session_file;

/* The name of one of an enumeration's values. */
struct value_name {
    uint64_t value; /* extended to 64 bits as in rows */
    size_t order;   /* of the source */
    char *name;
};

struct recorded_value {
    char name[DWELL_VALUES_NAME]; /* as the user typed it */
    enum dwell_value_kind kind;
    uint8_t bytes;
    bool result;
    struct value_name *names; /* of an enumeration, in order */
    size_t name_count;
    bool unsigned_enum;
    bool flags; /* its values are combined: value_names.h */
};

/* A call of a probe that reads values. */
struct recorded_site {
    uint32_t function; /* index in recorded_values.functions */
    bool exit;         /* it reads results */
};

/* A function whose values were recorded. */
struct recorded_function {
    char *path; /* of its module */
    uint8_t *build_id;
    size_t build_id_length; /* zero if it has none */
    uint64_t offset;
    struct recorded_value values[DWELL_VALUES_MOST];
    uint32_t value_count;
    uint64_t rows; /* calls; in mode ring, their events may have been replaced */
};

/* The values of a call. */
struct recorded_row {
    uint32_t thread;   /* serial number */
    uint32_t function; /* index in recorded_values.functions */
    uint64_t time;     /* of the enter, in ticks */
    uint32_t unread;   /* a bit for each value that could not be read */
    uint32_t word_count;
    const uint64_t *words;
    bool exit;      /* only while they are read: the row of an exit, which is added to that of its enter */
    uint32_t chunk; /* the same: index in recorded_values.chunks */
    uint32_t results_unread;
    const uint64_t *results; /* words; NULL if the call has no row of an exit */
};

/* A call whose values cannot be told, as its function is in a later plan. */
struct recorded_later {
    uint32_t thread;
    uint64_t time;
};

struct recorded_values {
    struct recorded_function *functions;
    size_t function_count, function_room;
    struct recorded_site *sites;
    size_t site_count, site_room;
    struct recorded_row *rows; /* by thread and time */
    size_t row_count, row_room;
    uint8_t **chunks; /* what the rows point to */
    size_t chunk_count, chunk_room;
    size_t damaged_chunks;
    struct recorded_later *later; /* only while rows are read */
    size_t later_count, later_room;
    uint64_t later_calls; /* of functions that a command has added to the plan since the session was opened */
};

/* Nothing if the session has none, or if they are withheld. */
struct recorded_values recorded_values_read(const struct session_file *file);

/* The functions alone, with the numbers of their rows. */
struct recorded_values recorded_values_list(const struct session_file *file);

/* The functions of a plan chunk of `end` bytes, without rows. */
struct recorded_values recorded_values_of_plan(const uint8_t *plan, size_t end);

/* Whether what this program prints goes to somebody who must not see them: RECORDED_VALUES_WITHHELD is set. */
#define RECORDED_VALUES_WITHHELD "DWELL_WITHHOLD_VALUES"
bool recorded_values_are_withheld(void);

void recorded_values_free(struct recorded_values *values);

/* The bytes of a text, by its first word. */
static inline size_t recorded_text_length(const uint64_t *words)
{
    return *words & (DWELL_VALUES_CUT - 1);
}

/* The words of a row's value; NULL if it could not be read. Of a text, the first one is its length. */
const uint64_t *recorded_value_words(const struct recorded_values *values, const struct recorded_row *row,
                                     uint32_t value);

/* The rows of the calls that a thread has entered at that time. */
const struct recorded_row *recorded_values_at(const struct recorded_values *values, uint32_t thread, uint64_t time,
                                              size_t *count);

#endif
