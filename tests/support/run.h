/* Runs programs as a user would, from a shell in the test's own folder. */
#ifndef DWELL_TESTS_RUN_H
#define DWELL_TESTS_RUN_H

#include <stdbool.h>
#include <stdint.h>

/* Some checks compare times with those of the kernel. A host, or other programs, may take the processor away in the
 * middle of one: then one of so many runs must agree. */
enum { MOST_TRIES = 3 };

struct ran {
    int status;      /* exit status, or -signal */
    char *out, *err; /* its output; ran_drop frees it */
};

/* Runs a printf-formatted shell command in the test's folder. $DWELL is the program under test and $RUNTIME its
 * libdwell.so. $SAMPLES and $PROGRAMS are the folders of the recorded programs. If DWELL_RANDOM_LEVELS is set, levels
 * change at random in all recorded programs. If DWELL_FSGSBASE is "off", none has instructions for the base of gs, and
 * if it is "none", none counts calls in place (tests/random/runtime/random_levels.c). If DWELL_SLOW is set, their
 * runtime is slow (tests/slow/runtime/slow_machine.c). */
struct ran run(const char *format, ...) __attribute__((format(printf, 1, 2)));
void ran_drop(struct ran *r);

/* Like run, but fails the test unless the status is zero. Returns the command's output, which the caller frees. */
char *run_well(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Like run_well, up to MOST_TRIES times, until the output is `wanted`. The last one is returned. */
char *run_until(const char *wanted, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The facts and remarks of dwell.data or another session, but for two remarks. The share of probes is large where a
 * program only calls functions. The kernel's count of CPU time differs by more than 20 ms where other work delays a
 * short run (e2e_cpu_time compares them). */
#define INFO_WITHOUT_CPU_REMARKS INFO_WITHOUT_CPU_REMARKS_OF("dwell.data")
#define INFO_WITHOUT_CPU_REMARKS_OF(session)                                                                           \
    "$DWELL info " session                                                                                             \
    " | sed -e '/^remark *probes took /d' -e '/^remark .* by the kernel.s count/d' -e '/^caveat .* by the kernel.s count/d'"

/* The .init of a suite that counts instrumented functions: its recordings hold no OS calls, and no
 * samples unless --sample requests them. */
void without_os_calls(void);

/* Whether `text` contains `part`. */
bool has(const char *text, const char *part);

/* Returns the number after `name` in a program's own lines "calls NAME NUMBER". Fails the test if there is none. */
uint64_t truth(const char *out, const char *name);

/* The parsed output of `dwell report --format json`. */
struct report;
struct report *report_of(const char *arguments);
void report_drop(struct report *r);
/* Sums a key over the rows whose `by` is `name`, or over all rows if `name` is NULL. */
uint64_t report_sum(const struct report *r, const char *by, const char *name, const char *key);
/* Whether that key is null in the first such row. */
bool report_null(const struct report *r, const char *by, const char *name, const char *key);
uint64_t report_session(const struct report *r, const char *key);

/* A program's output has at least `least` lines "calls NAME NUMBER". Each number must be the report's calls of that
 * function. The name may contain blanks. */
void check_counts(const char *out, const struct report *r, int least);

/* The rows' exclusive times must add up to the session's inclusive times. In ticks they do so exactly, as the tests of
 * the time model show. Here each row is rounded to a nanosecond. */
void check_sums(const struct report *r, const char *by);

/* Returns the path and calls of each row of `dwell tree`, like "main/a/b 3", sorted. The caller frees it. */
char *report_paths(const char *arguments);

#endif
