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

enum { AT_ONCE = 1 << 16 /* bytes: half a millisecond */ };

enum level_reading { READ_MORE, READ_ALL, READ_LATER /* the program has made the code unreadable */ };

/* The program may protect its code anew between two parts. */
static enum level_reading level_read_part(struct level_module *m)
{
    enum level_reading reading = READ_LATER;
    code_lock_take();
    if (code_pages_are_readable(&m->places))
        reading = call_sites_find_more(&m->sites, &m->places, &m->info, AT_ONCE) ? READ_MORE : READ_ALL;
    code_lock_release();
    return reading;
}

/* Threads may wait for the helper. */
static enum level_reading level_read_all(struct level_module *m)
{
    enum level_reading reading;
    while ((reading = level_read_part(m)) == READ_MORE)
        if (helper_is_here())
            helper_serve();
    return reading;
}

bool level_read_sites(struct level_module *m, bool bare)
{
    call_sites_find_first(&m->sites, bare);
    return level_read_all(m) == READ_ALL;
}

static void level_read_drop(struct level_module *m)
{
    call_sites_drop(&m->sites);
    m->reading = false;
}

static void level_read_begin(struct level_module *m, bool bare)
{
    if (m->reading && m->sites.bare && !bare)
        level_read_drop(m);
    if (m->reading)
        return;
    m->places = (struct hook_places){ .probes = { (uint64_t)probe_enter, (uint64_t)probe_exit } };
    hook_places_find(&m->places, &m->info);
    call_sites_find_first(&m->sites, bare);
    m->reading = true;
}

const char *level_read_module(struct level_module *m, bool bare, bool in_parts)
{
    const struct rewriter_checks checks = { { (uint64_t)level_checked_enter, (uint64_t)level_checked_exit },
                                            level_open };
    level_read_begin(m, bare);
    const enum level_reading reading = !level_calls_probes(m) ? READ_ALL
                                       : in_parts             ? level_read_part(m)
                                                              : level_read_all(m);
    if (reading == READ_LATER)
        level_read_drop(m);
    if (reading != READ_ALL)
        return NULL;
    m->read = true;
    m->reading = false;
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

bool level_read_ahead(struct level_module *first)
{
    for (struct level_module *m = first; m; m = m->next) {
        if (m->read || m->denied || !level_module_is_reachable(m))
            continue;
        m->problem = level_read_module(m, false, true);
        if (m->reading)
            return true;
    }
    return false;
}
