/* How a command ends the program when it fails. */
#ifndef DWELL_COMMANDS_DIE_H
#define DWELL_COMMANDS_DIE_H

#include "base/error.h"
#include "base/message.h"

/* Prints the error of a library and ends the program with STATUS_ERROR. */
void die_of(const struct error *error) __attribute__((noreturn));

#endif
