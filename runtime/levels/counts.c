/* Counters of the functions with the level counted: the functions' numbers, and the pages of the threads. A page is a
 * chunk of the session file, so a count survives the process. */
#include "levels/counts.h"

#include <string.h>

#include "chunk.h"
#include "clock.h"
#include "guard.h"
#include "losses.h"
#include "process.h"
#include "runtime.h"
#include "session.h"
#include "sys.h"
#include "thread.h"

static struct counts_directory counts_empty;

__thread struct counts_directory *counts_self __attribute__((tls_model("initial-exec"))) = &counts_empty;

/* ---- numbers; under the lock of the module map ---- */

/* The functions whose counters are in the pages of one number. All belong to one module. */
struct counts_functions {
    uint64_t bias;
    uint32_t module;
    uint32_t used;
    uint64_t functions[COUNTS_IN_PAGE];
};

static struct counts_functions *counts_pages[COUNTS_PAGES];
static uint32_t counts_page_count;

/* Finds the number of a function of a module. */
struct counts_slot {
    uint64_t function; /* zero if the slot is free */
    uint32_t module;
    uint32_t number;
};

static struct {
    struct counts_slot *slots;
    uint64_t mask;
    uint64_t taken;
} counts_index;

static struct counts_slot *counts_find_slot(uint64_t function, uint32_t module)
{
    uint64_t i = ((function ^ module) * 0x9e3779b97f4a7c15u >> 32) & counts_index.mask;
    while (counts_index.slots[i].function &&
           (counts_index.slots[i].function != function || counts_index.slots[i].module != module))
        i = (i + 1) & counts_index.mask;
    return &counts_index.slots[i];
}

static bool counts_grow_index(void)
{
    struct counts_slot *const old = counts_index.slots;
    const uint64_t old_count = old ? counts_index.mask + 1 : 0, count = old ? 2 * old_count : PAGE / sizeof *old;
    if (2 * counts_index.taken < old_count)
        return true;
    struct counts_slot *slots = sys_memory(count * sizeof *slots);
    if (!slots)
        return false;
    counts_index.slots = slots;
    counts_index.mask = count - 1;
    for (uint64_t i = 0; i < old_count; i++)
        if (old[i].function)
            *counts_find_slot(old[i].function, old[i].module) = old[i];
    if (old)
        sys_unmap(old, old_count * sizeof *old);
    return true;
}

/* The page for another function of the module: the last one with its functions, or a new one. */
static uint32_t counts_page_for(uint64_t bias, uint32_t module)
{
    for (uint32_t i = counts_page_count; i-- > 0;)
        if (counts_pages[i]->bias == bias && counts_pages[i]->module == module &&
            counts_pages[i]->used < COUNTS_IN_PAGE)
            return i;
    if (counts_page_count == COUNTS_PAGES)
        return COUNTS_PAGES;
    struct counts_functions *made = sys_memory(sizeof *made);
    if (!made)
        return COUNTS_PAGES;
    made->bias = bias;
    made->module = module;
    counts_pages[counts_page_count] = made;
    __atomic_store_n(&counts_page_count, counts_page_count + 1, __ATOMIC_RELEASE);
    return counts_page_count - 1;
}

/* Threads that have a page of that number get the function there. One that makes its page at the same time finds the
 * function after it has shown the page. */
static void counts_name_function(uint32_t page, uint32_t place, uint64_t function)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    process_lock();
    for (const struct thread *t = runtime.process->threads.live; t; t = t->next) {
        struct dwell_counts *const *made = __atomic_load_n(&t->counts.made, __ATOMIC_ACQUIRE);
        struct dwell_counts *counts = made ? __atomic_load_n(&made[page], __ATOMIC_ACQUIRE) : NULL;
        if (counts)
            counts->counts[place].function = function;
    }
    process_unlock();
}

uint32_t counts_number(uint64_t function, uint64_t bias, uint32_t module)
{
    if (!counts_grow_index())
        return COUNTS_NONE;
    struct counts_slot *slot = counts_find_slot(function, module);
    if (slot->function)
        return slot->number;
    const uint32_t page = counts_page_for(bias, module);
    if (page == COUNTS_PAGES)
        return COUNTS_NONE;
    struct counts_functions *of = counts_pages[page];
    const uint32_t place = of->used;
    of->functions[place] = function;
    __atomic_store_n(&of->used, place + 1, __ATOMIC_RELEASE);
    counts_name_function(page, place, function);
    *slot = (struct counts_slot){ function, module, page * COUNTS_IN_PAGE + place };
    counts_index.taken++;
    return slot->number;
}

/* ---- a thread's pages; signals are held back ---- */

static struct dwell_counts *counts_take_page(const struct thread *t, uint32_t page)
{
    if (__atomic_load_n(&runtime.process->stopped, __ATOMIC_RELAXED))
        return NULL;
    struct area area = chunk_take_unit();
    if (!area.at)
        return NULL;
    struct dwell_counts *counts = (struct dwell_counts *)area.at;
    counts->chunk.process = runtime.process->serial;
    counts->chunk.thread = t->serial;
    counts->chunk.sequence = page;
    counts->chunk.start_time = clock_now(runtime.clock);
    counts->chunk.used = sizeof *counts + COUNTS_IN_PAGE * sizeof *counts->counts;
    __atomic_store_n(&counts->chunk.kind, DWELL_CHUNK_COUNTS, __ATOMIC_RELEASE);
    return counts;
}

static bool counts_make_page(struct thread *t, uint32_t page)
{
    if (!t->counts.made) {
        struct dwell_counts **made = sys_memory(COUNTS_PAGES * sizeof(struct dwell_counts *));
        if (!made)
            return false;
        __atomic_store_n(&t->counts.made, made, __ATOMIC_RELEASE);
    }
    struct dwell_counts *counts = t->counts.refused ? NULL : counts_take_page(t, page);
    if (!counts) {
        t->counts.refused = true;
        return false;
    }
    __atomic_store_n(&t->counts.made[page], counts, __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    const struct counts_functions *of = counts_pages[page];
    const uint32_t used = __atomic_load_n(&of->used, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < used; i++)
        counts->counts[i].function = of->functions[i];
    thread_set_limit(t);
    return true;
}

bool counts_add_slowly(struct thread *t, uint32_t number)
{
    const uint32_t page = number / COUNTS_IN_PAGE;
    if (!t->counts.made || !t->counts.made[page]) {
        if (t->counts.refused)
            return false;
        const uint64_t mask = sys_block_signals();
        if (mask == SYS_NOT_BLOCKED)
            return false;
        /* A handler may have come before signals were held back. */
        const bool made = (t->counts.made && t->counts.made[page]) || (t->wiped->alive && counts_make_page(t, page));
        sys_restore_signals(mask);
        if (!made)
            return false;
    }
    sum_add(&t->counts.made[page]->counts[number % COUNTS_IN_PAGE].calls, 1);
    return true;
}

void counts_divert(struct thread *t)
{
    const uint32_t count = __atomic_load_n(&counts_page_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++)
        __atomic_store_n(&t->wiped->counts.pages[i], NULL, __ATOMIC_RELAXED);
}

void counts_follow(struct thread *t)
{
    const uint32_t count = __atomic_load_n(&counts_page_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count && t->counts.made; i++)
        __atomic_store_n(&t->wiped->counts.pages[i], t->counts.made[i], __ATOMIC_RELAXED);
}

/* A forked child has its parent's list, of pages that it must not use. */
void counts_begin_thread(struct thread *t)
{
    if (t->counts.made)
        memset(t->counts.made, 0, COUNTS_PAGES * sizeof *t->counts.made);
    t->counts.refused = false;
    counts_self = &t->wiped->counts;
}

void counts_end_thread(struct thread *t)
{
    counts_self = &counts_empty;
    counts_divert(t);
    for (uint32_t i = 0; t->counts.made && i < counts_page_count; i++) {
        struct dwell_counts *counts = t->counts.made[i];
        if (!counts)
            continue;
        if (guard_trouble())
            losses_of_counts(counts);
        t->counts.made[i] = NULL;
        session_unmap(counts, guard_size(counts));
    }
}

void counts_each_old_page(const struct thread *t, void (*map)(char *at, size_t size))
{
    for (uint32_t i = 0; t->counts.made && i < counts_page_count; i++)
        if (t->counts.made[i])
            map((char *)t->counts.made[i], DWELL_UNIT);
}
