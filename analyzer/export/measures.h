/* The values of a call path that formats can show: one of its times, or its calls. */
#ifndef DWELL_EXPORT_MEASURES_H
#define DWELL_EXPORT_MEASURES_H

#include "export/exports.h"

/* Finds a measure by its name, such as "elapsed_exclusive". Returns false if there is none. */
bool measure_find(const char *name, enum export_time *measure);

/* Writes all names, separated by commas, for messages. */
void measure_names(char *text, size_t size);

/* Its key and its label. In a session of samples, elapsed time is called samples. */
const char *measure_key(const struct analysis *session, enum export_time measure);
const char *measure_label(const struct analysis *session, enum export_time measure);

/* True if it is a time, false if it is a count, as in a session of samples. */
bool measure_is_time(const struct analysis *session, enum export_time measure);

/* True if the measure is known for at least one thread of the session. */
bool measure_is_known(const struct analysis *session, enum export_time measure);

/* Sets the error and returns false if the measure is not known. */
bool measure_check(const struct analysis *session, enum export_time measure, struct error *error);

/* A path's exclusive time in ticks, or its calls. */
uint64_t measure_exclusive_ticks(const struct profile_node *node, enum export_time measure);

/* A path's inclusive time in ticks, or the calls of it and all paths below it, from its sums. */
uint64_t measure_inclusive(const struct times *times, enum export_time measure);

/* A path's exclusive time in nanoseconds, or its calls or samples. */
uint64_t measure_exclusive(const struct analysis *session, uint32_t node, enum export_time measure);

#endif
