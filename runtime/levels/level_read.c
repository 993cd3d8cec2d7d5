/* Reads a module's code. The program may change its protection, so it does so in parts, and later if it must. */
#include "levels/level_read.h"

#include "helper.h"
#include "levels/code_lock.h"
#include "levels/code_pages.h"
#include "levels/level_check.h"
#include "levels/level_pause.h"
#include "probes.h"

static bool level_calls_probes(const struct level_module *m)
{
    return m->places.slot_count[HOOK_ENTER] > 0 || hook_places_code(&m->places, m->places.probes[HOOK_ENTER]);
}

/* Threads may wait for the helper, or to protect their code anew. */
static bool level_read_meanwhile(const struct hook_places *places)
{
    code_lock_release();
    if (helper_is_here())
        helper_serve();
    code_lock_take();
    return code_pages_are_readable(places);
}

bool level_read_sites(struct level_module *m, bool bare)
{
    code_lock_take();
    call_sites_find(&m->sites, &m->places, &m->info, bare, level_read_meanwhile);
    const bool readable = m->sites.complete || code_pages_are_readable(&m->places);
    code_lock_release();
    return readable;
}

const char *level_read_module(struct level_module *m, bool bare)
{
    const struct rewriter_checks checks = { { (uint64_t)level_checked_enter, (uint64_t)level_checked_exit },
                                            level_open };
    m->read = true;
    m->places = (struct hook_places){ .probes = { (uint64_t)probe_enter, (uint64_t)probe_exit } };
    hook_places_find(&m->places, &m->info);
    if (!level_calls_probes(m)) {
        m->sites.complete = true;
    } else if (!level_read_sites(m, bare)) {
        call_sites_drop(&m->sites);
        m->read = false;
        return NULL;
    }
    if (!m->sites.complete)
        return "a module has no table of its functions' code: its functions with the level out stay timed";
    if (m->sites.count == 0) {
        m->denied = true;
        return NULL;
    }
    if (!rewriter_begin(&m->rewriter, &m->places, &checks))
        return "no memory for code can be had: functions with the level out stay timed";
    rewriter_make_twins(&m->rewriter, &m->sites, &checks);
    return NULL;
}

void level_module_read_ahead(struct level_module *m)
{
    if (!m->read && !m->denied)
        m->problem = level_read_module(m, false);
}
