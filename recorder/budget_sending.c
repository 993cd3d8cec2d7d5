/* Levels on their way from the budget's thread to the processes. All get the command before any answer is awaited. */
#include "recorder/budget_sending.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "clock.h"
#include "recorder/control_chunk.h"
#include "recorder/filter_chunk.h"

enum {
    PATIENCE = 50, /* milliseconds for a process to end an earlier command */
    ANSWER = 20,   /* and for all to answer: they may go on after that */
};

static int budget_compare_modules(const void *a, const void *b, void *functions)
{
    const struct budget_function *x = (const struct budget_function *)functions + *(const uint32_t *)a,
                                 *y = (const struct budget_function *)functions + *(const uint32_t *)b;
    return ORDER_BY(x, y, module, offset);
}

void budget_sort(struct budget_function *functions, uint32_t *numbers, size_t count)
{
    qsort_r(numbers, count, sizeof *numbers, budget_compare_modules, functions);
}

/* Sorted functions as lists of their modules. */
struct budget_lists {
    struct dwell_filter *functions;
    struct filter_chunk_module *modules; /* with room for `more` others */
    size_t module_count;
};

static struct budget_lists budget_list(const struct profile *names, const struct budget_function *functions,
                                       const uint32_t *numbers, size_t count, size_t more)
{
    struct budget_lists lists = {
        .functions = need_memory(count, sizeof *lists.functions),
        .modules = need_memory(count + more, sizeof *lists.modules),
    };
    for (size_t i = 0; i < count; i++) {
        const struct budget_function *f = &functions[numbers[i]];
        const struct profile_module *m = &names->modules[f->module];
        lists.functions[i] =
            (struct dwell_filter){ f->offset, f->is_counted ? DWELL_PROBES_COUNTED : DWELL_PROBES_TIMED, 0 };
        if (i == 0 || functions[numbers[i - 1]].module != f->module)
            lists.modules[lists.module_count++] =
                (struct filter_chunk_module){ m->path, m->build_id, m->build_id_length, &lists.functions[i], 0 };
        lists.modules[lists.module_count - 1].count++;
    }
    return lists;
}

static void budget_lists_drop(struct budget_lists *lists)
{
    free(lists->modules);
    free(lists->functions);
}

uint64_t budget_write_levels(const struct session *session, int fd, const struct profile *names,
                             const struct budget_function *functions, const uint32_t *numbers, size_t count)
{
    struct budget_lists lists = budget_list(names, functions, numbers, count, 0);
    struct dwell_filters head = { .chunk.kind = DWELL_CHUNK_LEVELS };
    const uint64_t offset = filter_chunk_write(&head, lists.modules, lists.module_count, NULL, session, fd);
    budget_lists_drop(&lists);
    return offset;
}

/* Space for the chunk that is not in use now. */
static bool budget_slot_fit(struct budget_slot *slot, const struct session *session, int fd, uint64_t size)
{
    if (slot->size >= size)
        return true;
    const uint64_t room = slot->size ? 2 * size : size,
                   offset = room <= DWELL_CHUNK_LARGEST ? session_claim(session, fd, (uint32_t)room) : 0;
    if (!offset)
        return false;
    *slot = (struct budget_slot){ offset, (uint32_t)room };
    return true;
}

bool budget_publish(struct budget_publication *p, const struct session *session, int fd, const struct profile *names,
                    const struct budget_function *functions, const uint32_t *numbers, size_t count,
                    const struct budget_programs *programs)
{
    struct budget_lists lists = budget_list(names, functions, numbers, count, programs->count);
    for (size_t i = 0; i < programs->count; i++) {
        const struct budget_program *program = &programs->list[i];
        if (program->is_spent && program->build_id_length)
            lists.modules[lists.module_count++] =
                (struct filter_chunk_module){ program->path, program->build_id, program->build_id_length, NULL, 0 };
    }
    const uint32_t number = p->number + 1;
    struct budget_slot *slot = &p->slots[number % 2];
    bool done = budget_slot_fit(slot, session, fd, filter_chunk_size(lists.modules, lists.module_count, NULL));
    if (done) {
        struct dwell_filters head = { .chunk.kind = DWELL_CHUNK_LEVELS, .chunk.size = slot->size };
        done = filter_chunk_put(&head, lists.modules, lists.module_count, NULL, session, fd, slot->offset);
    }
    budget_lists_drop(&lists);
    if (!done)
        return false;
    p->number = number;
    __atomic_store_n(&session_more(session)->levels, slot->offset + number % DWELL_UNIT, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* what processes say about themselves is read after that */
    return true;
}

struct budget_letters {
    struct dwell_control **controls;
    size_t count, room;
};

static enum budget_answer budget_take_answer(struct dwell_control *control, uint64_t until, enum budget_answer all)
{
    const uint64_t now = clock_monotonic();
    const long patience = now < until ? (long)((until - now) / 1000000) + 1 : 0;
    const enum control_answer answer = control_chunk_await(control, patience);
    if (answer == CONTROL_SILENT || control->result > 0)
        return BUDGET_DONE;
    return all == BUDGET_LATER ? BUDGET_REFUSED : all;
}

enum budget_answer budget_post(const struct session *session, int fd, uint64_t levels,
                               bool (*is_told)(const void *of, const struct dwell_control *control), const void *of)
{
    struct budget_letters letters = { .count = 0 };
    enum budget_answer all = BUDGET_NOBODY;
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, levels);
    struct control_walk walk = control_walk_begin(__atomic_load_n(&session->header->first_control, __ATOMIC_ACQUIRE));
    for (struct dwell_control *control; (control = control_chunk_next(fd, &walk));) {
        const enum control_answer posted =
            is_told(of, control) ? control_chunk_post(control, DWELL_COMMAND_LEVEL, text, PATIENCE) : CONTROL_DEAF;
        if (posted != CONTROL_DEAF)
            all = BUDGET_LATER;
        if (posted != CONTROL_DONE) {
            munmap(control, DWELL_UNIT);
            continue;
        }
        GROW(letters.controls, letters.count, letters.room);
        letters.controls[letters.count++] = control;
    }
    const uint64_t until = clock_monotonic() + (uint64_t)ANSWER * 1000000;
    for (size_t i = 0; i < letters.count; i++) {
        all = budget_take_answer(letters.controls[i], until, all);
        munmap(letters.controls[i], DWELL_UNIT);
    }
    free(letters.controls);
    return all;
}
