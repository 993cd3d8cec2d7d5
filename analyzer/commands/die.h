/* How commands end the program. */
#ifndef DWELL_COMMANDS_DIE_H
#define DWELL_COMMANDS_DIE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/exit_status.h"
#include "base/message.h"

/* With errors as JSON, the program's last message is also a document on standard output, unless something else is there
 * already: {"schema": "dwell-error-1", "error": {"code": ..., "message": ..., "details": [...]}}, with
 * details if the error has a list. The code is "usage" if the command line is
 * wrong, "no-session" if there is no such file, and else "failed". */
void die_with_json(bool json);

/* Looks for --format json in words that are not read yet: an error before it is one of a program that wants JSON. */
void die_find_json(int argc, char **argv);

/* How far a command is, which says what is wrong when it ends. */
enum die_stage {
    DIE_READS_LINE,  /* every error is one of the command line */
    DIE_CHECKS_LINE, /* those of the command itself are, those of libraries are not */
    DIE_WORKS,       /* none is, but for die_of_line() */
};

void die_enter(enum die_stage stage);

/* Prints the message as say() does and ends the program. */
void die(int status, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

/* Prints the error of a library and ends the program with STATUS_ERROR. */
void die_of(const struct error *error) __attribute__((noreturn));

/* The same for one of the command line that is known only once the session is, such as a column that it lacks. */
void die_of_line(const struct error *error) __attribute__((noreturn));

#endif
