/* How commands end the program, and with which status. */
#ifndef DWELL_COMMANDS_DIE_H
#define DWELL_COMMANDS_DIE_H

#include "base/error.h"
#include "base/message.h"

/* Exit statuses of all commands; `record` ends with the status of the program that it runs. */
enum {
    STATUS_OK = 0,
    STATUS_FINDING = 1,
    STATUS_ERROR = 2,         /* bad usage, or input that cannot be read */
    STATUS_OWN_FAILURE = 125, /* record: before the program started */
    STATUS_NOT_EXECUTABLE = 126,
    STATUS_NOT_FOUND = 127,
};

/* Prints the message as say() does and ends the program. */
void die(int status, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

/* Prints the error of a library and ends the program with STATUS_ERROR. */
void die_of(const struct error *error) __attribute__((noreturn));

#endif
