/* Runs programs on a terminal of the test's own. */
#ifndef DWELL_TESTS_ON_TERMINAL_H
#define DWELL_TESTS_ON_TERMINAL_H

#include "support/run.h"

/* As run, but all three streams of the shell are a terminal of so many columns, unless the command redirects them;
 * `out` is all that was sent to it, escape sequences and all, and `err` is empty. */
struct ran run_on_terminal(unsigned columns, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A terminal in place of stderr, from here to the end of the test, and what it has been sent since the last time, to be
 * freed. */
struct terminal;
struct terminal *terminal_for_errors(unsigned columns);
char *terminal_take(struct terminal *t);
void terminal_drop(struct terminal *t);

#endif
