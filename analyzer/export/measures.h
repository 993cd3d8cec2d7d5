/* The values of a call path that formats can show: one of its times, or its calls. */
#ifndef DWELL_EXPORT_MEASURES_H
#define DWELL_EXPORT_MEASURES_H

#include "export/exports.h"

/* Finds a value by its name, such as "elapsed_exclusive"; false if there is none. */
bool measure_find(const char *name, enum export_time *measure);

/* All names, for messages. */
void measure_names(char *text, size_t size);

/* Its key, its label, and whether it is a time. */
const struct value *measure_value(enum export_time measure);

/* True if the measure is known for at least one thread of the session. */
bool measure_is_known(const struct analysis *session, enum export_time measure);

/* Returns an error if it does not. */
bool measure_check(const struct analysis *session, enum export_time measure, struct error *error);

/* A path's exclusive time in ticks, or its calls. */
uint64_t measure_exclusive_ticks(const struct profile_node *node, enum export_time measure);

/* The same with those below it, from the path's sums. */
uint64_t measure_inclusive(const struct times *times, enum export_time measure);

/* Of the path itself, in nanoseconds, or calls. */
uint64_t measure_exclusive(const struct analysis *session, uint32_t node, enum export_time measure);

#endif
