/* Which functions are recorded: patterns of the command line and of files, matched with the functions of the program
 * before it starts. */
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
    struct filter_module *modules; /* of the program; set by filters_find */
    size_t module_count, module_room;
    uint32_t depth;       /* zero if unlimited */
    uint64_t shortest_ns; /* zero for all calls */
    bool os_calls;        /* patterns may match functions of libc that are recorded as calls of the OS */
};

/* Adds a filter by its name ("only", "suppress", "ignore", "start-on", "stop-on", "depth", "min") and value. Ends the
 * program if they are not valid; `place` begins the message. */
void filters_add(struct filters *f, const char *name, const char *value, const char *place);

/* Reads a filter a line: its name, blanks, its value. Empty lines and lines that begin with # are skipped. */
void filters_read(struct filters *f, const char *path);

bool filters_any(const struct filters *f);

/* Matches the patterns with the program and the libraries that it loads at its start. Ends the program if a pattern
 * matches no function. */
void filters_find(struct filters *f, const char *program);

/* Writes the matches into the session. Returns false if there is no room. */
bool filters_write(const struct filters *f, const struct session *session, int fd);

void filters_free(struct filters *f);

#endif
