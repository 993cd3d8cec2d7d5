/* A selected part of a session: a range of time, threads, processes, and calls below functions. */
#ifndef DWELL_PROFILE_SELECTION_H
#define DWELL_PROFILE_SELECTION_H

#include "trace/session_file.h"
#include "trace/thread_ranges.h"

struct selection_names {
    char **list;
    size_t count, room;
};

/* One of several parts that are chosen by number. */
struct selection_shard {
    uint32_t number, count; /* from 0; a count of zero: there are no parts */
};

struct selection {
    bool cut;                       /* whether it has limits in time: */
    uint64_t from, to;              /* ticks: from <= time < to */
    struct thread_ranges *within;   /* only these ranges of threads; NULL for all. Owned by the selection */
    struct selection_names threads; /* TIDs, or globs for names; a thread matches any of them; empty for all */
    char **titles;                  /* by thread of the file: what text shows of it, which such a glob may match; NULL
                                     * for those whose name is shown, and if no glob needs them. Owned, as `within` */
    size_t title_count;
    struct selection_names processes; /* PIDs, or globs for names */
    struct selection_shard chunks;    /* only these chunks of events; the trees of these threads */
    struct selection_shard share;     /* only these threads */
    const bool *roots;                /* single calls must be within a call of a function that is set here; NULL: any */
    size_t root_count;                /* by function of the selection's profile */
};

/* Whether the function is one of those within which single calls are selected. */
static inline bool selection_is_root(const struct selection *s, uint32_t function)
{
    return s && s->roots && function < s->root_count && s->roots[function];
}

/* How long the title of a thread (analysis/thread_titles.h) is without its number: 6 of "worker#3". */
size_t thread_title_length(const char *title);

void selection_add_name(struct selection_names *names, const char *name);
void selection_names_free(struct selection_names *names);
void selection_free(struct selection *s);
void selection_free_found(struct selection *s); /* what was found in the session: `within` and `titles` */

/* Whether an event of that time is part of the selection. NULL selects the whole session. */
static inline bool selection_holds(const struct selection *s, uint64_t time)
{
    return !s || !s->cut || (time >= s->from && time < s->to);
}

/* The same for an event of a thread (serial number). */
static inline bool selection_holds_on(const struct selection *s, uint32_t thread, uint64_t time)
{
    return selection_holds(s, time) && (!s || !s->within || thread_ranges_hold(s->within, thread, time));
}

/* Whether only ranges of time are selected. */
static inline bool selection_has_ranges(const struct selection *s)
{
    return s && (s->cut || s->within);
}

/* The same as selection_holds_on for a trace event, which can be the end of a range. */
static inline bool selection_holds_event(const struct selection *s, uint32_t thread, uint64_t time)
{
    return !s || !s->within || thread_ranges_hold(s->within, thread, time) ||
           (time > 0 && thread_ranges_hold(s->within, thread, time - 1));
}

/* Whether the thread with these serial numbers is part of the selection. NULL selects the whole session. */
bool selection_takes(const struct selection *s, const struct session_file *file, uint32_t process, uint32_t thread);

/* Whether the chunk of events, counts or a tree belongs to the selection's shard. */
bool selection_takes_chunk(const struct selection *s, const struct session_file *file, const struct trace_chunk *chunk);

/* The same for a process. */
bool selection_takes_process(const struct selection *s, const struct session_file *file, uint32_t process);

/* The first name that matches no thread or process of the session, or NULL. *what is "thread" or "process". */
const char *selection_unknown_name(const struct selection *s, const struct session_file *file, const char **what);

#endif
