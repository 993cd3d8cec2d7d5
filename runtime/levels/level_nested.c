/* Which functions can be NESTED. Their exits have to tell apart calls that are open at the same time. So no frame may
 * have two such calls, and each exit must be in the frame of its enter, and be checked. */
#include "levels/level_nested.h"

/* A function is inlined into itself, perhaps: its calls have one frame then. */
static void level_nested_note_enter(struct level_slot *slot, uint32_t code, bool unknown)
{
    slot->unsure |= unknown || slot->code == code;
    slot->code = code;
}

/* The exit may be in a part of the function that the compiler has made a function of its own. */
static void level_nested_note_exit(struct level_slot *slot, uint32_t code, bool checked)
{
    slot->unsure |= !checked || slot->code != code;
}

static struct level_slot *level_nested_slot(const struct level_module *m, const struct call_site *site)
{
    struct level_slot *slot = site->function ? level_table_find(levels_table, site->function) : NULL;
    return slot && slot->module == m->number ? slot : NULL;
}

/* The sites from `begin` to `end` are those of one function's code. */
static void level_nested_look_at_code(const struct level_module *m, uint32_t begin, uint32_t end)
{
    bool unknown = false;
    for (uint32_t i = begin; i < end; i++) {
        const struct call_site *site = &m->sites.list[i];
        unknown |= site->strange || (!site->function && (site->hook == HOOK_ENTER || site->form != CALL_CHECKED));
    }
    for (uint32_t i = begin; i < end; i++) {
        struct level_slot *slot = level_nested_slot(m, &m->sites.list[i]);
        if (slot && m->sites.list[i].hook == HOOK_ENTER)
            level_nested_note_enter(slot, begin + 1, unknown);
    }
    for (uint32_t i = begin; i < end; i++) {
        struct level_slot *slot = level_nested_slot(m, &m->sites.list[i]);
        if (slot && m->sites.list[i].hook == HOOK_EXIT)
            level_nested_note_exit(slot, begin + 1, m->sites.list[i].form == CALL_CHECKED);
    }
}

static bool level_nested_is_open(const struct level_slot *slot, const struct level_look *look)
{
    const uint32_t changing = LEVEL_LEAVING | LEVEL_RETURNING | LEVEL_FRESH;
    return (slot->state & changing) == LEVEL_LEAVING && slot->open == look->number && !look->blind;
}

static bool level_nested_is_needed(const struct level_module *m, const struct level_look *look)
{
#if defined(__x86_64__)
    for (uint32_t i = 0; i < m->count; i++) {
        const struct level_slot *slot = level_table_find(levels_table, m->functions[i]);
        if (level_nested_is_open(slot, look) && !(slot->state & LEVEL_NESTED))
            return !m->pause && !m->sites.more_enters && !m->sites.bare;
    }
#endif
    (void)m, (void)look;
    return false;
}

bool level_nested_find(struct level_module *m, const struct level_look *look)
{
    if (!level_nested_is_needed(m, look))
        return false;
    if (m->nests_known)
        return true;
    m->nests_known = true;
    for (uint32_t i = 0; i < m->count; i++) {
        struct level_slot *slot = level_table_find(levels_table, m->functions[i]);
        slot->unsure = false;
        slot->code = 0;
    }
    for (uint32_t begin = 0, end; begin < m->sites.count; begin = end) {
        for (end = begin + 1; end < m->sites.count && !m->sites.list[end].first;)
            end++;
        level_nested_look_at_code(m, begin, end);
    }
    return true;
}

bool level_nested_may_be(const struct level_slot *slot, const struct level_look *look)
{
    return level_nested_is_open(slot, look) && slot->code && !slot->unsure;
}
