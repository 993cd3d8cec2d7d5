/* Which values of which functions are recorded (`dwell record --values`). */
#ifndef DWELL_RECORDER_PLANNED_VALUES_H
#define DWELL_RECORDER_PLANNED_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arguments/value_choice.h"
#include "base/error.h"
#include "session.h"

enum { PLANNED_FUNCTIONS = 20 /* a pattern can name so many, unless it is said to be `many`: values are secrets */ };

struct planned_values {
    struct value_choice *choices;
    size_t count, room;
    char **files; /* of modules that choices name by their paths */
    size_t file_count, file_room;
    char *bytes; /* the functions as a plan chunk has them */
    size_t length;
    char *names; /* the names of enumerations, likewise */
    size_t names_length;
    uint32_t functions, sites;
    uint32_t text_bytes; /* of a text that are kept; zero for the usual number */
    const char *origin;  /* begins messages; NULL: "--values" */
    bool many;
    bool sums;           /* mode profile: calls are added up by what they begin with, so results are not read */
    bool off;            /* their values are not to be read: the functions alone are found */
    bool read;           /* a module was looked at */
    struct error unread; /* why the first one, the program, cannot be read */
    bool left_out;       /* calls of probes, as there are too many */
};

/* Adds FUNCTION[:WHAT,...]. If it is not valid, sets the error. */
bool planned_values_add(struct planned_values *v, const char *text, struct error *error);

/* Finds the functions in the program, the libraries that it is linked with and files that choices name (LIB!FUNCTION),
 * and how their values are read. Says what cannot be read. If a choice names nothing, or too much, sets the error. */
bool planned_values_find(struct planned_values *v, const char *program, struct error *error);

/* The same in one module that a process has loaded: `path` is its name, and `file` has it. Choices that name nothing
 * are no error. */
void planned_values_find_in(struct planned_values *v, const struct symbol_module *loaded, const char *file,
                            struct error *error);

/* The plan's chunk, which the caller frees. */
uint8_t *planned_values_plan(const struct planned_values *v, size_t *used);

/* Why a choice names nothing: the program cannot be read. Sets the error and returns true. */
bool planned_values_say_unread(const struct planned_values *v, struct error *error);

/* Writes a plan's chunk into a session, and returns its offset; zero if there is no room. */
uint64_t planned_values_put(uint8_t *plan, size_t used, const struct session *session, int fd);

/* Writes the plan into a session that no program records into yet. False if there is no room. */
bool planned_values_write(const struct planned_values *v, const struct session *session, int fd);

void planned_values_drop(struct planned_values *v);

#endif
