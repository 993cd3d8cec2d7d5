/* A part of a session, which is profiled as if it were the whole. */
#ifndef DWELL_PROFILE_SELECTION_H
#define DWELL_PROFILE_SELECTION_H

#include "trace/session_file.h"

struct selection_names {
    char **list;
    size_t count, room;
};

struct selection {
    bool cut;                         /* in time: */
    uint64_t from, to;                /* ticks; an event is in it that is not before the one and before the other */
    struct selection_names threads;   /* tids, or globs for names: those of any of them; without any, all */
    struct selection_names processes; /* PIDs, or globs for names */
    bool below;                       /* of single calls, those within calls of a function: */
    uint32_t root;                    /* this one, in numbers of the profile that is made of the selection */
};

void selection_add_name(struct selection_names *names, const char *name);
void selection_free(struct selection *s);

/* Whether an event of that time is. */
static inline bool selection_holds(const struct selection *s, uint64_t time)
{
    return !s || !s->cut || (time >= s->from && time < s->to);
}

/* Whether the thread (by the serial numbers) is part of the selection; NULL: of the whole. */
bool selection_takes(const struct selection *s, const struct session_file *file, uint32_t process, uint32_t thread);

/* Likewise, by its process alone. */
bool selection_takes_process(const struct selection *s, const struct session_file *file, uint32_t process);

/* The first name that means no thread or process of the session, with what it should mean in *what; NULL: there is
 * none. */
const char *selection_unknown_name(const struct selection *s, const struct session_file *file, const char **what);

#endif
