/* All that a page shows of a session, packed into containers. */
#ifndef DWELL_VIEW_PAGE_PAGE_SESSION_H
#define DWELL_VIEW_PAGE_PAGE_SESSION_H

#include "analysis/analysis.h"
#include "view/container.h"

struct view_options {
    size_t detail; /* maximum size of the timeline in the page, in bytes; 0 for no timeline */
    bool sources;  /* with the text of the source files that can be read */
    bool values;   /* with recorded values of arguments, which can be secrets */
    bool live;     /* the page is made again and again until the recording ends */
};

struct view_session {
    struct packed main;
    struct packed *blocks; /* the timeline's blocks */
    size_t block_count;
};

/* What a page is made of. All but the session may be NULL. */
struct view_inputs {
    struct analysis *session;     /* if it lacks limits, they are found meanwhile */
    const struct analysis *lines; /* the same session, loaded with call sites */
    struct packed *waits;         /* its block of waits, which the page's session takes */
    const char *answer;           /* the sentence that its report opens with */
    bool unfinished; /* its recording goes on, and the page will be made again: no slow calls are explained, and no
                      * values shown */
};

/* Returns NULL and sets the error if the session has too many names for a page. */
struct view_session *view_session_new(const struct view_inputs *inputs, const struct view_options *options,
                                      struct error *error);
void view_session_free(struct view_session *view);

#endif
