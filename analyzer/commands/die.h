/* How commands end the program. */
#ifndef DWELL_COMMANDS_DIE_H
#define DWELL_COMMANDS_DIE_H

#include "base/error.h"
#include "base/exit_status.h"
#include "base/message.h"

/* Prints the message as say() does and ends the program. */
void die(int status, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

/* Prints the error of a library and ends the program with STATUS_ERROR. */
void die_of(const struct error *error) __attribute__((noreturn));

#endif
