/* The recorded values of the calls in a replay, which has no profile whose functions could be numbered. */
#ifndef DWELL_REPORT_REPLAY_VALUES_H
#define DWELL_REPORT_REPLAY_VALUES_H

#include <stdio.h>

#include "trace/recorded_values.h"
#include "trace/session_file.h"
#include "trace/timeline.h"

/* The values of an open call, which the thread with these serial numbers has entered; NULL if it has none. */
const struct recorded_row *replay_values_of(const struct recorded_values *values, const struct session_file *file,
                                            uint32_t process, uint32_t thread, const struct timeline_call *call);

/* As text: n=3, kind=GET. */
void replay_put_values(const struct recorded_values *values, const struct recorded_row *row, FILE *out);

/* As text of a JSON object. The caller frees it. */
char *replay_values_json(const struct recorded_values *values, const struct recorded_row *row);

#endif
