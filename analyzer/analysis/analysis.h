/* A session loaded: its file, profile, names and summary. Reports, exports and the page are made from it. */
#ifndef DWELL_ANALYSIS_ANALYSIS_H
#define DWELL_ANALYSIS_ANALYSIS_H

#include "analysis/names.h"
#include "analysis/summary.h"
#include "profile/overhead.h"
#include "profile/rollup.h"
#include "profile/selection.h"
#include "trace/session_file.h"

/* One of several sessions: its processes have serial numbers below the end, and not below the end of the one before. */
struct analysis_part {
    char *path;
    uint32_t process_end;
};

/* A session with all that views need of it. */
struct analysis {
    struct session_file *file;
    struct profile *profile;
    struct rollup *rollup;
    struct function_name *names;
    struct line_name *lines; /* by site of the profile; NULL: they were not asked for, and the profile has none */
    const struct selection *selection; /* NULL: it is the whole session */
    struct overhead overhead;          /* what was subtracted as the probes' */
    struct summary summary;
    struct analysis_part *parts; /* of several sessions; none where it is one */
    size_t part_count;
};

/* Fills the summary, anew. */
void analysis_summarize(struct analysis *l);

/* Reads, profiles and names the whole; ends the program where the file cannot be read. */
void analysis_load(struct analysis *l, const char *path, unsigned jobs);

/* Takes the probes' own time out of the profile, once. */
void analysis_subtract_overhead(struct analysis *l);

/* From now on, sessions are loaded with the probes' own time in all times. */
void analysis_load_as_measured(void);

/* Likewise a part of it: views show it as if it were the whole. The request must live as long. */
struct selection_request;
void analysis_load_selection(struct analysis *l, const char *path, unsigned jobs, struct selection_request *request);

/* Makes it what happened within calls of a function; the request names it. */
void analysis_narrow_to_root(struct analysis *l, uint32_t function, struct selection_request *request);
void analysis_drop(struct analysis *l);

/* With call sites, each of them the first of its line, where they were recorded; and where that was not done, ends the
 * program if they must be there. */
enum lines { LINES_NONE, LINES_IF_KNOWN, LINES_NEEDED };
void analysis_load_lines(struct analysis *l, const char *path, unsigned jobs, enum lines lines);

/* Several at once, for views of sums: no chunks, no marks, no times of day are there, and what remains is in
 * nanoseconds. */
void analysis_load_several(struct analysis *l, const char *const *paths, size_t count, unsigned jobs);
void analysis_load_several_by_line(struct analysis *l, const char *const *paths, size_t count, unsigned jobs);

/* The path of the session that a process (serial number) is of. */
const char *analysis_session_of(const struct analysis *l, uint32_t process);

#endif
