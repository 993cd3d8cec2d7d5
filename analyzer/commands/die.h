/* How commands end the program. */
#ifndef DWELL_COMMANDS_DIE_H
#define DWELL_COMMANDS_DIE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/exit_status.h"
#include "base/message.h"

/* With errors as JSON, the program's last message is also a document on standard output, unless something else is there
 * already: {"schema": "dwell-error-1", "error": {"code": ..., "message": ..., "details": [...]}}, with
 * details if the error has a list. The code is "usage" while the command
 * line is read, "no-session" if there is no such file, and else "failed". */
void die_with_json(bool json);
void die_read_usage(bool reads);

/* Prints the message as say() does and ends the program. */
void die(int status, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

/* Prints the error of a library and ends the program with STATUS_ERROR. */
void die_of(const struct error *error) __attribute__((noreturn));

#endif
