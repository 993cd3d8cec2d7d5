/* The mappings that processes share. Readers take no lock: they look again if the table has changed meanwhile. */
#include "shared_memory.h"

#include <sys/shm.h>

#include "clock.h"
#include "descriptor_identity.h"
#include "dwell/format_objects.h"
#include "lock.h"
#include "runtime.h"
#include "sys.h"

struct mapping {
    uint64_t begin, end; /* equal: not used */
    uint64_t id, offset; /* of what is mapped, and where in it the mapping begins */
};

enum { MAX_MAPPINGS = 64, MAX_LOOKS = 8, NAMED_SIZE = 4096 };

static struct mapping mappings[MAX_MAPPINGS];
static uint32_t mapping_count;   /* entries from here on have never been used */
static uint32_t mapping_changes; /* odd while the table is changed */
static uint32_t mappings_lock;

static uint64_t mapping_mix(uint64_t seed, uint64_t value)
{
    uint64_t mixed = (seed ^ value) * 0x9e3779b97f4a7c15;
    mixed ^= mixed >> 32;
    return mixed * 0xd6e8feb86659fd93;
}

static void mapping_set(struct mapping *m, uint64_t begin, uint64_t end, uint64_t id, uint64_t offset)
{
    __atomic_store_n(&m->begin, begin, __ATOMIC_RELAXED);
    __atomic_store_n(&m->end, end, __ATOMIC_RELAXED);
    __atomic_store_n(&m->id, id, __ATOMIC_RELAXED);
    __atomic_store_n(&m->offset, offset, __ATOMIC_RELAXED);
}

/* A part of a mapping may be unmapped: the longer rest stays. */
static void mapping_cut(struct mapping *m, uint64_t begin, uint64_t end)
{
    if (m->begin >= end || m->end <= begin)
        return;
    const uint64_t before = begin > m->begin ? begin - m->begin : 0, after = m->end > end ? m->end - end : 0;
    if (before >= after)
        mapping_set(m, m->begin, m->begin + before, m->id, m->offset);
    else
        mapping_set(m, end, m->end, m->id, m->offset + (end - m->begin));
}

/* An id of zero only removes what was there. */
static void mapping_change(uint64_t begin, uint64_t end, uint64_t id, uint64_t offset)
{
    struct mapping *room = NULL;
    const uint64_t mask = sys_block_signals();
    if (mask == SYS_NOT_BLOCKED)
        return;
    lock_take(&mappings_lock);
    __atomic_store_n(&mapping_changes, mapping_changes + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    for (uint32_t i = 0; i < mapping_count; i++) {
        mapping_cut(&mappings[i], begin, end);
        if (mappings[i].begin == mappings[i].end)
            room = &mappings[i];
    }
    if (id && !room && mapping_count < MAX_MAPPINGS) {
        room = &mappings[mapping_count];
        __atomic_store_n(&mapping_count, mapping_count + 1, __ATOMIC_RELAXED);
    }
    if (id && room)
        mapping_set(room, begin, end, id, offset);
    __atomic_store_n(&mapping_changes, mapping_changes + 1, __ATOMIC_RELEASE);
    lock_release(&mappings_lock);
    sys_restore_signals(mask);
}

void shared_memory_add(const void *at, size_t size, int fd, uint64_t offset)
{
    if (!runtime.os_calls || sys_failed(at))
        return;
    uint64_t id = fd >= 0 ? identity_find(fd).id : mapping_mix((uint64_t)SYS0(getpid) << 32, clock_counter());
    mapping_change((uint64_t)at, (uint64_t)at + size, id | 1, offset);
}

void shared_memory_add_segment(const void *at, int segment)
{
    struct shmid_ds status;
    if (!runtime.os_calls || sys_failed(at) || SYS3(shmctl, segment, IPC_STAT, &status) < 0)
        return;
    mapping_change((uint64_t)at, (uint64_t)at + status.shm_segsz, mapping_mix(IPC_STAT, (uint32_t)segment) | 1, 0);
}

void shared_memory_remove_segment(const void *at)
{
    for (uint32_t i = 0; i < __atomic_load_n(&mapping_count, __ATOMIC_RELAXED); i++)
        if (__atomic_load_n(&mappings[i].begin, __ATOMIC_RELAXED) == (uint64_t)at)
            shared_memory_remove(at, __atomic_load_n(&mappings[i].end, __ATOMIC_RELAXED) - (uint64_t)at);
}

void shared_memory_add_named(const void *at, const char *name)
{
    uint64_t id = 0;
    for (name += *name == '/'; runtime.os_calls && *name; name++)
        id = mapping_mix(id, (uint8_t)*name);
    const uint64_t page = (uint64_t)at & ~(uint64_t)(NAMED_SIZE - 1);
    if (id)
        mapping_change(page, page + NAMED_SIZE, id | 1, 0);
}

void shared_memory_remove(const void *at, size_t size)
{
    if (__atomic_load_n(&mapping_count, __ATOMIC_RELAXED))
        mapping_change((uint64_t)at, (uint64_t)at + size, 0, 0);
}

uint64_t shared_memory_number(const void *at)
{
    const uint64_t address = (uint64_t)at;
    for (int looks = 0; looks < MAX_LOOKS; looks++) {
        uint64_t number = address;
        const uint32_t changes = __atomic_load_n(&mapping_changes, __ATOMIC_ACQUIRE);
        const uint32_t count = __atomic_load_n(&mapping_count, __ATOMIC_RELAXED);
        for (uint32_t i = 0; i < count; i++) {
            const uint64_t begin = __atomic_load_n(&mappings[i].begin, __ATOMIC_RELAXED);
            if (address - begin < __atomic_load_n(&mappings[i].end, __ATOMIC_RELAXED) - begin)
                number = mapping_mix(__atomic_load_n(&mappings[i].id, __ATOMIC_RELAXED),
                                     __atomic_load_n(&mappings[i].offset, __ATOMIC_RELAXED) + (address - begin)) |
                         DWELL_OBJECT_SHARED;
        }
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (!(changes & 1) && __atomic_load_n(&mapping_changes, __ATOMIC_RELAXED) == changes)
            return number;
    }
    return address;
}
