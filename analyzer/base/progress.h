/*
 * A progress line on stderr, if that is a terminal. It appears one second after the first work began, or as many
 * seconds as DWELL_PROGRESS says. It is removed when the work ends, and before anything else is printed.
 */
#ifndef DWELL_BASE_PROGRESS_H
#define DWELL_BASE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begins work of `total` units and ends the previous work. `doing` is a word such as "reading", followed by `path`. */
void progress_begin(const char *doing, const char *path, uint64_t total);

/* Adds to the units that are done. Any thread can call it. */
void progress_add(uint64_t amount);
void progress_end(void);

/* Removes the line until there is more progress. Must be called before anything is printed on the terminal. */
void progress_hide(void);

/* Removes the line for ever, when the program ends. Takes no lock. */
void progress_abandon(void);

/* Announces that output begins during the work. If stdout is the terminal, no progress is shown from now on. */
void progress_output(void);

/* Makes the line, of at most `width` columns. */
struct progress {
    const char *doing, *name;
    uint64_t done, total;
    uint64_t seconds; /* since the work began */
};
enum { PROGRESS_LINE = 1024 };
void progress_text(const struct progress *p, unsigned width, bool blocks, char line[PROGRESS_LINE]);

/* For tests: sets another clock, in nanoseconds. */
void progress_use_clock(uint64_t (*clock)(void));

#endif
