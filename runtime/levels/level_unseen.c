/* Calls of probes that keep their form, though they are to lead to another probe than the usual one. */
#include "levels/level_unseen.h"

static const char *const level_not_watched =
    "some calls of probes cannot be rewritten: not all slow calls of the functions of --keep are kept";
static const char *const level_not_valued =
    "some calls of probes cannot be rewritten: not all values of the functions of --values are recorded";

/* Whether an exit of a watched function leads to the usual probe. */
static bool level_has_unwatched(const struct level_module *m)
{
    for (uint32_t i = 0; i < m->sites.count; i++) {
        const struct call_site *site = &m->sites.list[i];
        if (site->hook == HOOK_EXIT && site->wanted == CALL_CHECKED && site->form == CALL_ORIGINAL)
            return true;
    }
    return false;
}

/* Whether a call that is to read values leads to the usual probe. */
static bool level_has_unvalued(const struct level_module *m)
{
    for (uint32_t i = 0; i < m->sites.count; i++)
        if (m->sites.list[i].wanted == CALL_VALUES && m->sites.list[i].form != CALL_VALUES)
            return true;
    return false;
}

const char *level_unseen(const struct level_module *m)
{
    if (m->watched && level_has_unwatched(m))
        return level_not_watched;
    return m->valued && level_has_unvalued(m) ? level_not_valued : NULL;
}
