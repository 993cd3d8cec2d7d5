/*
 * Finished chunks on their way to the helper, and their checksums.
 *
 * A ring may use a chunk again while its checksum is being made. So the maker says which chunk it works on, before it
 * takes it out of its slot. A thread that uses it again changes that word, and the checksum is not stored.
 */
#include "retired.h"

#include "chunk.h"
#include "chunk_sum.h"
#include "guard.h"
#include "helper.h"
#include "process.h"
#include "runtime.h"
#include "session.h"
#include "spare.h"
#include "sys.h"

enum {
    PATIENCE = 100,            /* milliseconds in which the helper's checksum has to be ready */
    WAKE_INTERVAL = 256 << 10, /* bytes of a ring */
};

/* Chunks begin at pages, so the lowest bits are free. */
enum retired_state {
    RETIRED_SUMMED = 0,     /* its checksum is being made */
    RETIRED_STORED = 1,     /* its checksum is stored */
    RETIRED_TAKEN_BACK = 2, /* its checksum must not be stored any more */
};

enum { RETIRED_GIVEN = 1 }; /* in a slot: no ring has the chunk */

static bool retired_put(char *chunk)
{
    struct process *p = runtime.process;
    for (int i = 0; p->helper.tid && i < RETIRED_SLOTS; i++) {
        char *empty = NULL;
        if (__atomic_compare_exchange_n(&p->retired.slots[i], &empty, chunk, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return true;
    }
    return false;
}

static bool retired_has_holes(const struct dwell_chunk_header *chunk)
{
    return chunk->kind == DWELL_CHUNK_EVENTS && chunk_has_holes(chunk);
}

/*
 * A signal handler may interrupt a probe between its claim and its stores, and run for long. The probe still writes to
 * this chunk then. Such a chunk has a hole, and stays mapped until it has none.
 *
 * What the file lacks of another chunk has been counted as lost, and must not be again.
 */
void retired_add(struct dwell_chunk_header *chunk)
{
    const bool now = chunk->kind != DWELL_CHUNK_EVENTS && guard_trouble();
    if (now || (!retired_put((char *)chunk) && !retired_has_holes(chunk)))
        session_unmap(chunk, guard_size(chunk));
}

/* No ring links the chunk any more, so its link has the time. */
void retired_give(struct dwell_chunk_header *chunk, uint64_t until)
{
    guard_set_link(chunk, (void *)until);
    if (!retired_put((char *)chunk + RETIRED_GIVEN) && !retired_has_holes(chunk))
        spare_unmap_window((char *)chunk, until);
}

void retired_unmap(const struct retired *retired)
{
    if (retired->given)
        spare_unmap_window(retired->at, (uint64_t)guard_link(retired->at));
    else
        session_unmap(retired->at, guard_size(retired->at));
}

/* Small chunks wait for others, as waking the helper takes as long as many calls. */
void retired_add_of_ring(struct dwell_chunk_header *chunk)
{
    const uint32_t size = guard_size(chunk), interval = size ? WAKE_INTERVAL / size : 0;
    if (retired_put((char *)chunk) && (interval == 0 || chunk->sequence % interval == 0))
        helper_wake();
}

bool retired_take_back(const struct dwell_chunk_header *chunk)
{
    struct retired_chunks *r = &runtime.process->retired;
    char *const at = (char *)chunk, *working = at;
    for (int i = 0; i < RETIRED_SLOTS; i++) {
        char *waiting = __atomic_load_n(&r->slots[i], __ATOMIC_ACQUIRE);
        if (waiting == at &&
            __atomic_compare_exchange_n(&r->slots[i], &waiting, NULL, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return true;
    }
    return __atomic_compare_exchange_n(&r->sealing, &working, at + RETIRED_TAKEN_BACK, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE) ||
           working != at + RETIRED_STORED;
}

bool retired_is_read(const char *at)
{
    return __atomic_load_n(&runtime.process->retired.sealing, __ATOMIC_ACQUIRE) == at + RETIRED_TAKEN_BACK;
}

/* ---- checksums ---- */

static bool retired_sum(const struct dwell_chunk_header *chunk, uint64_t *sum)
{
    const uint32_t size = guard_size(chunk), used = __atomic_load_n(&chunk->used, __ATOMIC_RELAXED);
    if (used < sizeof *chunk || used > size || guard_trouble()) /* somebody has changed the file */
        return false;
    *sum = chunk_sum((const char *)chunk, used);
    return true;
}

/* In this order: a process that is killed in between leaves a chunk without a checksum. */
static void retired_store(struct dwell_chunk_header *chunk, uint64_t sum)
{
    __atomic_store_n(&chunk->checksum, sum, __ATOMIC_RELAXED);
    __atomic_store_n(&chunk->sealed, 1, __ATOMIC_RELEASE);
}

void retired_seal(struct dwell_chunk_header *chunk)
{
    uint64_t sum;
    if (retired_sum(chunk, &sum))
        retired_store(chunk, sum);
}

static void retired_seal_taken(char *at)
{
    uint64_t sum;
    char *working = at;
    if (retired_sum((const struct dwell_chunk_header *)at, &sum) &&
        __atomic_compare_exchange_n(&runtime.process->retired.sealing, &working, at + RETIRED_STORED, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        retired_store((struct dwell_chunk_header *)at, sum);
}

struct retired retired_begin(int slot)
{
    const struct retired none = { .at = NULL };
    struct retired_chunks *r = &runtime.process->retired;
    char *word = __atomic_load_n(&r->slots[slot], __ATOMIC_ACQUIRE), *nothing = NULL;
    const bool given = (uint64_t)word & RETIRED_GIVEN;
    char *const at = word - given;
    if (!word || !__atomic_compare_exchange_n(&r->sealing, &nothing, at, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return none;
    if (!__atomic_compare_exchange_n(&r->slots[slot], &word, NULL, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        retired_end();
        return none;
    }
    const bool whole = !retired_has_holes((const struct dwell_chunk_header *)at);
    if (whole)
        retired_seal_taken(at);
    return (struct retired){ at, whole, given, !given && runtime.mode == DWELL_MODE_RING };
}

void retired_end(void)
{
    __atomic_store_n(&runtime.process->retired.sealing, NULL, __ATOMIC_RELEASE);
}

bool retired_are_many(void)
{
    int count = 0;
    for (int i = 0; i < RETIRED_SLOTS; i++)
        count += __atomic_load_n(&runtime.process->retired.slots[i], __ATOMIC_RELAXED) != NULL;
    return count > RETIRED_SLOTS / 2;
}

/* ---- the process' end ---- */

/* Returns false if the helper works on a chunk, perhaps before this takes the others. */
static bool retired_take_all(void)
{
    struct retired_chunks *r = &runtime.process->retired;
    bool all = true;
    for (int i = 0; i < RETIRED_SLOTS; i++) {
        struct retired retired = { .at = NULL };
        if (__atomic_load_n(&r->slots[i], __ATOMIC_RELAXED))
            retired = retired_begin(i);
        if (retired.at && retired.whole && !retired.kept)
            retired_unmap(&retired);
        if (retired.at)
            retired_end();
        else
            all = all && !__atomic_load_n(&r->slots[i], __ATOMIC_RELAXED);
    }
    return all && !__atomic_load_n(&r->sealing, __ATOMIC_ACQUIRE);
}

/* When the process has ended, the helper cannot go on with its chunk. */
void retired_finish(void)
{
    for (int i = 0; !retired_take_all() && i < PATIENCE; i++)
        sys_sleep_a_millisecond();
}
