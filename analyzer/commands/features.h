/* The features: parts of dwell that a build can leave out (meson's options of the same names). Each has a folder, whose
 * NAME_feature.c says what it adds. All that they add is found here, so nothing else knows which of them there are. */
#ifndef DWELL_COMMANDS_FEATURES_H
#define DWELL_COMMANDS_FEATURES_H

#include "commands/commands.h"
#include "export/exports.h"

/* The formats of other profilers that can be imported as sessions. */
struct import_options {
    uint64_t resolution; /* ticks per second; zero for that of the files, or nanoseconds */
};

struct import_format {
    const char *name;
    const char *does; /* a line for --list */
    /* Reads all files and writes the session. Where that fails, no session is written. */
    bool (*read)(char *const *files, size_t count, const struct import_options *options, const char *output,
                 struct error *error);
};

struct named_command {
    const char *name;
    command *run;
    const char *does;
    const char *group; /* of the help; NULL if that of the command before */
    bool paged;        /* its output may be long */
    const char *after; /* of a feature: the command that it follows in the help */
};

/* Each list ends with an element without a name. NULL is an empty list. */
struct feature {
    const char *name;
    const struct named_command *commands;
    const struct export_format *exports;
    const struct import_format *imports;
};

/* Those of this build. The last one is NULL. */
extern const struct feature *const features[];

bool feature_is_built(const char *name);

/* All formats, in the order of --list, which ends with NULL. */
const struct export_format *const *all_exports(void);
const struct import_format *const *all_imports(void);

/* NULL if there is no format of that name. */
const struct export_format *find_export(const char *name);
const struct import_format *find_import(const char *name);

#endif
