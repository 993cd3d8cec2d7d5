/* The levels that a module's functions begin with: of the command line, of before it was unloaded, of the session. */
#include "levels/level_begin.h"

#include "filter.h"
#include "helper.h"
#include "levels/in_place.h"
#include "levels/level_command.h"
#include "levels/level_kept.h"
#include "levels/level_records.h"
#include "levels/level_session.h"
#include "process.h"
#include "runtime.h"
#include "sys.h"

/* Bytes of code that are read before the program goes on: it takes as long as the probes of some 50,000 calls. A
 * process that makes fewer calls than that is not to wait for more. */
enum { AT_ONCE = 128 << 10 };

static void level_begin_filtered(struct level_module *m, uint32_t filter)
{
    const uint32_t count = filter ? filter_levels_of_module(filter, m->info.dlpi_addr, NULL, 0) : 0;
    struct leveled_function *functions = count ? sys_memory(count * sizeof *functions) : NULL;
    if (!functions)
        return;
    in_place_wanted = true;
    filter_levels_of_module(filter, m->info.dlpi_addr, functions, count);
    for (uint32_t i = 0; i < count; i++)
        if (!level_module_want(m, functions[i].function, functions[i].level) && functions[i].level == LEVEL_COUNTED)
            level_note("too many functions have the level counted: some of them stay timed");
    sys_unmap(functions, count * sizeof *functions);
}

void level_begin_module(struct level_module *m, uint32_t filter)
{
    if (m->program)
        level_session_begin_program(m->build_id);
    level_begin_filtered(m, filter);
    const bool filtered = m->count > 0, session = !level_kept_take(m) && level_session_take(m);
    level_begin_patterns(m);
    m->later = session && !filtered && !m->patterns && m->end - m->begin > AT_ONCE;
}

static void level_set_offset(void *context, uint64_t offset, enum level level)
{
    struct level_module *m = context;
    level_module_want(m, m->info.dlpi_addr + offset, level);
}

void level_begin_patterns(struct level_module *m)
{
    const uint64_t patterns = level_command_patterns();
    if (m->patterns == patterns)
        return;
    level_command_ask(m->build_id, m->path, level_set_offset, m);
    m->patterns = patterns;
}

bool level_begins_later(const struct level_module *m)
{
    return m->later && runtime.process->helper.tid;
}
