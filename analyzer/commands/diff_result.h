/* What dwell diff and dwell fleet diff share: the options of a comparison, and its output. */
#ifndef DWELL_COMMANDS_DIFF_RESULT_H
#define DWELL_COMMANDS_DIFF_RESULT_H

#include "commands/exponent_gate.h"
#include "commands/option_table.h"
#include "commands/shared_options.h"
#include "report/diff_formats.h"

struct diff_result {
    const struct shared_options *shared;
    struct diff_options options; /* diff_result_finish sets `min` and `limit` */
    bool usual_sort;             /* it sets `sort`, too */
    struct gate *gates;
    size_t gate_count, gate_room;
    struct exponent_gates exponents;
    diff_printer *print; /* of a format for continuous integration; NULL for the common formats */
    struct diff_sources sources;
};

/* Its value before the options are read; `others` are those that commands share. */
#define DIFF_RESULT(others)                                                                                            \
    {                                                                                                                  \
        .shared = (others), .usual_sort = true, .options.large.percent = 1                                             \
    }

/* The formats beside text, csv and json. */
#define DIFF_FORMATS "markdown github junit"

/* What --by may say; the values are those of enum diff_by. */
extern const struct option_word diff_ways[];

/* READ_INTO a struct diff_result: adds a condition of --fail-if. Ends the program if it is none. */
void diff_result_add_gate(void *settings, const struct option_row *row, char *text);

/* For struct command_line: the formats, the order and the columns of a comparison. */
bool diff_result_read_shared(struct diff_result *r, enum shared_option option, const char *argument);

/* Whether the options name percentiles: then the sessions have to be loaded with durations. */
bool diff_result_wants_percentiles(const struct diff_result *r);

/* Ends the program if the options contradict each other. */
void diff_result_check(const struct diff_result *r);

/* Keeps the places of a session's functions if the format needs them. The session has been added to the comparison. */
void diff_result_add_sources(struct diff_result *r, const struct diff *d, const struct analysis *session);

/* Keeps what conditions on exponents need of a session. */
void diff_result_add_values(struct diff_result *r, enum diff_side side, const struct analysis *session);

/* Judges the comparison and prints it. `first` names its first session in messages. Returns the exit status. Ends the
 * program if the sessions lack a value that the options name. */
int diff_result_finish(struct diff_result *r, struct diff *d, const char *first);

void diff_result_drop(struct diff_result *r);

#endif
