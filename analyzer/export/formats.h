/* What each format's file offers to the table of them. */
#ifndef DWELL_EXPORT_FORMATS_H
#define DWELL_EXPORT_FORMATS_H

#include "export/exports.h"

void export_perflog(const struct analysis *session, const struct export_options *options, FILE *out);
void export_vsperf(const struct analysis *session, const struct export_options *options, const char *prefix);
void export_callgrind(const struct analysis *session, const struct export_options *options, FILE *out);
void export_collapsed(const struct analysis *session, const struct export_options *options, FILE *out);
void export_pprof(const struct analysis *session, const struct export_options *options, FILE *out);
void export_speedscope(const struct analysis *session, const struct export_options *options, FILE *out);
void export_chrome(const struct analysis *session, const struct export_options *options, FILE *out);
void export_perfetto(const struct analysis *session, const struct export_options *options, FILE *out);
void export_ctf(const struct analysis *session, const struct export_options *options, const char *path);
void export_firefox(const struct analysis *session, const struct export_options *options, FILE *out);
void export_sqlite(const struct analysis *session, const struct export_options *options, const char *path);

#endif
