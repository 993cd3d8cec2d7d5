/*
 * How far a long work has come: a line on stderr, where that is a terminal, and once a second has passed since the
 * first work began, or as many as DWELL_PROGRESS says. It is gone when the work ends, or something else is to be
 * printed.
 */
#ifndef DWELL_BASE_PROGRESS_H
#define DWELL_BASE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A work of so much begins; what was going on before has ended. What is done, such as "reading", and to what: a path.
 */
void progress_begin(const char *doing, const char *path, uint64_t total);

/* So much more of it is done; from any thread. */
void progress_add(uint64_t amount);
void progress_end(void);

/* Takes the line away until there is more to tell: before anything is printed on the terminal. */
void progress_hide(void);

/* Output begins while the work goes on: nothing more is shown where that is seen on the terminal, too. */
void progress_output(void);

/* The line: at most `width` columns of text. */
struct progress {
    const char *doing, *name;
    uint64_t done, total;
    uint64_t seconds; /* since it began */
};
enum { PROGRESS_LINE = 1024 };
void progress_text(const struct progress *p, unsigned width, bool blocks, char line[PROGRESS_LINE]);

/* For tests: another clock, in nanoseconds. */
void progress_use_clock(uint64_t (*clock)(void));

#endif
