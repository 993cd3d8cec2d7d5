/* Which part of a session a report is asked of, in the user's words, and what these mean in the session. */
#ifndef DWELL_REPORT_SLICES_H
#define DWELL_REPORT_SLICES_H

#include "profile/slice.h"
#include "report/row_filter.h"

/* A time since the session began, or that of a mark. */
struct slice_moment {
    bool given;
    const char *mark; /* number, text or a glob for texts; NULL: none */
    uint64_t ns;      /* of a mark: found by slice_find */
};

struct slice_request {
    struct slice_moment from, to;
    struct slice slice;         /* its names as asked for */
    const char *root;           /* a function: what happens within its calls; NULL: all */
    struct row_filters filters; /* of what is shown of it */
    bool by_line;               /* with call sites */
};

/* The argument of an option such as "--from": 2.5ms, mark:7, mark:frame*; ends the program where it is none. */
struct slice_moment slice_moment_parse(const char *option, const char *text);

/* Both in ticks of the session; where one was not given, the session's end on that side. Ends the program where there
 * is no such mark, or the one is not before the other. */
void slice_moments_find(struct slice_moment *from, struct slice_moment *to, const struct session_file *file,
                        uint64_t *begin, uint64_t *end);

/* So long a time in ticks of the session, rounded. */
uint64_t slice_ticks(uint64_t ns, const struct session_file *file);

void slice_request_drop(struct slice_request *r);

/* NULL is the whole. */
bool slice_is_asked_for(const struct slice_request *r);

/* Ends the program where some name means no thread or process of the session. */
void slice_check_names(const struct slice *s, const struct session_file *file);

/* Fills what is to be looked up in the session; ends the program where it is not there. */
void slice_find(struct slice_request *r, const struct session_file *file);

/* Such as "thread pricing", or NULL: nothing to tell yet; to be freed by the caller. */
char *slice_describe(const struct slice_request *r);

#endif
