/* The facts about a session that reports print beside their rows: sums, what is known, and remarks. */
#ifndef DWELL_ANALYSIS_SUMMARY_H
#define DWELL_ANALYSIS_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/values.h"

/* What is said of the session beside the rows. */
struct summary {
    const char *path; /* NULL: text says nothing of the session */
    char *selection;  /* which part of the session it is; NULL: the whole */
    uint64_t ticks_per_second;
    struct times sums;                                 /* over the roots of all threads */
    uint64_t elapsed_inclusive, application_inclusive; /* ticks */
    bool application_known;
    bool away_known;     /* when threads were blocked or preempted, and page faults */
    bool overhead_known; /* what the probes took: it is subtracted, */
    uint64_t overhead;   /* so many ticks */
    bool partial_paths;  /* a part of the call paths: how many events were there is not known */
    bool imported;       /* from another profiler's report: there were no events */
    bool samples;        /* what ticks are of columns and sums is numbers of samples, and calls are unknown */
    uint64_t os_events, threads, processes, events, lost_events;
    char **remarks;    /* lines for people: losses and damages come first, */
    size_t loss_count; /* so many */
    size_t remark_count, remark_room;
};

/* Which values the session knows: enum value_needs. */
static inline unsigned summary_knows(const struct summary *s)
{
    return (s->samples ? 0 : NEEDS_CALLS) | (s->application_known ? NEEDS_APPLICATION : 0) |
           (s->away_known ? NEEDS_OFF_CPU : 0) | (s->overhead_known ? NEEDS_OVERHEAD : 0);
}

/* Adds a remark to the summary. */
void summary_remark(struct summary *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
