/* The steps that the questions of answer.h share: names, the rows of sums and of call paths, and the summary. */
#ifndef DWELL_FLEET_ANSWER_PART_H
#define DWELL_FLEET_ANSWER_PART_H

#include "base/index.h"
#include "fleet/store_answer.h"
#include "fleet/sum_rows.h"

/* A module and a function that the store knows. An analysis gets them with the first row that has them. */
struct answer_module {
    char *path, *build_id;
    size_t build_id_length;
    uint32_t number; /* in the profile; PROFILE_NONE before that */
};
struct answer_name {
    uint64_t module, address;
    struct function_name name;
};

struct answer {
    const struct fleet_store *store;
    struct error *error;
    struct analysis *analysis; /* that is made of the answer */
    char *rows;                /* the condition of the rows that count, in SQL */
    char *place; /* in SQL, if there is an analysis of each run: the place of a row's run, from 1. NULL otherwise */
    char *modules_named, *functions_named; /* those whose names are wanted, as conditions in SQL */
    struct answer_module *modules;
    size_t module_count, module_room;
    struct answer_name *names; /* by module and address */
    size_t name_count, name_room;
    struct number_index *module_places; /* from the store's number of a module to its place in `modules` */
    struct number_index *places;        /* from a module and address to their place in `names` */
    struct number_index *functions;     /* from a function's number to that of its copy with the lowest address */
};

/* Begins to ask about these runs, for one analysis of all or for one of each. */
struct answer answer_begin(const struct fleet_store *store, const struct fleet_run *runs, size_t count, bool each,
                           struct error *error);
void answer_forget(struct answer *a);

/* Begins an analysis of runs. */
void answer_open(struct answer *a, struct analysis *analysis, const struct fleet_run *runs, size_t count);
void answer_summarize(struct analysis *analysis, const struct fleet_run *runs, size_t count);

/* Ends the questions. The analysis is dropped if they failed. */
bool answer_finish(struct answer *a, bool good);

/* Closes the answer after its last row. An answer that is a row short is no answer. */
bool answer_end(const struct answer *a, struct binary_reader *r);

/* ---- names ---- */

/* Wants the names of all rows that count. The server reads all sums for each list. */
void answer_want_all(struct answer *a);

/* Wants the names of an answer's rows. A row has `before` bytes, a module, a function, and `after` bytes. Then the
 * answer can be read from its beginning. */
void answer_want_rows(struct answer *a, FILE *answer, size_t before, size_t after);

bool answer_read_modules(struct answer *a);
bool answer_read_functions(struct answer *a);

/* The module or the function of the profile. A new one takes its name from the store's. */
uint32_t answer_module(struct answer *a, uint64_t number);
uint32_t answer_function(struct answer *a, uint64_t module, uint64_t address);
/* The function of a number, by its copy with the lowest address. */
uint32_t answer_numbered(struct answer *a, uint64_t module, uint64_t number);

/* The value of a number; PROFILE_NONE if there is none. */
uint32_t answer_find(const struct number_index *index, uint64_t key);
/* Sets it unless there is one. */
void answer_keep(struct number_index *index, uint64_t key, uint32_t value);

/* ---- rows ---- */

#define ANSWER_COLUMN(name, add) +1
/* Bytes of a row of sums after the module and the function: each column has 8. */
enum {
    ANSWER_SUMS_BYTES = 8 * (FLEET_OWN_COLUMNS(ANSWER_COLUMN) + 1 FLEET_INCLUSIVE_COLUMNS(ANSWER_COLUMN, function_) + 1)
};

/* Asks for the sums of functions or modules. Rows begin with their run's place, of 8 bytes, if there is an analysis of
 * each run. They are sorted by it. */
FILE *answer_ask_sums(const struct answer *a, enum rollup_by by);

/* A row of sums after the place. */
struct answer_sum {
    uint64_t module, function; /* both zero: of threads. By module, both are the module. */
    struct fleet_amounts amounts;
};
struct answer_sum answer_get_sum(struct binary_reader *r, enum rollup_by by);

/* Adds a row to the session, and to the profile unless it is of threads. */
void answer_add_sum(struct answer *a, const struct answer_sum *sum, enum rollup_by by, struct times *session);

/* Gives the analysis the sums of all its rows. */
void answer_close_sums(struct analysis *analysis, const struct times *session);

/* Asks for call paths, as answer_ask_sums. Callers come before what they call. A path of a single run has a row for
 * each of its threads. */
FILE *answer_ask_paths(const struct answer *a);

/* Reads a path after the place. `nodes` has those that were read, by number of the path. False, with an error unless
 * the reader is broken, if the path cannot be. */
bool answer_read_path(struct answer *a, struct binary_reader *r, uint32_t root, struct number_index *nodes);

/* ---- durations of calls ---- */

/* How many of the runs have them in the store. */
size_t answer_count_durations(const struct fleet_run *runs, size_t count);

/* Asks for those of functions or of paths. Rows begin with their run's place, as those of sums do. */
FILE *answer_ask_durations(const struct answer *a, bool by_path);

/* Adds a row after the place: to a function, as if it were a path, or to one of the paths that were read before. */
void answer_read_function_duration(struct answer *a, struct binary_reader *r);
void answer_read_path_duration(struct answer *a, struct binary_reader *r, const struct number_index *nodes);

/* Adds those of all runs together. Asks for none if no run has any. */
bool answer_read_function_durations(struct answer *a, const struct fleet_run *runs, size_t count);
bool answer_read_path_durations(struct answer *a, const struct fleet_run *runs, size_t count,
                                const struct number_index *nodes);

/* Those of some functions, by a key that is an expression in SQL. `functions` is a condition. */
FILE *answer_ask_part_durations(const struct answer *a, const char *key, const char *functions);

/* A counter of a function by a key. */
struct answer_part_counter {
    uint64_t module, number, key, counter, calls, ns;
};
struct answer_part_counter answer_get_part_counter(struct binary_reader *r);

/* Adds it. False if there is no such counter. */
bool answer_add_part_counter(struct durations **d, const struct answer_part_counter *c);

/* Says of how many runs durations are known. The summary must be there. */
void answer_judge_durations(struct analysis *analysis, const struct fleet_run *runs, size_t count);

#endif
