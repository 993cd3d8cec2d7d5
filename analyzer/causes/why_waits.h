/* The waits of a session by their object and cause, found by the interval in which a thread waited. */
#ifndef DWELL_CAUSES_WHY_WAITS_H
#define DWELL_CAUSES_WHY_WAITS_H

#include "analysis/analysis.h"

/* What was waited for, and who made it last. Texts are "" if unknown. */
struct why_wait {
    const char *kind, *name, *text; /* text: "mutex cache_lock" */
    const char *cause, *function, *path, *thread;
    const char *title; /* what text shows of the thread */
    uint32_t tid;      /* the thread's; zero if it is unknown, or if there are several */
    uint32_t number;   /* waits of equal texts have equal numbers, in all sessions that are compared */
};

struct why_interval {
    uint32_t thread; /* serial number */
    uint64_t begin, end;
    uint64_t ticks; /* blocked */
    uint32_t wait;  /* number */
    uint32_t cause; /* serial number of the thread that held the object or was awaited; zero if unknown */
    uint64_t woken; /* when the wait was ended, as far as that is known, or its end */
};

struct why_waits {
    struct why_wait *list;
    size_t count, room;
    struct why_interval *intervals; /* sorted by thread and begin */
    size_t interval_count;
    char **texts;
    size_t text_count, text_room;
};

/* Waits that differ in their thread alone are one: its title and number are those that both have in common. */
void why_waits_join_threads(struct why_waits *waits, struct why_wait *wait, const struct why_wait *other);

/* Of the whole session, whatever part of it is selected. */
struct why_waits why_waits_find(const struct analysis *analysis);

/* The first interval of the thread that does not begin before that time. */
size_t why_waits_seek(const struct why_waits *waits, uint32_t thread, uint64_t time);

void why_waits_drop(struct why_waits *waits);

#endif
