/* Logs for tests of the PerfLog reader. */
#ifndef DWELL_TESTS_PERFLOG_H
#define DWELL_TESTS_PERFLOG_H

#include <stdbool.h>
#include <stddef.h>

#include "perflog/perflog_views.h"

#define LOG_HEADER                                                                                                     \
    "## PERF ## OSVERSION=[6.0] BUILD=[1234]\n"                                                                        \
    "## PERF ## PLATFORM=[CEPC] CPU=[x86]\n"                                                                           \
    "## PERF ## DEVNAME=[CEPC]\n"                                                                                      \
    "## PERF ## REGISTERED APP [a] PROCCESSID [0x03d3002e]\n"                                                          \
    "## PERF ## RESOLUTION [1000] TICKS PER SECOND\n"
#define LOG_MARKER(string, id) "## PERF ## REGISTERED MARKER [" string "] AS [" #id "] BY APP [a]\n"
#define LOG_DURATION(id, ticks) "## PERF ## APP [a] EVT [" #id "] DUR [" #ticks "]\n"

/* For suites: discards the messages about lines. */
void log_quietly(void);

/* Reads these bytes as a log. */
struct perflog *log_of_bytes(const void *bytes, size_t length, bool instances);
struct perflog *log_of(const char *text);

/* Reads the file of that name in tests/golden/perflog. */
struct perflog *log_of_file(const char *name, bool instances);

/* The rows of a log. row_of fails the test if the row does not exist. */
struct rows {
    struct perflog_row *list;
    size_t count;
};
struct rows rows_of(const struct perflog *log, bool instances);
const struct perflog_row *row_of(const struct rows *rows, const char *app, const char *marker);

#endif
