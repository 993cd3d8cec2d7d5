/* When calls are counted in place, and when there are too many threads for that. The session has a note about it. */
#include "levels/level_places.h"

#include "helper.h"
#include "levels/counts.h"
#include "levels/in_place.h"
#include "levels/level_records.h"
#include "levels/machine.h"

static const char *const level_not_opened =
    "counted calls lead to stubs: not all threads are known, there is no helper thread, or memory is in the way";
static const char *const level_crowded =
    "calls are not counted in place any more: there are too many threads, or one whose base of gs cannot be set";

static bool level_places_left;

static bool level_counts_calls(const struct level_module *m)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (level_table_find(levels_table, m->functions[i])->wanted == LEVEL_COUNTED)
            return true;
    return false;
}

static void level_note_stubs(const struct level_module *m)
{
    static bool noted;
    if (noted || !m->program || level_places_left || in_place_is_possible() || !level_counts_calls(m))
        return;
    noted = true;
    level_note(in_place_describe());
}

static void level_note_places(const struct level_module *m, bool any)
{
    static bool opened;
    if (any)
        level_note(in_place_describe());
    else if (!m->tries && !opened && !level_places_left)
        level_note(level_not_opened);
    opened |= any;
}

/* Before the first call is counted in place. What libraries do, and code that is made later, is not known. */
static void level_look_for_own_base(const struct level_module *m)
{
    static bool looked;
    for (uint32_t i = 0; !looked && i < m->places.code_count; i++) {
        const struct hook_code *code = &m->places.code[i];
        if (machine_code_sets_gs((const uint8_t *)code->begin, (const uint8_t *)code->end))
            in_place_give_up();
    }
    looked = true;
}

bool level_places_open(struct level_module *m)
{
    bool any = false, all = true;
    if (m->tries)
        level_look_for_own_base(m);
    if (in_place_is_foreign())
        m->tries = 0;
    if (!m->tries) {
        level_note_stubs(m);
        return false;
    }
    if (!counts_may_open()) {
        m->tries -= helper_is_here();
        level_note_places(m, false);
        return false;
    }
    for (uint32_t i = 0; i < m->count; i++) {
        const struct level_slot *slot = level_table_find(levels_table, m->functions[i]);
        if (slot->wanted != LEVEL_COUNTED || counts_is_open(slot->number))
            continue;
        const bool opened = counts_open(slot->number);
        any |= opened;
        all &= opened || counts_is_closed(slot->number);
        helper_serve(); /* each page takes a while */
    }
    m->tries = all ? 0 : m->tries - 1;
    level_note_places(m, any);
    return any;
}

static bool level_has_places(const struct level_module *m)
{
    for (uint32_t i = 0; i < m->sites.count; i++)
        if (m->sites.list[i].form == CALL_IN_PLACE && !m->sites.list[i].strange)
            return true;
    return false;
}

bool level_places_are_crowded(void)
{
    return counts_are_closing() && !level_places_left;
}

bool level_places_leave(struct level_module *first)
{
    bool any = false, had = false;
    counts_leave();
    for (struct level_module *m = first; m; m = m->next) {
        const bool has = level_has_places(m);
        if (has)
            level_module_leave_places(m);
        had |= has;
        any |= level_has_places(m);
    }
    if (had)
        level_note(in_place_is_foreign() ? in_place_describe() : level_crowded);
    if (any || level_places_left)
        return !any;
    level_places_left = true;
    counts_close();
    return true;
}
