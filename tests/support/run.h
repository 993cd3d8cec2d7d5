/* Runs programs as a user would, from a shell, in the test's own folder. */
#ifndef DWELL_TESTS_RUN_H
#define DWELL_TESTS_RUN_H

#include <stdbool.h>
#include <stdint.h>

struct ran {
    int status;      /* exit status, or -signal */
    char *out, *err; /* what it printed; freed by ran_drop */
};

/* A shell command, printf-formatted, with the test's folder as working directory; $DWELL is the program under test,
 * $RUNTIME its libdwell.so, $SAMPLES and $PROGRAMS the folders of what it is tried on. */
struct ran run(const char *format, ...) __attribute__((format(printf, 1, 2)));
void ran_drop(struct ran *r);

/* As run, but fails the test unless the status is zero; returns what was printed, to be freed. */
char *run_well(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As a suite's .init: its recordings hold the instrumented functions alone, which it counts. */
void without_os_calls(void);

/* Whether `text` holds `part`. */
bool has(const char *text, const char *part);

/* The number behind `name` in the program's own lines "calls NAME NUMBER"; fails the test if there is none. */
uint64_t truth(const char *out, const char *name);

/* `dwell report --format json`, parsed. */
struct report;
struct report *report_of(const char *arguments);
void report_drop(struct report *r);
/* The sum of a key over the rows whose `by` is `name`; all rows if name is NULL. */
uint64_t report_sum(const struct report *r, const char *by, const char *name, const char *key);
/* Whether that key is null in the first such row. */
bool report_null(const struct report *r, const char *by, const char *name, const char *key);
uint64_t report_session(const struct report *r, const char *key);

/* Every line "calls NAME NUMBER" of a program's output, of which there are `least` or more, must be the report's calls
 * of that function. The name may hold blanks. */
void check_counts(const char *out, const struct report *r, int least);

/* The rows' exclusive times add up to the session's inclusive ones. In ticks they do so exactly, which the tests of the
 * time model show; here each row has been rounded to a nanosecond. */
void check_sums(const struct report *r, const char *by);

/* Path of each row of `dwell tree` with its calls, like "main/a/b 3", sorted; to be freed. */
char *report_paths(const char *arguments);

#endif
