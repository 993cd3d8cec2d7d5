/* Which part of a session a report is asked of, in the user's words, and what these mean in the session. */
#ifndef DWELL_ANALYSIS_SELECTION_REQUEST_H
#define DWELL_ANALYSIS_SELECTION_REQUEST_H

#include "profile/selection.h"

/* A time since the session began, or that of a mark. */
struct selection_moment {
    bool given;
    const char *mark; /* number, text or a glob for texts; NULL: none */
    uint64_t ns;      /* of a mark: found by selection_find */
};

struct selection_request {
    struct selection_moment from, to;
    struct selection selection; /* its names as asked for */
    const char *root;           /* a function: what happens within its calls; NULL: all */
    bool by_line;               /* with call sites */
};

/* The argument of an option such as "--from": 2.5ms, mark:7, mark:frame*; ends the program where it is none. */
struct selection_moment selection_moment_parse(const char *option, const char *text);

/* Both in ticks of the session; where one was not given, the session's end on that side. Ends the program where there
 * is no such mark, or the one is not before the other. */
void selection_moments_find(struct selection_moment *from, struct selection_moment *to, const struct session_file *file,
                            uint64_t *begin, uint64_t *end);

/* So long a time in ticks of the session, rounded. */
uint64_t selection_ticks(uint64_t ns, const struct session_file *file);

void selection_request_drop(struct selection_request *r);

/* NULL is the whole. */
bool selection_is_asked_for(const struct selection_request *r);

/* Ends the program where some name means no thread or process of the session. */
void selection_check_names(const struct selection *s, const struct session_file *file);

/* Fills what is to be looked up in the session; ends the program where it is not there. */
void selection_find(struct selection_request *r, const struct session_file *file);

/* Such as "thread pricing", or NULL: nothing to tell yet; to be freed by the caller. */
char *selection_describe(const struct selection_request *r);

#endif
