/* A loaded session: its file, profile, names and summary. Reports, exports and the page are made from it. */
#ifndef DWELL_ANALYSIS_ANALYSIS_H
#define DWELL_ANALYSIS_ANALYSIS_H

#include "analysis/names.h"
#include "analysis/selection_request.h"
#include "analysis/summary.h"
#include "base/error.h"
#include "profile/call_scan.h"
#include "profile/overhead.h"
#include "profile/rollup.h"
#include "profile/selection.h"
#include "trace/session_file.h"

/* Call sites: not loaded, loaded where they were recorded, or loaded and an error where they were not recorded. */
enum lines { LINES_NONE, LINES_IF_KNOWN, LINES_NEEDED };

/* How a session is loaded. All zero: the whole of it, without call sites, by as many threads as there are CPUs. */
struct analysis_options {
    unsigned jobs; /* threads; zero: one a CPU */
    enum lines lines;
    bool sites_apart;  /* sites of one line are not joined, so that each has its own inlined place */
    bool no_merge;     /* copies of one source function are functions of their own */
    bool raw;          /* leave the probes' own time in all times */
    bool timed_only;   /* leave out calls that were only counted */
    bool unsampled;    /* leave out samples: all time is that of timed calls */
    bool strict;       /* it is an error if anything is missing from the session */
    bool limits;       /* find the shortest and the longest calls, also if they must be read again */
    bool limits_later; /* with limits: if they can be found by analysis_scan_with_limits, they are left to it */
    bool durations;    /* keep how long completed calls took, by path */
    bool by_values;    /* mode profile: calls with different values are on different paths (profile/trees.h) */
    struct selection_request selection; /* the part of the session that is loaded; the rest is ignored */
};

/* One of several sessions that were loaded as one. Its processes have serial numbers below `process_end`, and not below
 * that of the session before it. */
struct analysis_part {
    char *path;
    uint32_t process_end;
};

/* By node of the profile: how long recording kept its threads waiting, in ticks, and how often (tables/own_waits.h).
 * The lists are NULL if it never did, or before somebody has asked. */
struct recording_waits {
    uint64_t *blocked, *count;
    bool asked;
};

/* A session with all that views need of it. It must stay where it was loaded: `selection` points into it. */
struct analysis {
    struct session_file *file;
    struct noted_calls *noted;       /* while it is loaded, or NULL */
    struct session_samples *samples; /* NULL if they are not wanted or there are none */
    struct profile *profile;
    struct rollup *rollup;
    struct function_name *names;
    char **thread_titles;              /* by thread of the file, analysis/thread_titles.h; NULL for the names alone */
    struct line_name *lines;           /* by site of the profile; NULL if call sites were not loaded */
    const struct selection *selection; /* that of `request`; NULL if the whole session was loaded */
    struct selection_request request;  /* its texts and lists belong to the options */
    unsigned jobs;                     /* as in the options */
    bool limits, durations;            /* as in the options */
    bool durations_kept;               /* found while the profile was made */
    bool lacks_limits;                 /* they are left to analysis_scan_with_limits */
    struct overhead overhead;          /* the probes' own time, which was subtracted */
    struct profile *measured;          /* the profile before copies were joined and paths left out, if any were */
    struct recording_waits *recording_waits; /* of one session; NULL of several */
    bool raw;                                /* it was not subtracted, as requested */
    struct summary summary;
    struct analysis_part *parts; /* the sessions, if several were loaded as one */
    size_t part_count;
};

/* Reads and profiles a session, and finds its names. The options must live as long as the analysis, which uses the
 * names and texts of their selection. If this fails, there is nothing to drop. */
bool analysis_load(struct analysis *analysis, const char *path, const struct analysis_options *options,
                   struct error *error);

/* Loads several sessions as one, for views of sums. The analysis has no chunks, no marks and no times of day. Its times
 * are in nanoseconds. The options may not select a part if there is more than one session. */
bool analysis_load_several(struct analysis *analysis, const char *const *paths, size_t count,
                           const struct analysis_options *options, struct error *error);

/* The sums of loaded sessions as one, whose functions have no names: for a summary of what they have in all. */
void analysis_sum_several(struct analysis *analysis, const struct analysis *parts, size_t count);

/* Reduces the analysis to the calls of the functions that match the text, and everything below them. It is an error if
 * none does. analysis_load does so for the texts of its options. */
bool analysis_narrow(struct analysis *analysis, const struct selection_names *roots, struct error *error);

/* Passes single calls to `take` (profile/calls.h), without their probes unless the analysis is raw. `all`: also calls
 * whose enter or end was not recorded. */
void analysis_follow_calls(const struct analysis *analysis, bool all, call_taker *take, void *context);

/* Passes the completed calls of a function, or of all functions if it is PROFILE_NONE, to several workers in no order
 * (profile/call_scan.h). There is a context for each of analysis_jobs workers. */
void analysis_scan_calls(const struct analysis *analysis, uint32_t function, call_scan_taker *take,
                         void *const *contexts);

/* The same for elapsed inclusive times alone, which is faster. */
void analysis_scan_elapsed(const struct analysis *analysis, uint32_t function, call_amounts_taker *take,
                           void *const *contexts);

/* The same for all functions. If the analysis lacks limits, it gets them in the same pass, and its rollup is made anew;
 * then `take` and the contexts may be NULL. */
void analysis_scan_with_limits(struct analysis *analysis, call_amounts_taker *take, void *const *contexts);

/* The profile whose nodes are the paths of single calls. */
const struct profile *analysis_call_paths(const struct analysis *analysis);
unsigned analysis_jobs(const struct analysis *analysis);

void analysis_drop(struct analysis *analysis);

/* The path of the session of a process (serial number). */
const char *analysis_session_of(const struct analysis *analysis, uint32_t process);

/* What text shows of a thread (serial number) in place of its name, or NULL. */
const char *analysis_thread_title(const struct analysis *analysis, uint32_t thread);

/* What a thread is called where it stands beside others: its title, or else its name, or "[unknown]". */
const char *analysis_thread_name(const struct analysis *analysis, uint32_t thread);

/* Whether the function's address is known. Imported reports may lack it; then its offset is only a number. */
bool function_has_address(const struct analysis *analysis, uint32_t function);

/* For modules that make an analysis themselves: computes the summary anew, and subtracts the probes' own time from the
 * profile, which must be done once. */
void analysis_summarize(struct analysis *analysis);
void analysis_subtract_overhead(struct analysis *analysis);

#endif
