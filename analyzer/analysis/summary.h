/* The facts about a session that reports print beside their rows: sums, which values are known, and remarks. */
#ifndef DWELL_ANALYSIS_SUMMARY_H
#define DWELL_ANALYSIS_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/values.h"

/* Times are in ticks. */
struct summary {
    const char *path; /* NULL if text is printed without the session's facts */
    char *selection;  /* the selected part of the session; NULL for the whole */
    uint64_t ticks_per_second;
    struct times sums;  /* over the roots of all threads */
    struct times whole; /* what percentages are of: the sums, or what the percentages of an imported report are of */
    uint64_t run;       /* its length, or that of the selected range; zero if it is unknown (analysis/run_length.h) */
    uint64_t elapsed_inclusive, application_inclusive; /* of all threads together */
    bool application_known;
    bool off_cpu_known;     /* blocked and preempted times, and page faults */
    bool overhead_known;    /* the probes' own time is known and was subtracted */
    bool raw;               /* it was not to be subtracted */
    bool budget;            /* recorded with --overhead */
    uint64_t overhead;      /* the probes' own time */
    bool durations_known;   /* of all completed calls that were timed; only if they were asked for */
    uint64_t resolution;    /* of a single call's time: what its probes take, which was subtracted; zero if unknown */
    double asked_percent;   /* the budget, of the program's own time; zero: none, or it is unknown what was reached */
    double reached_percent; /* what recording took of it */
    bool budget_acted;      /* it had calls counted */
    bool partial_paths;     /* the selection has only some call paths; its number of events is unknown */
    bool imported;          /* from another profiler's report, without events */
    bool samples;           /* values are numbers of samples instead of ticks, and calls are unknown */
    bool has_counts;        /* there are calls that were only counted */
    size_t counted;         /* number of functions with such calls; zero if they are left out */
    size_t partly_timed;    /* of these, functions whose times are those of the other calls */
    uint64_t stack_samples; /* samples while a function was open (docs/time-model.md) */
    uint64_t samples_in_probes; /* those of stack_samples that were in the runtime */
    uint64_t os_events, threads, processes, events, lost_events;
    /* Percentiles of a store are those of mode profile in some runs. */
    bool durations_estimated;
    char **remarks; /* lines of text, the most harmful ones first: `loss_count` are about losses and damage. Where it
                       can, a remark fits a line of 80 with the mark before it */
    size_t loss_count;
    size_t missing_count; /* of the loss_count remarks, the first ones are about what the session should have */
    size_t remark_count, remark_room;
    const char **remark_codes; /* a stable name of each; NULL if they are unknown */
    size_t code_room;
};

/* The conditions of values that the session meets: enum value_needs. */
static inline unsigned summary_knows(const struct summary *summary)
{
    return (summary->samples ? 0 : NEEDS_CALLS) | (summary->application_known ? NEEDS_APPLICATION : 0) |
           (summary->off_cpu_known ? NEEDS_OFF_CPU : 0) | (summary->overhead_known ? NEEDS_OVERHEAD : 0);
}

/* Whether some times may be estimated or unknown: then all views say how they know them. */
static inline bool summary_has_timing(const struct summary *summary)
{
    return summary->stack_samples || summary->counted;
}

/* Adds a remark in the format of printf. Programs know it by its code, which must stay valid. All codes are in
 * docs/schema/remarks.json. */
void summary_remark(struct summary *summary, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The code of a remark. */
const char *summary_code(const struct summary *summary, size_t remark);

/* Whether the remark comes in most recordings. It is a caveat for programs and for dwell info. Text for people has the
 * marks of rows in its place (report/text_summary.h), so that what is special about a run can be seen. */
bool summary_is_caveat(const struct summary *summary, size_t remark);
bool remark_is_caveat(const char *code);

/* The number of the others. */
size_t summary_count_special(const struct summary *summary);

/* Frees all remarks. */
void summary_drop_remarks(struct summary *summary);

/* The same for a remark that many of the figures are doubtful: only those about losses and damage come before it. */
void summary_remark_doubt(struct summary *summary, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
