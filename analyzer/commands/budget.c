/*
 * The thread behind `dwell record --overhead`. At each look it reads what was recorded since the last one, and adds up
 * the calls and times of each function. budget_levels.c chooses the levels. A chunk of the session takes them to the
 * runtime, as for `dwell control PID level`.
 */
#include "commands/budget.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "clock.h"
#include "commands/budget_records.h"
#include "commands/control_chunk.h"
#include "commands/filter_chunk.h"
#include "commands/service_thread.h"
#include "profile/budget_levels.h"
#include "profile/budget_schedule.h"
#include "profile/collect.h"
#include "symbols/symbols.h"
#include "trace/alive.h"
#include "trace/growth.h"

enum {
    MOST = 64 << 20, /* bytes to read at a look */
    PATIENCE = 500,  /* milliseconds for a process to end an earlier command */
    ANSWER = 20,     /* and to answer: it may go on after that */
};

struct budget {
    const struct session *session;
    int fd;
    uint32_t permille;
    struct earlier_levels *earlier; /* functions that are counted at first; NULL if none */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stop;
    struct growth *growth;
    struct profile *names;             /* has the numbers of functions */
    struct budget_function *functions; /* by these numbers */
    struct budget_sums *sums;          /* the same: what had been recorded at the last look */
    size_t count, room, sums_room;
    uint64_t whole_cpu; /* ticks of CPU time in the part of the session that is read as a whole */
    struct budget_records records;
    struct budget_schedule schedule;
};

/* All that was recorded of a function until a look. */
struct budget_sums {
    uint64_t calls, inclusive, counted;
    uint64_t whole_calls, whole_inclusive; /* in the part that is read as a whole */
};

/* ---- reading ---- */

static uint32_t budget_number(struct budget *b, const struct profile *p, uint32_t function)
{
    const struct profile_function *f = &p->functions[function];
    const struct profile_module *m = &p->modules[f->module];
    const struct symbol_module as = { m->path, m->build_id, m->build_id_length };
    const uint32_t module = profile_module(b->names, m->path, m->build_id, m->build_id_length),
                   number = profile_function(b->names, module, f->offset);
    while (number >= b->count) {
        GROW(b->functions, b->count, b->room);
        GROW(b->sums, b->count, b->sums_room);
        b->functions[b->count] =
            (struct budget_function){ .module = module, .offset = f->offset, .is_fixed = !*m->path };
        if (b->earlier && earlier_levels_applied(b->earlier, &as, f->offset))
            budget_begin_counted(&b->functions[b->count]);
        b->sums[b->count++] = (struct budget_sums){ 0 };
    }
    return number;
}

/* A profile's timed calls are added to those of the functions since the last look. Returns its ticks of CPU time. */
static uint64_t budget_add_timed(struct budget *b, const struct profile *p, const uint32_t *numbers)
{
    uint64_t *inclusive = need_memory(p->node_count, sizeof *inclusive), cpu = 0;
    for (size_t i = p->node_count; i-- > 0;) { /* callees come after their callers */
        const struct profile_node *node = &p->nodes[i];
        inclusive[i] += node->elapsed;
        cpu += less(node->elapsed, node->blocked + node->preempted);
        if (node->parent == PROFILE_NONE)
            continue;
        inclusive[node->parent] += inclusive[i];
        b->functions[numbers[node->function]].calls += node->calls;
        b->functions[numbers[node->function]].inclusive += inclusive[i];
    }
    free(inclusive);
    return cpu;
}

static uint32_t *budget_numbers(struct budget *b, const struct profile *p)
{
    uint32_t *numbers = need_memory(p->function_count, sizeof *numbers);
    for (uint32_t i = 0; i < p->function_count; i++)
        numbers[i] = budget_number(b, p, i);
    return numbers;
}

/* Adds call trees and counters, which are read as a whole, less what they were at the last look. */
static uint64_t budget_add_whole(struct budget *b, const struct profile *p)
{
    uint32_t *numbers = budget_numbers(b, p);
    const uint64_t cpu = budget_add_timed(b, p, numbers), before = b->whole_cpu;
    for (size_t i = 0; i < p->counted_count; i++)
        b->functions[numbers[p->counted[i].function]].counted += p->counted[i].calls;
    for (size_t i = 0; i < b->count; i++) {
        struct budget_function *f = &b->functions[i];
        struct budget_sums *sums = &b->sums[i];
        const struct budget_sums now = { .counted = f->counted,
                                         .whole_calls = f->calls,
                                         .whole_inclusive = f->inclusive };
        f->counted = less(now.counted, sums->counted);
        f->calls = less(now.whole_calls, sums->whole_calls);
        f->inclusive = less(now.whole_inclusive, sums->whole_inclusive);
        sums->counted = now.counted;
        sums->whole_calls = now.whole_calls;
        sums->whole_inclusive = now.whole_inclusive;
    }
    b->whole_cpu = cpu;
    free(numbers);
    return less(cpu, before);
}

/* What was recorded since the last look, by function. */
static struct budget_look budget_read(struct budget *b)
{
    const struct growth *growth = b->growth;
    struct profile *whole = collect_profile(growth->file, 1),
                   *fresh = collect_chunks(growth->file, growth->fresh, growth->fresh_count, 1);
    for (size_t i = 0; i < b->count; i++)
        b->functions[i].calls = b->functions[i].inclusive = b->functions[i].counted = 0;
    uint64_t cpu = budget_add_whole(b, whole);
    uint32_t *numbers = budget_numbers(b, fresh);
    cpu += budget_add_timed(b, fresh, numbers);
    free(numbers);
    profile_free(fresh);
    profile_free(whole);
    for (size_t i = 0; i < b->count; i++) {
        b->sums[i].calls += b->functions[i].calls;
        b->sums[i].inclusive += b->functions[i].inclusive;
    }
    return (struct budget_look){ cpu, budget_probes(growth->file), b->permille };
}

/* ---- setting levels ---- */

static int budget_compare_modules(const void *a, const void *b, void *functions)
{
    const struct budget_function *x = (const struct budget_function *)functions + *(const uint32_t *)a,
                                 *y = (const struct budget_function *)functions + *(const uint32_t *)b;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Sorts the changed functions by module, and writes their levels. Returns the offset of the chunk, or zero if there is
 * no room. */
static uint64_t budget_write_levels(const struct budget *b, uint32_t *changed, size_t count)
{
    struct dwell_filter *list = need_memory(count, sizeof *list);
    struct filter_chunk_module *modules = need_memory(count, sizeof *modules);
    size_t module_count = 0;
    qsort_r(changed, count, sizeof *changed, budget_compare_modules, b->functions);
    for (size_t i = 0; i < count; i++) {
        const struct budget_function *f = &b->functions[changed[i]];
        const struct profile_module *m = &b->names->modules[f->module];
        list[i] = (struct dwell_filter){ f->offset, f->is_counted ? DWELL_PROBES_COUNTED : DWELL_PROBES_TIMED, 0 };
        if (i == 0 || b->functions[changed[i - 1]].module != f->module)
            modules[module_count++] =
                (struct filter_chunk_module){ m->path, m->build_id, m->build_id_length, &list[i], 0 };
        modules[module_count - 1].count++;
    }
    struct dwell_filters head = { .chunk.kind = DWELL_CHUNK_LEVELS };
    const uint64_t offset = filter_chunk_write(&head, modules, module_count, NULL, b->session, b->fd);
    free(modules);
    free(list);
    return offset;
}

enum budget_answer { BUDGET_LATER, BUDGET_REFUSED, BUDGET_DONE };

/* Sends the chunk to all processes. It is done if any has changed a function, or is still at it; refused if those that
 * have answered can change none. */
static enum budget_answer budget_send(const struct budget *b, uint64_t levels)
{
    enum budget_answer all = BUDGET_LATER;
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, levels);
    struct control_walk walk =
        control_walk_begin(__atomic_load_n(&b->session->header->first_control, __ATOMIC_ACQUIRE));
    for (struct dwell_control *control; (control = control_chunk_next(b->fd, &walk));) {
        const enum control_answer answer = control_chunk_send(control, DWELL_COMMAND_LEVEL, text, PATIENCE, ANSWER);
        if (answer == CONTROL_SILENT || (answer == CONTROL_DONE && control->result > 0))
            all = BUDGET_DONE;
        else if (answer == CONTROL_DONE && all == BUDGET_LATER)
            all = BUDGET_REFUSED;
        munmap(control, DWELL_UNIT);
    }
    return all;
}

/* A process that has the module, and its bias there. NULL if there is none. */
static const struct trace_process *budget_process_with(const struct budget *b, uint32_t module, uint64_t *bias)
{
    const struct session_file *file = b->growth->file;
    const struct profile_module *m = &b->names->modules[module];
    const struct symbol_module wanted = { m->path, m->build_id, m->build_id_length };
    for (size_t i = 0; i < file->process_count; i++) {
        const struct trace_process *p = &file->processes[i];
        for (size_t j = 0; j < p->module_count; j++) {
            const struct trace_module *loaded = &p->modules[j];
            const struct symbol_module same = { loaded->path, loaded->build_id, loaded->build_id_length };
            if (!symbol_module_equals(&same, &wanted))
                continue;
            *bias = loaded->bias;
            return p;
        }
    }
    return NULL;
}

static void budget_record(struct budget *b, const uint32_t *changed, size_t count)
{
    const uint64_t now = session_now(b->growth->file);
    const struct trace_process *process = NULL;
    uint64_t bias = 0;
    for (size_t i = 0; i < count; i++) {
        const struct budget_function *f = &b->functions[changed[i]];
        const struct budget_sums *sums = &b->sums[changed[i]];
        if (i == 0 || b->functions[changed[i - 1]].module != f->module)
            process = budget_process_with(b, f->module, &bias);
        if (process)
            budget_records_add(&b->records, b->session, b->fd, process->serial,
                               (struct dwell_rec_decision){
                                   .time = now,
                                   .function = bias + f->offset,
                                   .level = f->is_counted ? DWELL_PROBES_COUNTED : DWELL_PROBES_TIMED,
                                   .calls = sums->calls + sums->counted,
                                   .mean = sums->calls ? sums->inclusive / sums->calls : 0,
                               });
    }
}

static void budget_change(struct budget *b, uint32_t *changed, size_t count)
{
    const uint64_t offset = budget_write_levels(b, changed, count);
    const enum budget_answer answer = offset ? budget_send(b, offset) : BUDGET_REFUSED;
    if (answer == BUDGET_DONE)
        budget_record(b, changed, count);
    for (size_t i = 0; i < count && answer != BUDGET_DONE; i++) {
        struct budget_function *f = &b->functions[changed[i]];
        f->is_counted = !f->is_counted;
        f->is_fixed = answer == BUDGET_REFUSED; /* the code cannot be changed */
        f->settling = 0;
    }
}

/* ---- the thread ---- */

/* Returns whether levels were to change. */
static bool budget_take_look(struct budget *b)
{
    if (growth_step(b->growth, MOST, false))
        return false; /* the file cannot be read now */
    const struct budget_look look = budget_read(b);
    uint32_t *changed = need_memory(b->count, sizeof *changed);
    const size_t count = budget_decide(b->functions, b->count, &look, changed);
    if (count)
        budget_change(b, changed, count);
    free(changed);
    return count > 0;
}

/* Returns false when the thread is to end. */
static bool budget_wait(struct budget *b, uint64_t ns)
{
    const uint64_t until = clock_monotonic() + ns;
    const struct timespec time = { (time_t)(until / 1000000000), (long)(until % 1000000000) };
    pthread_mutex_lock(&b->lock);
    while (!b->stop && pthread_cond_timedwait(&b->wake, &b->lock, &time) != ETIMEDOUT)
        continue;
    const bool stop = b->stop;
    pthread_mutex_unlock(&b->lock);
    return !stop;
}

static void *budget_run(void *argument)
{
    struct budget *b = argument;
    const char *error = NULL;
    char *path = need_text("/proc/self/fd/%d", b->fd);
    b->growth = growth_open(path, &error);
    free(path);
    uint64_t rest = budget_schedule_rest(&b->schedule, 0, false);
    while (b->growth && budget_wait(b, rest)) {
        const uint64_t began = clock_monotonic();
        const bool changed = budget_take_look(b);
        rest = budget_schedule_rest(&b->schedule, clock_monotonic() - began, changed);
    }
    if (b->growth)
        growth_close(b->growth);
    return NULL;
}

struct budget *budget_start(const struct session *session, int fd, uint32_t permille, struct earlier_levels *earlier)
{
    if (!permille)
        return NULL;
    struct budget *b = need_memory(1, sizeof *b);
    *b = (struct budget){
        .session = session, .fd = fd, .permille = permille, .earlier = earlier, .names = profile_new()
    };
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&b->wake, &clock);
    pthread_condattr_destroy(&clock);
    pthread_mutex_init(&b->lock, NULL);
    if (service_thread_start(&b->thread, budget_run, b))
        return b;
    profile_free(b->names);
    free(b);
    return NULL;
}

void budget_stop(struct budget *b)
{
    if (!b)
        return;
    pthread_mutex_lock(&b->lock);
    b->stop = true;
    pthread_cond_signal(&b->wake);
    pthread_mutex_unlock(&b->lock);
    pthread_join(b->thread, NULL);
    pthread_mutex_destroy(&b->lock);
    pthread_cond_destroy(&b->wake);
    profile_free(b->names);
    budget_records_end(&b->records);
    free(b->functions);
    free(b->sums);
    free(b);
}
