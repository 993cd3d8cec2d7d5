/*
 * The thread behind `dwell record --overhead`. At each look it reads what was recorded since the last one, and adds up
 * the calls and times of each function. budget_levels.c chooses the levels. A chunk of the session takes them to the
 * runtime, as for `dwell control PID level`.
 */
#include "recorder/budget.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/wide.h"
#include "clock.h"
#include "processor.h"
#include "profile/budget_levels.h"
#include "profile/budget_schedule.h"
#include "profile/collect.h"
#include "profile/function_sums.h"
#include "recorder/budget_programs.h"
#include "recorder/budget_records.h"
#include "recorder/budget_sending.h"
#include "recorder/budget_short.h"
#include "recorder/filter_service.h"
#include "recorder/sample_windows.h"
#include "recorder/service_thread.h"
#include "symbols/symbols.h"
#include "sys.h"
#include "trace/alive.h"
#include "trace/growth.h"

/* Bytes to read at a look. If the recorder is late, what is older is left out: it would only become later. */
enum { MOST = 1 << 20, MOST_BRIEFLY = 128 << 10 };

enum { MOST_SHORT = 4096 /* functions of a module that are counted before they are called */ };

/* All that was recorded of a function until a look, in the part of the session that is read as a whole. */
struct budget_whole {
    uint64_t calls, inclusive, counted;
};

/* A process that records. */
struct budget_process {
    uint32_t serial;
    uint32_t program;     /* number, or BUDGET_NO_PROGRAM as long as it is not known */
    uint64_t calls;       /* timed ones, before the program was known */
    uint64_t whole_calls; /* timed ones until now in the part of the session that is read as a whole */
    uint64_t whole_now;   /* the same at this look */
};

struct budget {
    const struct session *session;
    int fd;
    uint32_t permille;
    struct earlier_levels *earlier; /* functions that are counted at first; NULL if none */
    struct function_set *leveled;   /* functions whose levels are given */
    pthread_t thread;
    bool stop; /* atomic */
    struct growth *growth;
    struct profile *names;             /* has the numbers of functions */
    struct budget_function *functions; /* by these numbers */
    struct budget_whole *wholes;       /* the same */
    size_t count, room, wholes_room;
    uint64_t whole_cpu; /* ticks of CPU time in the part of the session that is read as a whole */
    struct budget_process *processes;
    size_t process_count, process_room;
    struct number_index *process_table; /* serial numbers to indexes */
    struct budget_programs programs;
    struct budget_publication publication;
    bool tells_all;              /* a program has spent its allowance since the last change of levels */
    uint64_t brief_cpu;          /* ticks of CPU time in brief looks since the last usual one */
    uint64_t looked;             /* when the last look began, in nanoseconds */
    uint64_t changes_seen, debt; /* ticks that changes of levels have taken; and those not paid for */
    struct budget_short *code;   /* finds functions that are short by their code */
    uint32_t asked;              /* modules whose code it was asked for, or has no file */
    size_t named;                /* processes whose program is among the names */
    struct budget_records records;
    struct budget_schedule schedule;
};

/* ---- reading ---- */

/* A function by its number in `names`. */
static struct budget_function *budget_function_of(struct budget *b, uint32_t number)
{
    while (number >= b->count) {
        const struct profile_function *f = &b->names->functions[b->count];
        const struct profile_module *m = &b->names->modules[f->module];
        const struct symbol_module as = { m->path, m->build_id, m->build_id_length };
        GROW(b->functions, b->count, b->room);
        GROW(b->wholes, b->count, b->wholes_room);
        b->functions[b->count] = (struct budget_function){
            .module = f->module,
            .offset = f->offset,
            .is_fixed = !*m->path || function_set_has(b->leveled, &as, f->offset),
        };
        if (b->earlier && earlier_levels_applied(b->earlier, &as, f->offset))
            budget_begin_counted(&b->functions[b->count]);
        b->wholes[b->count++] = (struct budget_whole){ 0 };
    }
    return &b->functions[number];
}

static struct budget_function *budget_function(struct budget *b, uint32_t module, uint64_t offset)
{
    return budget_function_of(b, profile_function(b->names, module, offset));
}

static uint32_t budget_number(struct budget *b, const struct profile *p, uint32_t function)
{
    const struct profile_function *f = &p->functions[function];
    const struct profile_module *m = &p->modules[f->module];
    const uint32_t module = profile_module(b->names, m->path, m->build_id, m->build_id_length),
                   number = profile_function(b->names, module, f->offset);
    budget_function_of(b, number);
    return number;
}

static struct budget_process *budget_process(struct budget *b, uint32_t serial)
{
    struct index_slot *slot = index_find(b->process_table, serial, 0);
    if (slot->value_plus_1)
        return &b->processes[slot->value_plus_1 - 1];
    GROW(b->processes, b->process_count, b->process_room);
    b->processes[b->process_count] = (struct budget_process){ .serial = serial, .program = BUDGET_NO_PROGRAM };
    index_set(b->process_table, slot, serial, 0, (uint32_t)b->process_count);
    return &b->processes[b->process_count++];
}

/* Whether the budget holds for a process: its program has spent its allowance. */
static bool budget_holds_for(const struct budget *b, uint32_t serial)
{
    const struct index_slot *slot = index_find(b->process_table, serial, 0);
    const uint32_t program = slot->value_plus_1 ? b->processes[slot->value_plus_1 - 1].program : BUDGET_NO_PROGRAM;
    return program != BUDGET_NO_PROGRAM && b->programs.list[program].is_spent;
}

static void budget_spend(struct budget *b, struct budget_process *process, uint64_t calls)
{
    process->calls += calls;
    if (process->program == BUDGET_NO_PROGRAM)
        process->program = budget_program_of(&b->programs, b->growth->file, process->serial);
    if (process->program == BUDGET_NO_PROGRAM)
        return;
    b->tells_all |= budget_program_spend(&b->programs.list[process->program], process->calls);
    process->calls = 0;
}

/* Counts the calls of the processes, and returns for each node the serial number of its process. */
static uint32_t *budget_count_calls(struct budget *b, const struct profile *p)
{
    uint32_t *serials = need_memory(p->node_count, sizeof *serials);
    for (size_t i = 0; i < p->thread_count; i++)
        serials[p->threads[i].root] = p->threads[i].process;
    for (size_t i = 0; i < p->node_count; i++) {
        const struct profile_node *node = &p->nodes[i];
        if (node->parent == PROFILE_NONE)
            continue;
        serials[i] = serials[node->parent];
        budget_process(b, serials[i])->whole_now += node->calls;
    }
    for (size_t i = 0; i < b->process_count; i++) {
        struct budget_process *process = &b->processes[i];
        budget_spend(b, process, less(process->whole_now, process->whole_calls));
        process->whole_calls = larger(process->whole_now, process->whole_calls);
        process->whole_now = 0;
    }
    return serials;
}

/* The timed calls of call trees are added to those of the functions, if the budget holds for their process. Returns the
 * ticks of CPU time of all, without the runtime's own on its slow path. */
static uint64_t budget_add_trees(struct budget *b, const struct profile *p, const uint32_t *numbers)
{
    uint32_t *serials = budget_count_calls(b, p);
    uint64_t *inclusive = need_memory(p->node_count, sizeof *inclusive), cpu = 0;
    for (size_t i = p->node_count; i-- > 0;) { /* callees come after their callers */
        const struct profile_node *node = &p->nodes[i];
        inclusive[i] += node->elapsed;
        cpu += less(node->elapsed, node->blocked + node->preempted + node->runtime);
        if (node->parent == PROFILE_NONE)
            continue;
        inclusive[node->parent] += inclusive[i];
        struct budget_function *f = &b->functions[numbers[node->function]];
        if (!budget_holds_for(b, serials[i]))
            continue;
        f->calls += node->calls;
        f->inclusive += inclusive[i];
    }
    free(inclusive);
    free(serials);
    return cpu;
}

/* The same for the events since the last look. What functions do is also known of processes for which the budget does
 * not hold yet. */
static void budget_add_fresh(struct budget *b, const struct function_sums *sums)
{
    for (size_t i = 0; i < sums->count; i++)
        budget_spend(b, budget_process(b, sums->list[i].process), sums->list[i].calls);
    for (size_t i = 0; i < sums->count; i++) {
        const struct function_sum *sum = &sums->list[i];
        struct budget_function *f = budget_function_of(b, sum->function);
        if (budget_holds_for(b, sum->process)) {
            f->calls += sum->calls;
            f->inclusive += sum->inclusive;
        } else {
            f->all.timed += sum->calls;
            f->all.inclusive += sum->inclusive;
        }
    }
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
    const uint64_t cpu = budget_add_trees(b, p, numbers), before = b->whole_cpu;
    for (size_t i = 0; i < p->counted_count; i++)
        b->functions[numbers[p->counted[i].function]].counted += p->counted[i].calls;
    for (size_t i = 0; i < b->count; i++) {
        struct budget_function *f = &b->functions[i];
        struct budget_whole *whole = &b->wholes[i];
        const struct budget_whole now = { f->calls, f->inclusive, f->counted };
        f->calls = less(now.calls, whole->calls);
        f->inclusive = less(now.inclusive, whole->inclusive);
        f->counted = less(now.counted, whole->counted);
        *whole = now;
    }
    b->whole_cpu = cpu;
    free(numbers);
    return less(cpu, before);
}

/* What changes of levels have taken since the start, in ticks. */
static uint64_t budget_changes(const struct budget *b)
{
    return multiply_divide(__atomic_load_n(&session_more(b->session)->change_time, __ATOMIC_RELAXED),
                           b->growth->file->header.ticks_per_second, 1000000000);
}

/* A thread that has made only counted calls for a while has the CPU time of all these in its next event. What matters
 * is what it does now: at most the time since the last look. */
static uint64_t budget_recent(struct budget *b, uint64_t cpu, size_t threads, uint64_t now)
{
    const uint64_t since = multiply_divide(now - b->looked, b->growth->file->header.ticks_per_second, 1000000000);
    b->looked = now;
    return threads ? smaller(cpu, multiply_divide(since, threads, 1)) : cpu;
}

/* Calls that were not read count, too: a program that is quick is not to be timed for longer. */
static void budget_spend_unread(struct budget *b)
{
    for (size_t i = 0; i < b->growth->thread_count; i++) {
        const struct growth_thread *t = &b->growth->threads[i];
        if (t->calls_left_out)
            budget_spend(b, budget_process(b, t->process), t->calls_left_out);
    }
}

/* What was recorded since the last look, which began at `now`, by function. */
static struct budget_look budget_read(struct budget *b, uint64_t now, bool brief)
{
    const struct growth *growth = b->growth;
    struct profile *whole = collect_profile(growth->file, 1);
    struct function_sums fresh = function_sums_of(growth->file, growth->fresh, growth->fresh_count, b->names);
    for (size_t i = 0; i < b->count; i++)
        b->functions[i].calls = b->functions[i].inclusive = b->functions[i].counted = 0;
    budget_spend_unread(b);
    uint64_t cpu = budget_add_whole(b, whole);
    budget_add_fresh(b, &fresh);
    const size_t threads = growth->file->header.mode == DWELL_MODE_PROFILE ? whole->thread_count : fresh.threads;
    cpu = budget_recent(b, cpu + fresh.cpu, threads, now);
    function_sums_drop(&fresh);
    profile_free(whole);
    const uint64_t changes = budget_changes(b);
    b->debt += less(changes, b->changes_seen);
    b->changes_seen = changes;
    return (struct budget_look){ .cpu = cpu,
                                 .probes = budget_probes(growth->file),
                                 .permille = b->permille,
                                 .brief = brief,
                                 .together = true,
                                 .brief_cpu = b->brief_cpu,
                                 .changes = b->debt };
}

/* ---- functions that are short by their code ---- */

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

/* A program's own code is read before the first of its calls are, so that both are known at the same time. */
static void budget_name_programs(struct budget *b)
{
    const struct session_file *file = b->growth->file;
    for (; b->named < file->process_count; b->named++) {
        const struct trace_module *m = budget_program_module(&file->processes[b->named]);
        if (!m)
            return;
        profile_module(b->names, m->path, m->build_id, m->build_id_length);
    }
}

/* Asks for the code of modules that have appeared. */
static void budget_ask_for_code(struct budget *b)
{
    budget_name_programs(b);
    for (; b->asked < b->names->module_count; b->asked++) {
        const struct profile_module *m = &b->names->modules[b->asked];
        uint64_t bias;
        const struct trace_process *process = budget_process_with(b, b->asked, &bias);
        struct filter_loaded module = { .path = m->path, .build_id_length = m->build_id_length };
        if (!process || !*m->path || m->build_id_length > sizeof module.build_id)
            continue;
        memcpy(module.build_id, m->build_id, m->build_id_length);
        char *file = filter_service_find_file(&module, process->pid);
        if (file)
            budget_short_ask(b->code, b->asked, file);
    }
}

/* In a module with very many such functions, those that are never called stay as they are: a change copies pages. */
static void budget_take_code(struct budget *b)
{
    uint32_t module;
    for (struct short_code found; budget_short_take(b->code, &module, &found); free(found.functions))
        for (size_t i = 0; i < found.count; i++) {
            struct budget_function *f = budget_function(b, module, found.functions[i]);
            f->is_short = true;
            f->if_called = found.count > MOST_SHORT;
        }
}

/* ---- setting levels ---- */

static void budget_record(struct budget *b, const uint32_t *changed, size_t count)
{
    const uint64_t now = session_now(b->growth->file);
    const struct trace_process *process = NULL;
    uint64_t bias = 0;
    for (size_t i = 0; i < count; i++) {
        const struct budget_function *f = &b->functions[changed[i]];
        if (i == 0 || b->functions[changed[i - 1]].module != f->module)
            process = budget_process_with(b, f->module, &bias);
        if (process)
            budget_records_add(&b->records, b->session, b->fd, process->serial,
                               (struct dwell_rec_decision){
                                   .time = now,
                                   .function = bias + f->offset,
                                   .level = f->is_counted ? DWELL_PROBES_COUNTED : DWELL_PROBES_TIMED,
                                   .calls = f->all.timed + f->all.counted,
                                   .mean = f->all.timed ? f->all.inclusive / f->all.timed : 0,
                               });
    }
}

/* A process may have told its program before the session says more about it. */
static bool budget_tells_some(const void *of, const struct dwell_control *control)
{
    const struct budget *b = of;
    const uint32_t key = __atomic_load_n(&control->program, __ATOMIC_SEQ_CST);
    return key ? budget_programs_have_spent(&b->programs, key) : budget_holds_for(b, control->chunk.process);
}

static bool budget_tells_any(const void *of, const struct dwell_control *control)
{
    (void)of, (void)control;
    return true;
}

/* Functions that are timed again may be counted in any process, as those of an earlier recording are. */
static enum budget_answer budget_send(const struct budget *b, uint32_t *functions, size_t count, bool any)
{
    budget_sort(b->functions, functions, count);
    const uint64_t offset = budget_write_levels(b->session, b->fd, b->names, b->functions, functions, count);
    return offset ? budget_post(b->session, b->fd, offset, any ? budget_tells_any : budget_tells_some, b)
                  : BUDGET_REFUSED;
}

/* The numbers of all functions that were ever changed, sorted. The caller frees them. */
static uint32_t *budget_all_changed(const struct budget *b, size_t *count)
{
    uint32_t *functions = need_memory(b->count, sizeof *functions);
    *count = 0;
    for (uint32_t i = 0; i < b->count; i++)
        if (b->functions[i].lowered && !b->functions[i].is_fixed)
            functions[(*count)++] = i;
    budget_sort(b->functions, functions, *count);
    return functions;
}

/* Processes that begin from now on begin with these levels. */
static bool budget_publish_all(struct budget *b)
{
    size_t count;
    uint32_t *functions = budget_all_changed(b, &count);
    const bool done =
        budget_publish(&b->publication, b->session, b->fd, b->names, b->functions, functions, count, &b->programs);
    free(functions);
    return done;
}

/* The processes of a program that has spent its allowance get the levels of all functions that were ever changed. */
static enum budget_answer budget_tell_all(struct budget *b)
{
    size_t count;
    uint32_t *functions = budget_all_changed(b, &count);
    for (size_t i = 0; i < count; i++)
        b->functions[functions[i]].settling = BUDGET_SETTLING;
    const enum budget_answer answer = count ? budget_send(b, functions, count, false) : BUDGET_DONE;
    b->tells_all = answer == BUDGET_LATER;
    free(functions);
    return answer;
}

/* If no process is there, those that begin from now on have the levels. */
static void budget_change(struct budget *b, uint32_t *changed, size_t count)
{
    const bool raised = count && !b->functions[changed[0]].is_counted; /* a look lowers or raises */
    const bool published = budget_publish_all(b);
    enum budget_answer answer = b->tells_all ? budget_tell_all(b) : BUDGET_LATER;
    if (raised || (count && answer <= BUDGET_LATER))
        answer = budget_send(b, changed, count, raised);
    const bool done = answer == BUDGET_DONE || (answer == BUDGET_NOBODY && published);
    budget_sort(b->functions, changed, count);
    if (done)
        budget_record(b, changed, count);
    for (size_t i = 0; i < count && !done; i++) {
        struct budget_function *f = &b->functions[changed[i]];
        f->is_counted = !f->is_counted;
        f->is_fixed = answer == BUDGET_REFUSED; /* the code cannot be changed */
        f->settling = 0;
    }
    if (count && !done)
        budget_publish_all(b);
}

/* ---- the thread ---- */

/* Whether any program is within its allowance: it may spend that soon. */
static bool budget_has_young(const struct budget *b)
{
    bool young = b->process_count == 0;
    for (size_t i = 0; i < b->programs.count; i++)
        young |= !b->programs.list[i].is_spent;
    return young;
}

/* Returns whether levels were to change, or may change soon. */
static bool budget_take_look(struct budget *b, uint64_t now, bool brief)
{
    if (growth_step(b->growth, brief ? MOST_BRIEFLY : MOST, false))
        return false; /* the file cannot be read now */
    const struct budget_look look = budget_read(b, now, brief);
    budget_ask_for_code(b);
    budget_take_code(b);
    uint32_t *changed = need_memory(b->count, sizeof *changed);
    const size_t count = budget_decide(b->functions, b->count, &look, changed);
    b->debt = less(b->debt, budget_pays(&look));
    b->brief_cpu = brief ? b->brief_cpu + look.cpu : 0;
    if (count || b->tells_all)
        budget_change(b, changed, count);
    free(changed);
    return count > 0 || (brief && budget_has_young(b));
}

/* Waits until a look is due, or a thread has asked for one. In mode profile no thread fills chunks: it is as if one
 * always asked. Returns false when the thread is to end. */
static bool budget_wait(struct budget *b, uint32_t seen)
{
    uint32_t *asks = &session_more(b->session)->look_asks;
    const bool always = b->session->header->mode == DWELL_MODE_PROFILE;
    while (!__atomic_load_n(&b->stop, __ATOMIC_ACQUIRE)) {
        const uint32_t asked = __atomic_load_n(asks, __ATOMIC_SEQ_CST);
        const uint64_t now = clock_monotonic(), due = budget_schedule_due(&b->schedule, asked != seen || always);
        if (now >= due)
            return true;
        sys_futex_wait_shared_for(asks, asked, due - now);
    }
    return false;
}

static void *budget_run(void *argument)
{
    struct budget *b = argument;
    const char *error = NULL;
    char *path = need_text("/proc/self/fd/%d", b->fd);
    b->growth = growth_open(path, &error);
    free(path);
    if (b->growth)
        b->growth->newest_only = true;
    prctl(PR_SET_TIMERSLACK, 1UL); /* nanoseconds: it waits for times of less than a millisecond */
    const uint32_t *asks = &session_more(b->session)->look_asks;
    struct processor_moves moves = { 0 };
    b->looked = clock_monotonic();
    budget_schedule_begin(&b->schedule, b->looked);
    for (uint32_t seen = 0; b->growth && budget_wait(b, seen);) {
        seen = __atomic_load_n(asks, __ATOMIC_SEQ_CST);
        processor_leave(&moves, __atomic_load_n(&session_more(b->session)->asker, __ATOMIC_RELAXED));
        const uint64_t began = clock_monotonic(), before = sample_cpu_time();
        const bool useful = budget_take_look(b, began, budget_schedule_is_brief(&b->schedule, began));
        budget_schedule_next(&b->schedule, began, clock_monotonic(), sample_cpu_time() - before, useful);
    }
    if (b->growth)
        growth_close(b->growth);
    return NULL;
}

static void budget_free(struct budget *b)
{
    budget_short_stop(b->code);
    profile_free(b->names);
    index_free(b->process_table);
    budget_programs_drop(&b->programs);
    budget_records_end(&b->records);
    free(b->processes);
    free(b->functions);
    free(b->wholes);
    free(b);
}

struct budget *budget_start(const struct session *session, int fd, uint32_t permille, const struct filters *filters)
{
    if (!permille)
        return NULL;
    struct budget *b = need_memory(1, sizeof *b);
    *b = (struct budget){
        .session = session,
        .fd = fd,
        .permille = permille,
        .earlier = filters->earlier,
        .leveled = filters->leveled,
        .names = profile_new(),
        .process_table = index_new(),
        .code = budget_short_start(),
    };
    if (service_thread_start(&b->thread, budget_run, b))
        return b;
    budget_free(b);
    return NULL;
}

void budget_stop(struct budget *b)
{
    if (!b)
        return;
    uint32_t *asks = &session_more(b->session)->look_asks;
    __atomic_store_n(&b->stop, true, __ATOMIC_RELEASE);
    __atomic_fetch_add(asks, 1, __ATOMIC_SEQ_CST);
    sys_futex_wake_shared(asks);
    pthread_join(b->thread, NULL);
    budget_free(b);
}
