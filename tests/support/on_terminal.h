/* Runs programs on a pseudo-terminal of the test. */
#ifndef DWELL_TESTS_ON_TERMINAL_H
#define DWELL_TESTS_ON_TERMINAL_H

#include "support/run.h"

/* Like run, but the shell's three streams are a terminal of `columns` columns, unless the command redirects them. `out`
 * is everything that the terminal received, with escape sequences; `err` is empty. */
struct ran run_on_terminal(unsigned columns, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Replaces stderr with a terminal until terminal_drop. terminal_take returns what it has received since the previous
 * call. The caller frees that. */
struct terminal;
struct terminal *terminal_for_errors(unsigned columns);
char *terminal_take(struct terminal *t);
void terminal_drop(struct terminal *t);

#endif
