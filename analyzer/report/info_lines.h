/* Lines of dwell info. */
#ifndef DWELL_REPORT_INFO_LINES_H
#define DWELL_REPORT_INFO_LINES_H

#include "analysis/analysis.h"
#include "base/time_unit.h"
#include "trace/session_file.h"

/* A name and a text in the format of printf. Where it is wider than the terminal, it goes on in lines below. */
void info_print_line(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes a time with its unit to `text` and returns it. */
const char *info_time(const struct session_file *f, uint64_t ticks, char text[TIME_TEXT]);

/* Changes of the levels of functions, at most `limit` of those that the budget has chosen. Zero: all. */
void info_print_levels(const struct session_file *f, size_t limit);

/* Calls whose windows were kept, at most `limit` of them (zero: all), and how many were not. */
void info_print_kept(const struct session_file *f, size_t limit);

/* Which values of arguments it holds. */
void info_print_values(const struct session_file *f);

/* Which calls into libraries are recorded. */
void info_print_libraries(const struct session_file *f);

/* The tables of processes and of threads. */
void info_print_processes(const struct session_file *f);
void info_print_threads(const struct analysis *analysis);

/* The table of CPU times, if those of a process are known. */
void info_print_cpu(const struct analysis *analysis);

#endif
