/* Reads a module's code. The program may change its protection, so it does so in parts, and later if it must. */
#include "levels/level_read.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "helper.h"
#include "levels/code_lock.h"
#include "levels/code_pages.h"
#include "levels/level_check.h"
#include "levels/level_pause.h"
#include "levels/level_sites.h"
#include "probes.h"
#include "process.h"
#include "runtime.h"
#include "sys.h"
#include "value_probe.h"

/* A module may have the runtime's code, and call the probes themselves. Only the runtime's own library has nothing
 * else. */
#ifdef DWELL_ARCHIVE
enum { IS_A_LIBRARY = false };
#else
enum { IS_A_LIBRARY = true };
#endif

static bool level_calls_probes(const struct level_module *m)
{
    const bool has_probes = hook_places_code(&m->places, m->places.probes[HOOK_ENTER]) != NULL;
    return m->places.slot_count[HOOK_ENTER] > 0 || (has_probes && (m->program || !IS_A_LIBRARY));
}

enum { AT_ONCE = 1 << 16 /* bytes: half a millisecond */ };

/* Less code is read as quickly as what others have found. More is not even compared with theirs before the program goes
 * on. */
enum { LEAST_SHARED = 1 << 15, MOST_KNOWN = 4 << 20 };

/* Calls: to change so many takes as long as the probes of some 50,000 calls. A process that makes fewer calls than that
 * is not to wait for more. */
enum { MOST_SITES = 2000 };

/* What is done with the code, one after the other. */
enum level_stage {
    STAGE_KEY,   /* makes its key, then takes the sites that another process has found */
    STAGE_SITES, /* finds them */
    STAGE_AGAIN, /* makes the key once more, as the program may have changed the code, then shares the sites */
    STAGE_DONE,
};

enum level_reading { READ_MORE, READ_ALL, READ_LATER /* the program has made the code unreadable */ };

/* Whether processes of the session share what they find in the module. */
static bool level_shares(const struct level_module *m)
{
    return m->build_id.length && !m->sites.bare && m->end - m->begin >= LEAST_SHARED;
}

static enum level_stage level_read_stage(struct level_module *m)
{
    switch (m->stage) {
    case STAGE_KEY:
        if (site_key_more(&m->key, &m->places, &m->info))
            return STAGE_KEY;
        return level_sites_take(m) ? STAGE_DONE : STAGE_SITES;
    case STAGE_SITES:
        if (call_sites_find_more(&m->sites, &m->places, &m->info, AT_ONCE))
            return STAGE_SITES;
        return level_shares(m) ? STAGE_AGAIN : STAGE_DONE;
    case STAGE_AGAIN:
        if (site_key_more(&m->again, &m->places, &m->info))
            return STAGE_AGAIN;
        if (site_key_value(&m->again) == site_key_value(&m->key))
            level_sites_put(m);
        return STAGE_DONE;
    default:
        return STAGE_DONE;
    }
}

/* The program may protect its code anew between two parts. */
static enum level_reading level_read_part(struct level_module *m)
{
    enum level_reading reading = READ_LATER;
    code_lock_take();
    if (code_pages_are_readable(&m->places)) {
        m->stage = level_read_stage(m);
        reading = m->stage == STAGE_DONE ? READ_ALL : READ_MORE;
    }
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

static void level_read_first(struct level_module *m, bool bare)
{
    call_sites_find_first(&m->sites, bare);
    m->stage = level_shares(m) ? STAGE_KEY : STAGE_SITES;
    m->key = m->again = (struct site_key){ .begun = false };
}

bool level_read_sites(struct level_module *m, bool bare)
{
    level_read_first(m, bare);
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
    level_read_first(m, bare);
    m->reading = true;
}

bool level_read_known(struct level_module *m)
{
    const uint32_t count = m->end - m->begin <= MOST_KNOWN ? level_sites_count(m->build_id) : 0;
    if (!count || count > MOST_SITES)
        return false;
    level_read_begin(m, false);
    enum level_reading reading = READ_MORE;
    while (level_calls_probes(m) && reading == READ_MORE && m->stage == STAGE_KEY)
        reading = level_read_part(m);
    if (reading == READ_LATER)
        level_read_drop(m);
    return reading == READ_ALL;
}

const char *level_read_module(struct level_module *m, bool bare, bool in_parts)
{
    const struct value_probes values = value_probes();
    const struct rewriter_checks checks = { { (uint64_t)level_checked_enter, (uint64_t)level_checked_exit },
                                            level_open,
                                            { values.enter, values.exit } };
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
        if (m->read || m->denied || m->later || !level_module_is_reachable(m))
            continue;
        m->problem = level_read_module(m, false, true);
        if (m->reading)
            return true;
    }
    return false;
}

/* A folder of /proc has two links, and one for each folder in it. */
bool level_is_alone(void)
{
    struct stat tasks;
    const nlink_t own = runtime.process->helper.tid ? 2 : 1;
    return SYS4(newfstatat, AT_FDCWD, "/proc/self/task", &tasks, 0) == 0 && tasks.st_nlink == 2 + own;
}
