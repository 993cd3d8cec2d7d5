/*
 * The makers of objects that have an address. An address belongs to a set of entries. All steps are safe in a signal
 * handler and in a child that was forked in the middle of one: an entry that is being changed is passed over.
 */
#include "makers.h"

#include "clock.h"
#include "metadata_records.h"
#include "process.h"
#include "runtime.h"
#include "sys.h"
#include "thread.h"

struct maker_entry {
    uint64_t address; /* zero: free; BUSY: being changed */
    struct maker maker;
};

enum { BUSY = 1, SETS_IN_BLOCK = 128 };

typedef struct maker_entry maker_set[MAKERS_IN_SET];

/* Each is made when one of its sets first gets an entry. */
static void *blocks[MAKER_SETS / SETS_IN_BLOCK];

/* NULL if there is none. */
static struct maker_entry *makers_set(uint64_t address, bool make)
{
    const size_t i = (address * 0x9e3779b97f4a7c15u >> 40) % MAKER_SETS;
    void **place = &blocks[i / SETS_IN_BLOCK];
    maker_set *block =
        make ? sys_block(place, SETS_IN_BLOCK * sizeof *block) : __atomic_load_n(place, __ATOMIC_ACQUIRE);
    return block ? block[i % SETS_IN_BLOCK] : NULL;
}

static uint64_t makers_address(const struct maker_entry *entry)
{
    return __atomic_load_n(&entry->address, __ATOMIC_ACQUIRE);
}

static bool makers_claim(struct maker_entry *entry, uint64_t address)
{
    return __atomic_compare_exchange_n(&entry->address, &address, BUSY, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static struct maker_entry *makers_find(uint64_t address)
{
    struct maker_entry *set = makers_set(address, false);
    for (int i = 0; set && i < MAKERS_IN_SET; i++)
        if (makers_address(&set[i]) == address)
            return &set[i];
    return NULL;
}

/* What is recorded of the object would else hold for the next one at its address. */
static void makers_empty(struct maker_entry *entry, uint64_t address)
{
    if (!makers_claim(entry, address))
        return;
    struct maker maker = entry->maker;
    __atomic_store_n(&entry->address, 0, __ATOMIC_RELEASE);
    maker_end(&maker);
}

void makers_remove(uint64_t address)
{
    struct maker_entry *entry = makers_find(address);
    if (entry)
        makers_empty(entry, address);
}

/* A free entry; if there is none, the oldest one becomes free. */
static struct maker_entry *makers_make_room(uint64_t address)
{
    struct maker_entry *set = makers_set(address, true), *oldest = NULL;
    for (int i = 0; set && i < MAKERS_IN_SET; i++) {
        const uint64_t of = makers_address(&set[i]);
        if (of == 0)
            return &set[i];
        if (of != BUSY && (!oldest || set[i].maker.time < oldest->maker.time))
            oldest = &set[i];
    }
    if (oldest)
        makers_empty(oldest, makers_address(oldest));
    return oldest;
}

void makers_add(uint64_t address, const struct maker *maker)
{
    makers_remove(address);
    struct maker_entry *entry = maker->function ? makers_make_room(address) : NULL;
    if (!entry || !makers_claim(entry, 0))
        return;
    entry->maker = *maker;
    __atomic_store_n(&entry->address, address, __ATOMIC_RELEASE);
}

static void maker_put_record(const struct maker *maker, uint64_t time, uint64_t function)
{
    const struct dwell_rec_made record = {
        .record.type = DWELL_REC_MADE,
        .time = time,
        .id = maker->id,
        .function = function,
        .kind = maker->kind,
    };
    const uint64_t mask = sys_block_signals();
    if (mask == SYS_NOT_BLOCKED)
        return;
    if (thread_self && thread_self->wiped->alive)
        metadata_append(&record.record, sizeof record, NULL, 0);
    sys_restore_signals(mask);
}

void maker_record(struct maker *maker, enum dwell_object kind, uint64_t id)
{
    const uint32_t process = runtime.process->serial;
    if (!maker->function || (maker->recorded == process && maker->id == id && maker->kind == kind))
        return;
    maker->id = id;
    maker->kind = (uint8_t)kind;
    maker->recorded = process;
    maker_put_record(maker, maker->time, maker->function);
}

void maker_end(struct maker *maker)
{
    if (maker->function && maker->recorded && !maker->shared && maker->recorded == runtime.process->serial)
        maker_put_record(maker, clock_now(runtime.clock), 0);
    maker->function = 0;
}

void makers_record(enum dwell_object kind, uint64_t address)
{
    struct maker_entry *entry = makers_find(address);
    if (!entry || __atomic_load_n(&entry->maker.recorded, __ATOMIC_RELAXED) == runtime.process->serial)
        return;
    if (makers_claim(entry, address)) {
        maker_record(&entry->maker, kind, address);
        __atomic_store_n(&entry->address, address, __ATOMIC_RELEASE);
    }
}
