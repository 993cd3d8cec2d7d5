/* The programs of a session whose processes share an allowance: those with the same build-id. A process of a program
 * without one is a program of its own. */
#ifndef DWELL_RECORDER_BUDGET_PROGRAMS_H
#define DWELL_RECORDER_BUDGET_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/session_file.h"

struct budget_program {
    char *path;
    uint8_t *build_id;
    size_t build_id_length;
    uint32_t key;     /* dwell_program_key; zero without a build-id */
    uint32_t process; /* serial number, if it has no build-id */
    uint64_t calls;   /* timed ones, until now */
    bool is_spent;    /* the allowance: the budget holds for all processes of the program */
};

struct budget_programs {
    struct budget_program *list;
    size_t count, room;
};

enum { BUDGET_NO_PROGRAM = UINT32_MAX };

/* The module of a process' own program, which it lists first. NULL if the session does not say yet which it is. */
const struct trace_module *budget_program_module(const struct trace_process *p);

/* The number of a process' program. BUDGET_NO_PROGRAM if the session does not say yet which it is. */
uint32_t budget_program_of(struct budget_programs *programs, const struct session_file *file, uint32_t process);

/* Adds timed calls. Returns whether the program has spent its allowance now, and had not before. */
bool budget_program_spend(struct budget_program *program, uint64_t calls);

/* Whether a program with that key, which is not zero, has spent its allowance. */
bool budget_programs_have_spent(const struct budget_programs *programs, uint32_t key);

void budget_programs_drop(struct budget_programs *programs);

#endif
