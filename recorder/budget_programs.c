/* Which program a process runs, and how many calls the processes of each have made. */
#include "recorder/budget_programs.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dwell/format.h"
#include "profile/budget_levels.h"

const struct trace_module *budget_program_module(const struct trace_process *p)
{
    const struct trace_module *first = NULL;
    for (size_t i = 0; i < p->module_count; i++)
        if (!first || p->modules[i].serial < first->serial)
            first = &p->modules[i];
    return first;
}

static bool budget_program_is(const struct budget_program *program, const struct trace_module *m, uint32_t process)
{
    return m->build_id_length ? program->build_id_length == m->build_id_length &&
                                    memcmp(program->build_id, m->build_id, m->build_id_length) == 0
                              : program->process == process;
}

uint32_t budget_program_of(struct budget_programs *programs, const struct session_file *file, uint32_t process)
{
    const struct trace_process *p = session_file_process(file, process);
    const struct trace_module *m = p ? budget_program_module(p) : NULL;
    size_t i = 0;
    if (!m)
        return BUDGET_NO_PROGRAM;
    while (i < programs->count && !budget_program_is(&programs->list[i], m, process))
        i++;
    if (i < programs->count)
        return (uint32_t)i;
    GROW(programs->list, programs->count, programs->room);
    struct budget_program *added = &programs->list[programs->count++];
    *added = (struct budget_program){ .path = need_copy(m->path, strlen(m->path)), .process = process };
    if (!m->build_id_length)
        return (uint32_t)i;
    added->build_id = need_memory(m->build_id_length, 1);
    added->build_id_length = m->build_id_length;
    added->key = dwell_program_key(m->build_id, m->build_id_length);
    added->process = 0;
    memcpy(added->build_id, m->build_id, m->build_id_length);
    return (uint32_t)i;
}

bool budget_program_spend(struct budget_program *program, uint64_t calls)
{
    program->calls += calls;
    if (program->is_spent || program->calls <= BUDGET_ALLOWANCE)
        return false;
    program->is_spent = true;
    return true;
}

bool budget_programs_have_spent(const struct budget_programs *programs, uint32_t key)
{
    for (size_t i = 0; i < programs->count; i++)
        if (programs->list[i].is_spent && programs->list[i].key == key)
            return true;
    return false;
}

void budget_programs_drop(struct budget_programs *programs)
{
    for (size_t i = 0; i < programs->count; i++) {
        free(programs->list[i].path);
        free(programs->list[i].build_id);
    }
    free(programs->list);
}
