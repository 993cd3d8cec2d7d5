/* The part of a session that a user selects: the options as typed, and their values in a session. */
#ifndef DWELL_ANALYSIS_SELECTION_REQUEST_H
#define DWELL_ANALYSIS_SELECTION_REQUEST_H

#include "analysis/call_filters.h"
#include "base/error.h"
#include "profile/selection.h"

/* A time since the session began, or the time of a mark. */
struct selection_moment {
    bool given;
    const char *mark; /* number, text or a glob for texts; NULL if the moment is a time */
    uint64_t ns;      /* the time; that of a mark is set by selection_find */
};

/* All zero selects the whole session. */
struct selection_request {
    struct selection_moment from, to;
    struct selection selection;    /* its names as typed */
    struct selection_names within; /* only the time in these activities: marker:WHAT, activity:WHAT; empty for all */
    struct selection_names valued; /* conditions on values, all of which hold in the time that is selected */
    struct thread_ranges *valued_time; /* where they do; NULL if that was not looked for */
    struct loaded_values *values;      /* of the session; freed with the analysis, and NULL in options of users */
    /* Selects the calls of the functions that match any of these texts, and everything below them; empty for all. */
    struct selection_names roots;
    struct call_filters filters; /* which calls are left out */
    char *root_text;             /* the functions that were found, for people; NULL if not found yet */
};

/* Parses the argument of an option such as "--from": 2.5ms, mark:7, mark:frame*. */
bool selection_moment_parse(const char *option, const char *text, struct selection_moment *moment, struct error *error);

/* Sets *begin and *end in ticks of the session, or to zero and UINT64_MAX if the moment is not given. It is an error if
 * there is no such mark, or if `from` is not before `to`. */
bool selection_moments_find(struct selection_moment *from, struct selection_moment *to, const struct session_file *file,
                            uint64_t *begin, uint64_t *end, struct error *error);

/* Converts nanoseconds to ticks of the session, rounded. */
uint64_t selection_ticks(uint64_t ns, const struct session_file *file);

void selection_request_drop(struct selection_request *r);

/* Whether the request selects less than the whole session. Filters of calls do not count. */
bool selection_is_requested(const struct selection_request *r);

/* Whether ranges of threads are selected. */
bool selection_has_within(const struct selection_request *r);

/* Sets the selection's ranges to those of the activities that the request names, between `begin` and `end`. It is an
 * error if there are none. */
bool selection_ranges_find(struct selection_request *r, const struct session_file *file, uint64_t begin, uint64_t end,
                           struct error *error);

/* It is an error if a name matches no thread or process of the session. Reads the events if a name of a thread is none:
 * it may be what text shows of one. */
bool selection_check_names(struct selection *s, const struct session_file *file, struct error *error);

/* Finds the request's moments in the session and checks its names like selection_check_names. */
bool selection_find(struct selection_request *r, const struct session_file *file, struct error *error);

/* A text such as "thread pricing". NULL if the request selects the whole session, or only a root that has not been
 * found yet. The caller frees it. */
char *selection_describe(const struct selection_request *r);

#endif
