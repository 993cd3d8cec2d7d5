/* The functions of all formats, for the table in exports.c. */
#ifndef DWELL_EXPORT_FORMATS_H
#define DWELL_EXPORT_FORMATS_H

#include "export/exports.h"

bool export_callgrind(const struct analysis *session, const struct export_options *options, FILE *out,
                      struct error *error);
bool export_collapsed(const struct analysis *session, const struct export_options *options, FILE *out,
                      struct error *error);
bool export_pprof(const struct analysis *session, const struct export_options *options, FILE *out, struct error *error);
bool export_speedscope(const struct analysis *session, const struct export_options *options, FILE *out,
                       struct error *error);
bool export_chrome(const struct analysis *session, const struct export_options *options, FILE *out,
                   struct error *error);
bool export_perfetto(const struct analysis *session, const struct export_options *options, FILE *out,
                     struct error *error);
bool export_ctf(const struct analysis *session, const struct export_options *options, const char *path,
                struct error *error);
bool export_firefox(const struct analysis *session, const struct export_options *options, FILE *out,
                    struct error *error);
bool export_sqlite(const struct analysis *session, const struct export_options *options, const char *path,
                   struct error *error);

#endif
