/* Counters of the functions with the level counted: the functions' numbers, and the pages of the threads. A page is a
 * chunk of the session file, so a count survives the process. */
#include "levels/counts.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "chunk.h"
#include "clock.h"
#include "fault_signals.h"
#include "gate.h"
#include "guard.h"
#include "helper.h"
#include "levels/in_place.h"
#include "losses.h"
#include "process.h"
#include "process_lock.h"
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
    uint64_t window; /* the page of code that all of them begin in, if they may be counted in place; else zero */
    bool open;       /* all threads have such a page at its place */
    bool closed;     /* some thread cannot */
    bool common;     /* the pages that belong to no thread are mapped */
    uint64_t functions[COUNTS_IN_PAGE];
};

static struct counts_functions *counts_pages[COUNTS_PAGES];
static uint32_t counts_page_count;
static uint32_t counts_window_count;

/* Pages at their places are mappings of their own, of which a process may have 65,530 in all. */
enum { MOST_IN_PLACE = 16384 };

static uint32_t counts_in_place; /* such pages of all threads; under the process' lock */
static bool counts_closing;      /* calls are not to be counted in place any more */

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

/* Returns the number of a new page, or COUNTS_PAGES. */
static uint32_t counts_add_page(uint64_t bias, uint32_t module, uint64_t window)
{
    struct counts_functions *made = counts_page_count < COUNTS_PAGES ? sys_memory(sizeof *made) : NULL;
    if (!made)
        return COUNTS_PAGES;
    made->bias = bias;
    made->module = module;
    made->window = window;
    made->used = window ? COUNTS_IN_PAGE : 0;
    counts_window_count += window != 0;
    counts_pages[counts_page_count] = made;
    __atomic_store_n(&counts_page_count, counts_page_count + 1, __ATOMIC_RELEASE);
    return counts_page_count - 1;
}

static bool counts_is_of(const struct counts_functions *of, uint64_t bias, uint32_t module, uint64_t window)
{
    return of->bias == bias && of->module == module && of->window == window;
}

/* The page for another function of the module: the one of its window, or the last one without a window that has room,
 * or a new one. */
static uint32_t counts_page_for(uint64_t bias, uint32_t module, uint64_t window)
{
    for (uint32_t i = counts_page_count; i-- > 0;)
        if (counts_is_of(counts_pages[i], bias, module, window) && (window || counts_pages[i]->used < COUNTS_IN_PAGE))
            return i;
    if (window && counts_window_count == COUNTS_WINDOWS)
        return counts_page_for(bias, module, 0);
    return counts_add_page(bias, module, window);
}

/* Threads that have a page of that number get the function there. One that makes its page at the same time finds the
 * function after it has shown the page. */
static void counts_name_function(uint32_t page, uint32_t place, uint64_t function)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    process_lock();
    for (const struct thread *t = runtime.process->threads.live; t; t = t->next) {
        const bool listed = __atomic_load_n(&t->counts.made, __ATOMIC_ACQUIRE);
        struct dwell_counts *counts = listed ? __atomic_load_n(counts_made(&t->counts, page), __ATOMIC_ACQUIRE) : NULL;
        if (counts)
            counts->counts[place].function = function;
    }
    process_unlock();
}

static uint32_t counts_place_in_window(uint64_t function)
{
    return (uint32_t)(function % PAGE - sizeof(struct dwell_counts)) / sizeof(struct dwell_count);
}

uint32_t counts_number(uint64_t function, uint64_t bias, uint32_t module, bool in_place)
{
    if (!counts_grow_index())
        return COUNTS_NONE;
    struct counts_slot *slot = counts_find_slot(function, module);
    if (slot->function)
        return slot->number;
    const bool fits = in_place && in_place_is_possible() && in_place_fits(function);
    const uint32_t page = counts_page_for(bias, module, fits ? page_begin(function) : 0);
    if (page == COUNTS_PAGES)
        return COUNTS_NONE;
    struct counts_functions *of = counts_pages[page];
    const uint32_t place = of->window ? counts_place_in_window(function) : of->used;
    __atomic_store_n(&of->functions[place], function, __ATOMIC_RELEASE);
    if (!of->window)
        __atomic_store_n(&of->used, place + 1, __ATOMIC_RELEASE);
    counts_name_function(page, place, function);
    *slot = (struct counts_slot){ function, module, page * COUNTS_IN_PAGE + place };
    counts_index.taken++;
    return slot->number;
}

/* ---- a thread's pages; signals are held back ---- */

static struct area counts_take_unit(void)
{
    if (__atomic_load_n(&runtime.process->stopped, __ATOMIC_RELAXED))
        return (struct area){ NULL, 0 };
    return helper_is_here() ? chunk_prepare_unit(runtime.process->helper.fd) : chunk_take_unit();
}

static void *counts_place(const struct thread *t, uint64_t window)
{
    return (void *)(window + (uint64_t)t->counts.distance);
}

/* Moves a page to where its functions can be counted in place, over what is mapped there. Forked children inherit it,
 * as they count there until they know that they are forked. */
static bool counts_move(struct area area, void *to)
{
    if (!guard_add(to, PAGE, guard_offset(area.at)))
        return false;
    if (sys_failed((void *)SYS5(mremap, area.at, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to))) {
        guard_remove(to, PAGE);
        return false;
    }
    guard_remove(area.at, area.size);
    if (area.size > PAGE)
        sys_unmap(area.at + PAGE, area.size - PAGE);
    SYS3(madvise, to, PAGE, MADV_DOFORK);
    return true;
}

static bool counts_move_in_place(const struct thread *t, const struct counts_functions *of, struct area area)
{
    void *const to = counts_place(t, of->window);
    if (!of->window || !t->counts.distance)
        return false;
    const bool reserved = t->counts.orphaned && of->open;
    if (!reserved && !in_place_reserve(of->window, t->counts.distance))
        return false;
    const bool moved = counts_move(area, to);
    if (!moved && !reserved)
        sys_unmap(to, PAGE);
    return moved;
}

/* Makes a page of the unit, unless the thread has got one from the helper meanwhile. Under the process' lock. */
static bool counts_show_page(const struct thread *t, uint32_t page, struct area area)
{
    const struct counts_functions *of = counts_pages[page];
    if (*counts_made(&t->counts, page))
        return false;
    struct dwell_counts *counts = (struct dwell_counts *)area.at;
    counts->chunk.process = runtime.process->serial;
    counts->chunk.thread = t->serial;
    counts->chunk.sequence = page;
    counts->chunk.start_time = clock_now(runtime.clock);
    counts->chunk.used = sizeof *counts + COUNTS_IN_PAGE * sizeof *counts->counts;
    __atomic_store_n(&counts->chunk.kind, DWELL_CHUNK_COUNTS, __ATOMIC_RELEASE);
    if (counts_move_in_place(t, of, area)) {
        counts = counts_place(t, of->window);
        if (++counts_in_place == MOST_IN_PLACE)
            counts_leave();
    }
    __atomic_store_n(counts_made(&t->counts, page), counts, __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    const uint32_t used = __atomic_load_n(&of->used, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < used; i++)
        counts->counts[i].function = __atomic_load_n(&of->functions[i], __ATOMIC_ACQUIRE);
    return true;
}

/* Under the process' lock, too. The process of a fork goes on with its parent's lists. */
static bool counts_make_list(struct thread *t)
{
    static struct dwell_counts **lists;
    static uint32_t given; /* of these */
    if (t->counts.made)
        return true;
    if (given % COUNTS_LISTS == 0)
        lists = sys_memory(COUNTS_LISTS * COUNTS_PAGES * sizeof *lists);
    if (!lists)
        return false;
    __atomic_store_n(&t->counts.made, lists + given++ % COUNTS_LISTS, __ATOMIC_RELEASE);
    return true;
}

static bool counts_make_page(struct thread *t, uint32_t page)
{
    const struct area area = t->counts.refused ? (struct area){ NULL, 0 } : counts_take_unit();
    if (!area.at) {
        t->counts.refused = true;
        return false;
    }
    process_lock();
    const bool listed = counts_make_list(t), shown = listed && counts_show_page(t, page, area);
    process_unlock();
    if (!shown)
        chunk_free(area.at);
    return listed;
}

bool counts_add_slowly(struct thread *t, uint32_t number)
{
    const uint32_t page = number / COUNTS_IN_PAGE;
    bool made = t->counts.made && *counts_made(&t->counts, page);
    if (!made || !t->wiped->counts.pages[page]) { /* the helper may have made it: stubs do not know it yet */
        if (!made && t->counts.refused)
            return false;
        const uint64_t mask = sys_block_signals();
        if (mask == SYS_NOT_BLOCKED)
            return false;
        made = t->counts.made && *counts_made(&t->counts, page); /* by a handler, before signals were held back */
        made = made || (t->wiped->alive && counts_make_page(t, page));
        if (made && t->wiped->alive)
            thread_set_limit(t);
        sys_restore_signals(mask);
        if (!made)
            return false;
    }
    sum_add(&(*counts_made(&t->counts, page))->counts[number % COUNTS_IN_PAGE].calls, 1);
    return true;
}

void counts_divert(struct thread *t)
{
    const uint32_t count = __atomic_load_n(&counts_page_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++)
        __atomic_store_n(&t->wiped->counts.pages[i], NULL, __ATOMIC_RELAXED);
}

static void counts_follow(struct thread *t)
{
    const uint32_t count = __atomic_load_n(&counts_page_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count && t->counts.made; i++)
        __atomic_store_n(&t->wiped->counts.pages[i], *counts_made(&t->counts, i), __ATOMIC_RELAXED);
}

void counts_select(struct thread *t, bool counts)
{
    if (counts)
        counts_follow(t);
    else
        counts_divert(t);
    if (counts)
        in_place_use(t->counts.distance);
    else
        in_place_use_paused();
}

/* Destructors of other keys may be counted in place after the thread's end. So the block keeps such pages until the
 * system has ended the thread, and another one takes the block. */
static void counts_drop_pages(struct thread *t, bool all)
{
    for (uint32_t i = 0; t->counts.made && i < counts_page_count; i++) {
        struct dwell_counts *counts = *counts_made(&t->counts, i);
        const uint64_t window = counts_pages[i]->window;
        const bool in_place = counts && window && (void *)counts == counts_place(t, window);
        if (!counts || (in_place && !all))
            continue;
        *counts_made(&t->counts, i) = NULL;
        session_unmap(counts, guard_size(counts));
        process_lock();
        counts_in_place -= in_place;
        process_unlock();
    }
}

/* A forked child has its parent's list, of pages that it must not use. */
void counts_begin_thread(struct thread *t, bool forked)
{
    if (forked)
        counts_forked(t);
    else
        counts_drop_pages(t, true);
    for (uint32_t i = 0; t->counts.made && i < counts_page_count; i++)
        *counts_made(&t->counts, i) = NULL;
    t->counts.refused = false;
    if (!t->counts.distance && in_place_is_possible())
        t->counts.distance = in_place_distance();
    counts_self = &t->wiped->counts;
}

void counts_end_thread(struct thread *t)
{
    counts_self = &counts_empty;
    counts_divert(t);
    for (uint32_t i = 0; guard_trouble() && t->counts.made && i < counts_page_count; i++)
        if (*counts_made(&t->counts, i))
            losses_of_counts(*counts_made(&t->counts, i));
    counts_drop_pages(t, false);
}

bool counts_is_gone(const struct thread *t)
{
    return !t->counts.distance || t->tid == (uint32_t)SYS0(gettid) ||
           SYS3(tgkill, runtime.process->pid, t->tid, 0) == -ESRCH;
}

/* ---- counting in place ---- */

bool counts_is_open(uint32_t number)
{
    return counts_pages[number / COUNTS_IN_PAGE]->open && !counts_are_closing();
}

void counts_leave(void)
{
    __atomic_store_n(&counts_closing, true, __ATOMIC_RELEASE);
}

bool counts_are_closing(void)
{
    return __atomic_load_n(&counts_closing, __ATOMIC_ACQUIRE);
}

void counts_close(void)
{
    for (uint32_t i = 0; i < counts_page_count; i++) {
        __atomic_store_n(&counts_pages[i]->open, false, __ATOMIC_RELEASE);
        counts_pages[i]->closed = true;
    }
}

bool counts_is_closed(uint32_t number)
{
    const struct counts_functions *of = counts_pages[number / COUNTS_IN_PAGE];
    return !of->window || of->closed;
}

static uint32_t counts_live_threads(void)
{
    uint32_t count = 0;
    for (const struct thread *t = runtime.process->threads.live; t; t = t->next)
        count++;
    return count;
}

bool counts_may_open(void)
{
    if (!in_place_is_possible() || !helper_is_here() || counts_are_closing() || !fault_is_guarded(SIGBUS))
        return false;
    process_lock();
    const uint32_t threads = counts_live_threads();
    process_unlock();
    return threads && in_place_knows_threads(threads);
}

static bool counts_open_for(struct thread *t, uint32_t page)
{
    if (!t->counts.distance || !counts_make_list(t))
        return false;
    if (!*counts_made(&t->counts, page)) {
        const struct area area = counts_take_unit();
        if (!area.at)
            return false;
        counts_show_page(t, page, area);
    }
    return (void *)*counts_made(&t->counts, page) == counts_place(t, counts_pages[page]->window);
}

/* No thread is made while the threads are counted, or it is in the list: a thread that is set up later has the page
 * before it counts in place. */
bool counts_open(uint32_t number)
{
    const uint32_t page = number / COUNTS_IN_PAGE;
    struct counts_functions *of = counts_pages[page];
    if (counts_is_closed(number))
        return false;
    process_lock();
    if (counts_in_place + counts_live_threads() >= MOST_IN_PLACE / 2) { /* leaves room for more threads */
        process_unlock();
        return false;
    }
    of->common = of->common || in_place_map_common(of->window);
    of->closed = !of->common;
    for (struct thread *t = runtime.process->threads.live; !of->closed && t; t = t->next)
        of->closed = !counts_open_for(t, page);
    if (!of->closed && in_place_knows_threads(counts_live_threads()))
        __atomic_store_n(&of->open, true, __ATOMIC_RELEASE);
    process_unlock();
    return of->open;
}

bool counts_begin_in_place(struct thread *t)
{
    bool good = true, any = false;
    for (uint32_t i = 0; i < counts_page_count; i++) {
        struct counts_functions *of = counts_pages[i];
        if (!of->window || !__atomic_load_n(&of->open, __ATOMIC_ACQUIRE))
            continue;
        any = true;
        if (!t->counts.made || !*counts_made(&t->counts, i))
            good = good && t->counts.distance && counts_make_page(t, i);
        good = good && (void *)*counts_made(&t->counts, i) == counts_place(t, of->window);
    }
    t->counts.orphaned = false;
    if (any && !good)
        t->counts.distance = 0;
    if (any || t->counts.distance)
        thread_set_limit(t);
    return !any || (good && !in_place_is_foreign() && !in_place_is_stuck());
}

/* A call that the fork has interrupted may still add to a page: its parent counts it. Pages that are not open may be
 * wanted later. */
void counts_forked(struct thread *t)
{
    enum { FLAGS = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED };
    in_place_use_forked();
    if (t->counts.orphaned || !t->counts.distance || !t->counts.made)
        return;
    for (uint32_t i = 0; i < counts_page_count; i++) {
        const struct counts_functions *of = counts_pages[i];
        void *const place = counts_place(t, of->window);
        if (!of->window || (void *)*counts_made(&t->counts, i) != place)
            continue;
        if (of->open)
            SYS6(mmap, place, PAGE, PROT_READ | PROT_WRITE, FLAGS, -1, 0);
        else
            sys_unmap(place, PAGE);
    }
    t->counts.orphaned = counts_window_count > 0;
}

static uint64_t counts_take_lost(void)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; in_place_loses() && i < counts_page_count; i++)
        if (counts_pages[i]->common)
            sum += in_place_take_lost(counts_pages[i]->window);
    return sum;
}

void counts_settle_lost(void)
{
    session_lose(&runtime.session, counts_take_lost());
}

static void counts_forked_here(void)
{
    counts_take_lost(); /* the parent's */
    if (!thread_self)
        in_place_use_forked();
    else if (!thread_self->wiped->alive)
        counts_forked(thread_self);
}

void counts_begin_process(bool in_place)
{
    static bool watches;
    in_place_wanted |= in_place;
    if (in_place_may_come() && !watches)
        watches = pthread_atfork(NULL, NULL, counts_forked_here) == 0;
}

enum counts_child counts_begin_child(const void *address)
{
    const struct counts_functions *of = NULL;
    for (uint32_t i = 0; i < counts_page_count && !of; i++)
        if (counts_pages[i]->common && in_place_is_of_forked(counts_pages[i]->window, address))
            of = counts_pages[i];
    if (!of)
        return COUNTS_NO_CHILD;
    const int error = errno;
    const struct thread *t = thread_begin();
    if (in_place_is_forked()) /* the thread shares another one's block */
        in_place_use(t ? t->counts.distance : 0);
    errno = error;
    if (!in_place_is_stuck())
        return COUNTS_CHILD_BEGUN;
    in_place_lose(of->window, address);
    return COUNTS_CALL_LOST;
}

void counts_each_old_page(const struct thread *t, void (*map)(char *at, size_t size))
{
    for (uint32_t i = 0; t->counts.made && i < counts_page_count; i++)
        if (*counts_made(&t->counts, i))
            map((char *)*counts_made(&t->counts, i), DWELL_UNIT);
}
