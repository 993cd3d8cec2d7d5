/* Which functions are to be recorded: from the command line and files, found in the program before it is started. */
#ifndef DWELL_COMMANDS_FILTERS_H
#define DWELL_COMMANDS_FILTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session.h"

struct filter_pattern;
struct filter_module;

struct filters {
    struct filter_pattern *patterns;
    size_t pattern_count, pattern_room;
    struct filter_module *modules; /* of the program, once it has been looked into */
    size_t module_count, module_room;
    uint32_t depth;       /* zero: no limit */
    uint64_t shortest_ns; /* zero: all calls */
    bool os_calls;        /* patterns may mean functions of libc that are rows as calls of the OS */
};

/* A filter by its name ("only", "suppress", "ignore", "start-on", "stop-on", "depth", "min") and value; `place`
 * begins the message with which the program ends if something is wrong with it. */
void filters_add(struct filters *f, const char *name, const char *value, const char *place);

/* A filter a line: its name, blanks, its value. Lines that are empty or begin with # say nothing. */
void filters_read(struct filters *f, const char *path);

bool filters_any(const struct filters *f);

/* Finds what the patterns mean in the program and the libraries that it loads at its start; ends with a message where
 * one means no function. */
void filters_find(struct filters *f, const char *program);

/* Puts that into the session; false: there is no room. */
bool filters_write(const struct filters *f, const struct session *session, int fd);

void filters_free(struct filters *f);

#endif
