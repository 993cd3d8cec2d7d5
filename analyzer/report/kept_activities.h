/* The names of kept activities of trace events (`dwell record --keep`), which their records do not have. */
#ifndef DWELL_REPORT_KEPT_ACTIVITIES_H
#define DWELL_REPORT_KEPT_ACTIVITIES_H

#include "trace/activities.h"

struct kept_activities {
    struct activities all;
    const struct trace_activity **by_end; /* by thread and end */
};

/* Reads the trace events if one of the kept calls is an activity. */
struct kept_activities kept_activities_read(const struct session_file *file);
void kept_activities_free(struct kept_activities *activities);

/* The string of the marker, or the name of the class. If the session has not its events, the setting that named it.
 * NULL if the call is one of a function. `keep` are the session's settings; NULL if they are unknown. */
const char *kept_activities_name(const struct kept_activities *activities, const struct dwell_keep *keep,
                                 const struct trace_kept *call);

#endif
