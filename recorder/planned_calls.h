/* Which calls into libraries are recorded (`dwell record --calls-to`). */
#ifndef DWELL_RECORDER_PLANNED_CALLS_H
#define DWELL_RECORDER_PLANNED_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "recorder/calling_modules.h"
#include "session.h"
#include "symbols/function_pattern.h"

struct planned_calls {
    struct call_choice {
        struct function_pattern of;
        size_t matches;
        char *name;                        /* of a function that matches, and is left alone; NULL if there is none */
        const char *linkage_name, *reason; /* of that one; why it is */
        bool others;                       /* so are others */
        bool names;                        /* the function that is looked at */
    } * choices;
    size_t count, room;
    bool all;         /* --calls-to-all */
    bool no_os_calls; /* calls of the operating system have no rows */
    bool archived;    /* the program has a loader, and contains libdwell.a */
    char *bytes;      /* the modules as a plan chunk has them */
    size_t length;
    uint32_t modules, functions, left_alone; /* left_alone: chosen ones that are none of them */
    struct {
        char *name; /* of the first one */
        const char *reason;
        size_t count;
    } refused;                /* functions that are linked in, and left alone for what their code does */
    bool nameless, tableless; /* a module with probes has no symbols, no table of its functions' code */
    struct calling_modules found;
    struct call_answer { /* about a module that was loaded later */
        char *path;
        uint8_t build_id[64];
        size_t build_id_length;
        uint64_t offset;
    } * answers;
    size_t answer_count, answer_room;
};

/* Adds a pattern. If it is not valid, sets the error. */
bool planned_calls_add(struct planned_calls *c, const char *text, struct error *error);

/* Whether calls into libraries are recorded. */
bool planned_calls_any(const struct planned_calls *c);

/* Finds the slots in the program and the libraries that it is linked with. If a pattern names nothing, sets the error.
 */
bool planned_calls_find(struct planned_calls *c, const char *program, struct error *error);

/* Writes the plan into a session that no program records into yet. False if there is no room. */
bool planned_calls_write(const struct planned_calls *c, const struct session *session, int fd);

/* Takes the functions of a library without probes whose calls are recorded if there are any, by address, with each of
 * their names. The file may be any. */
typedef void planned_calls_taker(void *context, const char *name, uint64_t offset);
void planned_calls_each(struct planned_calls *c, const char *file, planned_calls_taker *take, void *context);

/* A module that a process has loaded. */
struct planned_calls_module {
    const char *path, *file; /* file: where it can be read now; NULL if nowhere */
    const uint8_t *build_id;
    size_t build_id_length;
    uint32_t pid;
};

/* Writes the plan of a module that was not there at first. Returns its offset; zero if there is no room. */
uint64_t planned_calls_later(struct planned_calls *c, const struct planned_calls_module *module,
                             const struct session *session, int fd);

void planned_calls_drop(struct planned_calls *c);

#endif
