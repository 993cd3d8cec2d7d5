/* The stubs of a module that count calls: those for all functions with a number, and those for calls across cache
 * lines, which cannot be led to the usual ones while threads may run them. */
#include "levels/level_stubs.h"

#include "level_table.h"
#include "levels/count_stubs.h"
#include "levels/level_check.h"
#include "levels/level_module.h"
#include "levels/rewrite.h"

/* The usual stub that counts calls of the function with that number; zero if there is none. */
static uint64_t level_count_stub(const struct level_module *m, uint32_t number)
{
    for (uint32_t i = 0; i < m->stub_count; i++) {
        const uint64_t stub = count_stubs_find(&m->stubs[i], number);
        if (stub)
            return stub;
    }
    return 0;
}

/* For functions that are counted later as well: each time for twice as many. */
void level_stubs_make(struct level_module *m)
{
    uint32_t first = UINT32_MAX, last = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        const struct level_slot *slot = level_table_find(levels_table, m->functions[i]);
        if (slot->wanted != LEVEL_COUNTED || level_count_stub(m, slot->number))
            continue;
        first = slot->number < first ? slot->number : first;
        last = slot->number > last ? slot->number : last;
    }
    if (first > last || m->stub_count == MAX_COUNT_STUBS)
        return;
    const uint32_t needed = last - first + 1, more = MIN_COUNT_STUBS << m->stub_count;
    count_stubs_make(&m->stubs[m->stub_count++], &m->places, first, needed > more ? needed : more, level_counted_enter);
}

static void level_write_stub(void *at, uint32_t number)
{
    count_stubs_write_one(at, number, level_counted_enter);
}

/* No call comes to a stub that it could not leave again. */
uint64_t level_stub_of(struct level_module *m, const struct call_site *site, uint32_t number)
{
    return machine_needs_twin(site) ? rewriter_counting_stub(&m->rewriter, site, number, level_write_stub)
                                    : level_count_stub(m, number);
}

void level_stubs_drop(struct level_module *m)
{
    for (uint32_t i = 0; i < m->stub_count; i++)
        count_stubs_drop(&m->stubs[i]);
    m->stub_count = 0;
}
