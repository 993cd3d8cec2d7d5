/* A part of a session, which is profiled as if it were the whole. */
#ifndef DWELL_PROFILE_SLICE_H
#define DWELL_PROFILE_SLICE_H

#include "trace/session_file.h"

struct slice_names {
    char **list;
    size_t count, room;
};

struct slice {
    bool cut;                     /* in time: */
    uint64_t from, to;            /* ticks; an event is in it that is not before the one and before the other */
    struct slice_names threads;   /* tids, or globs for names: those of any of them; without any, all */
    struct slice_names processes; /* PIDs, or globs for names */
    bool below;                   /* of single calls, those within calls of a function: */
    uint32_t root;                /* this one, in numbers of the profile that is made of the slice */
};

void slice_add_name(struct slice_names *names, const char *name);
void slice_free(struct slice *s);

/* Whether an event of that time is. */
static inline bool slice_holds(const struct slice *s, uint64_t time)
{
    return !s || !s->cut || (time >= s->from && time < s->to);
}

/* Whether the thread (by the serial numbers) is part of the slice; NULL: of the whole. */
bool slice_takes(const struct slice *s, const struct session_file *file, uint32_t process, uint32_t thread);

/* Likewise, by its process alone. */
bool slice_takes_process(const struct slice *s, const struct session_file *file, uint32_t process);

/* The first name that means no thread or process of the session, with what it should mean in *what; NULL: there is
 * none. */
const char *slice_unknown_name(const struct slice *s, const struct session_file *file, const char **what);

#endif
