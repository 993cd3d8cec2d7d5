/* dwell view --live: serves a session as a page while it is recorded. */
#ifndef DWELL_COMMANDS_VIEW_LIVE_H
#define DWELL_COMMANDS_VIEW_LIVE_H

#include "analysis/analysis.h"
#include "view/session.h"

struct live_settings {
    const char *file;
    const struct analysis_options *load;
    struct view_options options;
    uint16_t port; /* zero for any free one */
    bool no_open;
};

/* Serves the session until a signal ends it. Returns the exit status. */
int view_live(const struct live_settings *settings);

/* Loads a session for the page. Sets *ended to whether its recording is complete. `quiet` prints no losses. Returns
 * NULL and sets the error where the session cannot be loaded. */
struct view_session *view_load(const char *file, const struct analysis_options *load,
                               const struct view_options *options, bool quiet, bool *ended, struct error *error);

#endif
