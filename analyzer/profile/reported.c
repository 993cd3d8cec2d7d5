/* Replaces sums of the call tree by the values that an imported report states. */
#include "profile/reported.h"

#include <stdlib.h>

#include "base/memory.h"
#include "dwell/format.h"
#include "profile/rollup.h"

static bool reported_has_process(const struct profile *p, uint32_t serial)
{
    for (size_t i = 0; i < p->thread_count; i++)
        if (p->threads[i].process == serial)
            return true;
    return false;
}

/* Replaces sums by the rows of a kind. Several processes can have a row for the same entry; these are added up. */
static void reported_replace_sums(const struct profile *p, enum dwell_reported kind, struct times *sums, size_t count)
{
    bool *begun = need_memory(count, sizeof *begun);
    for (size_t i = 0; i < p->reported_count; i++) {
        const struct profile_reported *r = &p->reported[i];
        if (r->kind != kind || !reported_has_process(p, r->process))
            continue;
        if (!begun[r->function])
            sums[r->function] = times_of_nothing();
        begun[r->function] = true;
        times_add(&sums[r->function], &r->times);
    }
    free(begun);
}

void reported_functions(const struct profile *p, struct times *sums)
{
    reported_replace_sums(p, DWELL_REPORTED_FUNCTION, sums, p->function_count);
}

void reported_modules(const struct profile *p, struct times *sums)
{
    reported_replace_sums(p, DWELL_REPORTED_MODULE, sums, p->module_count);
}

const struct dwell_stated **reported_stated(const struct profile *p, enum dwell_reported kind, uint32_t process)
{
    const size_t count = kind == DWELL_REPORTED_MODULE ? p->module_count : p->function_count;
    const struct dwell_stated **list = need_memory(count, sizeof *list);
    bool *begun = need_memory(count, sizeof *begun);
    for (size_t i = 0; i < p->reported_count; i++) {
        const struct profile_reported *r = &p->reported[i];
        if (r->kind != kind || (process != PROFILE_NONE && r->process != process))
            continue;
        list[r->function] = begun[r->function] ? NULL : &r->stated;
        begun[r->function] = true;
    }
    free(begun);
    return list;
}

bool stated_value(const struct dwell_stated *stated, unsigned column, double *value)
{
    if (!stated || !(stated->columns >> column & 1))
        return false;
    *value = stated->values[column];
    return true;
}

bool reported_has_edges(const struct profile *p)
{
    for (size_t i = 0; i < p->reported_count; i++)
        if (p->reported[i].kind == DWELL_REPORTED_CALLER || p->reported[i].kind == DWELL_REPORTED_CALLEE)
            return true;
    return false;
}
