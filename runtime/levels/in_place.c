/* Distances of threads, the base of gs, and the beginning of new threads. */
#include "levels/in_place.h"

#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "common.h"
#include "dwell/format.h"
#include "fault_signals.h"
#include "interposed.h"
#include "levels/gs.h"
#include "levels/machine.h"
#include "modules.h"
#include "process.h"
#include "recording.h"
#include "runtime.h"
#include "sys.h"
#include "thread.h"

bool in_place_wanted;

#if defined(__x86_64__)

enum { COUNT_OFFSET = offsetof(struct dwell_count, calls), MAX_TRIES = 64 };

/* Windows and pages lie far from each other. Programs lie low, and their pages above them, as arch_prctl wants. Those
 * that the loader has mapped itself lie where libraries do, and their pages below. */
static const int64_t in_place_far = 1ll << 44, in_place_step = 64 << 20;
static const uint64_t in_place_end = 1ull << 47;

/* The first distances belong to no thread. */
enum in_place_slot {
    SLOT_PAUSED, /* calls that nobody counts */
    SLOT_LOST,   /* calls of threads that cannot be set up */
    SLOT_FORKED, /* pages of an empty file: the first call raises SIGBUS */
    OWN_SLOTS,
};

static struct {
    int64_t base;     /* that of SLOT_PAUSED; zero before the first distance */
    uint32_t threads; /* distances that were given to threads */
    bool foreign;     /* somebody else uses gs */
    bool loses;       /* a thread has used SLOT_LOST */
    void *empty;      /* a page of an empty file; NULL before the first one */
} in_place;

bool in_place_may_come(void)
{
    return &dwell_interposed;
}

static bool in_place_is_low(void)
{
    return getauxval(AT_PHDR) < in_place_end - 2 * (uint64_t)in_place_far;
}

bool in_place_is_known(void)
{
    return &dwell_interposed && gs_way() != GS_NONE && (gs_way() == GS_BY_INSTRUCTION || in_place_is_low());
}

bool in_place_is_possible(void)
{
    return in_place_wanted && !in_place_is_foreign() && in_place_is_known();
}

bool in_place_needs_calls(void)
{
    return in_place_is_possible() && gs_way() == GS_BY_CALL;
}

const char *in_place_describe(void)
{
    if (!&dwell_interposed)
        return "counted calls lead to stubs, as the program is linked with libdwell.a";
    if (!in_place_wanted)
        return "counted calls lead to stubs, as the recording began without levels";
    if (in_place_is_foreign())
        return "counted calls lead to stubs, as the program uses the base of gs itself";
    if (gs_way() == GS_NONE)
        return "counted calls lead to stubs, as neither instructions (FSGSBASE) nor arch_prctl set the base of gs here";
    if (!in_place_is_known())
        return "counted calls lead to stubs, as the program is mapped too high in memory for arch_prctl to set gs";
    return gs_way() == GS_BY_CALL
               ? "calls are counted in place; arch_prctl sets gs, as there are no instructions for it (FSGSBASE)"
               : "calls are counted in place; instructions set gs (FSGSBASE)";
}

bool in_place_is_foreign(void)
{
    return __atomic_load_n(&in_place.foreign, __ATOMIC_ACQUIRE);
}

void in_place_give_up(void)
{
    __atomic_store_n(&in_place.foreign, true, __ATOMIC_RELEASE);
}

static void *in_place_map(uint64_t address, int protection)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    if (address >= in_place_end)
        return NULL;
    void *at = (void *)SYS6(mmap, address, PAGE, protection, flags, -1, 0);
    if (sys_failed(at))
        return NULL;
    sys_unlock(at, PAGE);
    if ((uint64_t)at == address)
        return at;
    sys_unmap(at, PAGE); /* kernels before 4.17 take it for a hint */
    return NULL;
}

bool in_place_reserve(uint64_t window, int64_t distance)
{
    return in_place_map(window + (uint64_t)distance, PROT_NONE);
}

/* ---- distances ---- */

static int64_t in_place_of_slot(uint32_t slot)
{
    return in_place.base < 0 ? in_place.base - slot * in_place_step : in_place.base + slot * in_place_step;
}

bool in_place_is_ours(uint64_t base)
{
    const uint32_t slots = OWN_SLOTS + __atomic_load_n(&in_place.threads, __ATOMIC_RELAXED);
    const int64_t distance = (int64_t)base - COUNT_OFFSET - in_place.base;
    const int64_t slot = (distance < 0 ? -distance : distance) / in_place_step;
    return in_place.base && distance % in_place_step == 0 && slot < slots;
}

int64_t in_place_distance(void)
{
    __atomic_store_n(&in_place.base, in_place_is_low() ? in_place_far : -in_place_far, __ATOMIC_RELAXED);
    const uint32_t thread = __atomic_fetch_add(&in_place.threads, 1, __ATOMIC_RELAXED);
    const int64_t distance = in_place_of_slot(OWN_SLOTS + thread);
    const int64_t span = distance < 0 ? -distance : distance;
    return span < 2 * in_place_far ? distance : 0;
}

/* Returns whether the base of gs has changed. */
static bool in_place_choose(int64_t distance)
{
    if (!in_place.base || in_place_is_foreign())
        return false;
    const uint64_t now = gs_get(), wanted = (uint64_t)distance + COUNT_OFFSET;
    if (now == wanted)
        return false;
    if (now && !in_place_is_ours(now)) {
        in_place_give_up();
        return false;
    }
    return gs_set(wanted);
}

bool in_place_is_stuck(void)
{
    return gs_is_refused();
}

bool in_place_use_lost(void)
{
    const bool changed = in_place_choose(in_place_of_slot(SLOT_LOST));
    if (changed)
        in_place.loses = true;
    return changed;
}

void in_place_use(int64_t distance)
{
    if (distance)
        in_place_choose(distance);
    else
        in_place_use_lost();
}

void in_place_use_paused(void)
{
    in_place_choose(in_place_of_slot(SLOT_PAUSED));
}

static bool in_place_is_at(enum in_place_slot slot)
{
    return in_place.base && gs_get() == (uint64_t)in_place_of_slot(slot) + COUNT_OFFSET;
}

void in_place_use_forked(void)
{
    if (in_place.base && in_place_is_ours(gs_get()) && !in_place_is_at(SLOT_PAUSED))
        in_place_choose(in_place_of_slot(SLOT_FORKED));
}

bool in_place_is_forked(void)
{
    return in_place_is_at(SLOT_FORKED);
}

/* ---- the pages of no thread ---- */

static char *in_place_page(uint64_t window, enum in_place_slot slot)
{
    return (char *)window + in_place_of_slot(slot);
}

static bool in_place_make_empty(void)
{
    if (in_place.empty)
        return true;
    const int fd = (int)SYS2(memfd_create, "dwell", MFD_CLOEXEC);
    if (fd < 0)
        return false;
    in_place.empty = sys_map(PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    sys_close(fd);
    return in_place.empty;
}

/* An old size of zero makes another mapping of the same file. */
static bool in_place_map_empty(uint64_t window)
{
    char *at = in_place_page(window, SLOT_FORKED);
    return in_place_make_empty() && in_place_map((uint64_t)at, PROT_NONE) &&
           !sys_failed((void *)SYS5(mremap, in_place.empty, 0, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, at));
}

bool in_place_map_common(uint64_t window)
{
    return in_place_map((uint64_t)in_place_page(window, SLOT_PAUSED), PROT_READ | PROT_WRITE) &&
           in_place_map((uint64_t)in_place_page(window, SLOT_LOST), PROT_READ | PROT_WRITE) &&
           in_place_map_empty(window);
}

bool in_place_is_of_forked(uint64_t window, const void *address)
{
    return (uint64_t)address - (uint64_t)in_place_page(window, SLOT_FORKED) < (uint64_t)PAGE;
}

void in_place_lose(uint64_t window, const void *address)
{
    uint64_t *lost = (uint64_t *)(in_place_page(window, SLOT_LOST) + (uint64_t)address % PAGE);
    __atomic_fetch_add(lost, 1, __ATOMIC_RELAXED);
    in_place.loses = true;
}

bool in_place_loses(void)
{
    return in_place.loses;
}

uint64_t in_place_take_lost(uint64_t window)
{
    struct dwell_counts *counts = (struct dwell_counts *)in_place_page(window, SLOT_LOST);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < (PAGE - sizeof *counts) / sizeof *counts->counts; i++)
        if (counts->counts[i].calls)
            sum += __atomic_exchange_n(&counts->counts[i].calls, 0, __ATOMIC_RELAXED);
    return sum;
}

/* A folder has two links, and one for each folder in it. */
bool in_place_knows_threads(uint32_t count)
{
    struct stat tasks;
    const nlink_t own = runtime.process->helper.tid ? 1 : 0;
    return SYS4(newfstatat, AT_FDCWD, "/proc/self/task", &tasks, 0) == 0 && tasks.st_nlink == 2 + own + count;
}

#else

bool in_place_may_come(void)
{
    return false;
}

bool in_place_is_known(void)
{
    return false;
}

bool in_place_needs_calls(void)
{
    return false;
}

const char *in_place_describe(void)
{
    return "counted calls lead to a check: counting in place is for x86-64";
}

bool in_place_is_stuck(void)
{
    return false;
}

void in_place_lose(uint64_t window, const void *address)
{
    (void)window, (void)address;
}

bool in_place_is_possible(void)
{
    return false;
}

bool in_place_is_foreign(void)
{
    return false;
}

void in_place_give_up(void)
{
}

bool in_place_is_ours(uint64_t base)
{
    (void)base;
    return false;
}

int64_t in_place_distance(void)
{
    return 0;
}

bool in_place_reserve(uint64_t window, int64_t distance)
{
    (void)window, (void)distance;
    return false;
}

void in_place_use(int64_t distance)
{
    (void)distance;
}

bool in_place_use_lost(void)
{
    return false;
}

void in_place_use_paused(void)
{
}

void in_place_use_forked(void)
{
}

bool in_place_is_forked(void)
{
    return false;
}

bool in_place_map_common(uint64_t window)
{
    (void)window;
    return false;
}

bool in_place_is_of_forked(uint64_t window, const void *address)
{
    (void)window, (void)address;
    return false;
}

bool in_place_loses(void)
{
    return false;
}

uint64_t in_place_take_lost(uint64_t window)
{
    (void)window;
    return 0;
}

bool in_place_knows_threads(uint32_t count)
{
    (void)count;
    return false;
}

#endif

/* ---- new threads ---- */

/* The thread has begun with its creator's mask, or with that of its attributes. */
static struct in_place_start in_place_begin_thread(void *given)
{
    const struct in_place_start start = *(struct in_place_start *)given;
    sys_unmap(given, sizeof start);
    const uint64_t own = sys_block_signals();
    const uint64_t mask = own == SYS_NOT_BLOCKED || start.masked ? own : start.mask;
    sys_restore_signals(thread_begin() ? fault_adopt_mask(mask) : mask);
    return start;
}

static void *in_place_run(void *given)
{
    const struct in_place_start start = in_place_begin_thread(given);
    return start.run(start.argument);
}

static int in_place_run_c11(void *given)
{
    const struct in_place_start start = in_place_begin_thread(given);
    return start.run_c11(start.argument);
}

void in_place_set_up(void)
{
    if (in_place_is_forked())
        thread_begin();
}

/* The runtime has threads of its own. */
static bool in_place_is_own(uint64_t run)
{
    extern const char __ehdr_start[] __attribute__((visibility("hidden")));
    extern const char etext[] __attribute__((visibility("hidden")));
    return run - (uint64_t)__ehdr_start < (uint64_t)etext - (uint64_t)__ehdr_start;
}

void in_place_begin_creation(struct in_place_start *start)
{
    start->mask = SYS_NOT_BLOCKED;
    if (!in_place_is_possible() || in_place_is_own(start->run ? (uint64_t)start->run : (uint64_t)start->run_c11))
        return;
    if (!process_is_recorded())
        thread_begin(); /* in a forked child */
    if (!process_is_recorded())
        return;
    struct in_place_start *given = sys_memory(sizeof *given);
    if (!given)
        return;
    start->mask = sys_block_signals();
    *given = *start;
    *start = (struct in_place_start){
        start->run ? in_place_run : NULL, start->run_c11 ? in_place_run_c11 : NULL, given, start->masked, start->mask,
    };
}

void in_place_end_creation(const struct in_place_start *start, bool made)
{
    if (!made && (start->run == in_place_run || start->run_c11 == in_place_run_c11))
        sys_unmap(start->argument, sizeof *start);
    sys_restore_signals(start->mask);
}
