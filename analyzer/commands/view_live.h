/* `dwell view --live` */
#ifndef DWELL_COMMANDS_VIEW_LIVE_H
#define DWELL_COMMANDS_VIEW_LIVE_H

#include "analysis/selection_request.h"
#include "view/session.h"

struct live_settings {
    const char *file;
    const struct selection_request *selection;
    struct view_options options;
    uint16_t port; /* zero: one that is free */
    bool no_open;
};

/* Serves the session until somebody interrupts it; the status to return. */
int view_live(const struct live_settings *settings);

/* A session, or that part of it, as the page takes it; *ended: its recording is complete. Ends the program where it
 * cannot be read. */
struct view_session *view_load(const char *file, const struct selection_request *selection,
                               const struct view_options *options, bool quiet, bool *ended);

#endif
