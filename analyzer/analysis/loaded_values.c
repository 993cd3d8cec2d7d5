/* Keeps the recorded values of a session, so that they are read once. */
#include "analysis/loaded_values.h"

#include <stdlib.h>

#include "base/memory.h"

struct loaded_values {
    bool read;
    struct recorded_values values;
};

void loaded_values_begin(struct analysis *analysis)
{
    if (!analysis->request.values)
        analysis->request.values = need_memory(1, sizeof *analysis->request.values);
}

const struct recorded_values *loaded_values(const struct analysis *analysis)
{
    static const struct recorded_values none;
    struct loaded_values *v = analysis->request.values;
    return v ? loaded_values_of(&v, analysis->file) : &none;
}

const struct recorded_values *loaded_values_of(struct loaded_values **values, const struct session_file *file)
{
    if (!*values)
        *values = need_memory(1, sizeof **values);
    if (!(*values)->read)
        (*values)->values = recorded_values_read(file);
    (*values)->read = true;
    return &(*values)->values;
}

struct loaded_values *loaded_values_take(struct analysis *analysis)
{
    struct loaded_values *v = analysis->request.values;
    analysis->request.values = NULL;
    return v;
}

void loaded_values_drop(struct loaded_values *v)
{
    if (v)
        recorded_values_free(&v->values);
    free(v);
}
