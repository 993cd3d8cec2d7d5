/* The table of the features. The build lists those that it has in enabled_features.h. */
#include "commands/features.h"

#include <string.h>

#define FEATURE(name) extern const struct feature feature_##name;
#include "enabled_features.h"
#undef FEATURE

#define FEATURE(name) &feature_##name,
const struct feature *const features[] = {
#include "enabled_features.h"
    NULL,
};

bool feature_is_built(const char *name)
{
    for (const struct feature *const *feature = features; *feature; feature++)
        if (strcmp((*feature)->name, name) == 0)
            return true;
    return false;
}

enum { MAX_FORMATS = 64 };

/* The features' formats come first. */
const struct export_format *const *all_exports(void)
{
    static const struct export_format *all[MAX_FORMATS + 1];
    size_t count = 0;
    for (const struct feature *const *feature = features; *feature; feature++)
        for (const struct export_format *f = (*feature)->exports; f && f->name && count < MAX_FORMATS; f++)
            all[count++] = f;
    for (const struct export_format *f = export_formats; f->name && count < MAX_FORMATS; f++)
        all[count++] = f;
    all[count] = NULL;
    return all;
}

const struct import_format *const *all_imports(void)
{
    static const struct import_format *all[MAX_FORMATS + 1];
    size_t count = 0;
    for (const struct feature *const *feature = features; *feature; feature++)
        for (const struct import_format *f = (*feature)->imports; f && f->name && count < MAX_FORMATS; f++)
            all[count++] = f;
    all[count] = NULL;
    return all;
}

const struct export_format *find_export(const char *name)
{
    for (const struct export_format *const *format = all_exports(); *format; format++)
        if (strcmp((*format)->name, name) == 0)
            return *format;
    return NULL;
}

const struct import_format *find_import(const char *name)
{
    for (const struct import_format *const *format = all_imports(); *format; format++)
        if (strcmp((*format)->name, name) == 0)
            return *format;
    return NULL;
}
