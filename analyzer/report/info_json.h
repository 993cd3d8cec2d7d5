/* dwell info as JSON and CSV. */
#ifndef DWELL_REPORT_INFO_JSON_H
#define DWELL_REPORT_INFO_JSON_H

#include "analysis/analysis.h"

/* Prints the document. Times are nanoseconds; what is unknown is null. */
void info_print_json(const struct analysis *session, const char *path);

/* Prints the facts about the session, each a row: its key in the JSON document, and its value. */
void info_print_csv(const struct analysis *session, const char *path);

#endif
