/* The features: parts of dwell that a build can leave out (meson's options of the same names). Each has a folder, whose
 * NAME_feature.c says what it adds. All that they add is found here, so nothing else knows which of them there are. */
#ifndef DWELL_COMMANDS_FEATURES_H
#define DWELL_COMMANDS_FEATURES_H

#include "commands/commands.h"
#include "export/exports.h"
#include "import/imports.h"

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

/* All formats, in the order of --list, which ends with NULL. */
const struct export_format *const *all_exports(void);
const struct import_format *const *all_imports(void);

/* NULL if there is no format of that name. */
const struct export_format *find_export(const char *name);
const struct import_format *find_import(const char *name);

#endif
