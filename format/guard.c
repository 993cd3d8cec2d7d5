/* The table of the session's mapped pages, and the memory that takes the place of a page whose file cannot be accessed.
 * All of it is safe in signal handlers. */
#include "guard.h"

#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "sys.h"

enum {
    LEAF_BITS = 16, /* pages in a leaf of the table: 256 MiB */
    NODE_BITS = 10,
    ROOT_BITS = 10, /* 48 bits of address in all */
    MIXED_BITS = 2,
};

/* A page's entry is its file offset and these bits. */
enum {
    GUARD_MAPPED = 1,
    GUARD_BEGIN = 2,   /* a chunk begins here */
    GUARD_LOST = 4,    /* memory has taken its place */
    GUARD_UNREAD = 8,  /* and its contents could not be read */
    GUARD_KEPT = 16,   /* it is not to be written to the file */
    GUARD_LINKED = 32, /* it has a link. Without this bit the links are not even read: some kernels give memory then */
    GUARD_FLAGS = DWELL_UNIT - 1,
};

struct guard_leaf {
    uint64_t pages[1 << LEAF_BITS];
    void *links[1 << LEAF_BITS];
};

struct guard_node {
    struct guard_leaf *leaves[1 << NODE_BITS];
};

static struct guard_node *guard_root[1 << ROOT_BITS];

static struct {
    struct dwell_file_header *page;
    struct dwell_file_header copy; /* as the session began */
    uint32_t lost;
} guarded_header;

static uint32_t guard_troubles;

uint32_t guard_trouble(void)
{
    return __atomic_load_n(&guard_troubles, __ATOMIC_RELAXED);
}

void guard_note(enum dwell_trouble trouble)
{
    __atomic_fetch_or(&guard_troubles, trouble, __ATOMIC_RELAXED);
}

/* ---- the table ---- */

static void *guard_fill(void **slot, size_t size, bool wiped)
{
    void *made = sys_memory(size), *none = NULL;
    if (!made)
        return NULL;
    if ((!wiped || SYS3(madvise, made, size, MADV_WIPEONFORK) == 0) &&
        __atomic_compare_exchange_n(slot, &none, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    sys_unmap(made, size);
    return none;
}

/* Returns the leaf of an address, or NULL if there is none. `make`: makes it. */
static struct guard_leaf *guard_find_leaf(const void *address, bool make)
{
    const uint64_t page = (uint64_t)address / DWELL_UNIT;
    const uint64_t top = page >> (LEAF_BITS + NODE_BITS);
    if (top >= 1 << ROOT_BITS)
        return NULL;
    struct guard_node **const root = &guard_root[top];
    struct guard_node *node = __atomic_load_n(root, __ATOMIC_ACQUIRE);
    if (!node && make)
        node = guard_fill((void **)root, sizeof *node, false);
    if (!node)
        return NULL;
    struct guard_leaf **const slot = &node->leaves[page >> LEAF_BITS & ((1 << NODE_BITS) - 1)];
    struct guard_leaf *leaf = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (!leaf && make)
        leaf = guard_fill((void **)slot, sizeof *leaf, true);
    return leaf;
}

/* The entries of pages that lie 64 MiB from each other are neighbours, and share the memory of the table: calls are
 * counted in such pages, one of each thread (levels/in_place.c). */
static uint64_t guard_index(const void *address)
{
    const uint64_t page = (uint64_t)address / DWELL_UNIT & ((1 << LEAF_BITS) - 1);
    return (page << MIXED_BITS | page >> (LEAF_BITS - MIXED_BITS)) & ((1 << LEAF_BITS) - 1);
}

static uint64_t *guard_entry(const void *address, bool make)
{
    struct guard_leaf *leaf = guard_find_leaf(address, make);
    return leaf ? &leaf->pages[guard_index(address)] : NULL;
}

static uint64_t guard_value(const void *address)
{
    const uint64_t *entry = guard_entry(address, false);
    return entry ? __atomic_load_n(entry, __ATOMIC_ACQUIRE) : 0;
}

bool guard_add(const void *at, uint32_t size, uint64_t offset)
{
    for (uint32_t i = 0; i < size; i += DWELL_UNIT) {
        uint64_t *entry = guard_entry((const char *)at + i, true);
        if (!entry) {
            guard_remove(at, i);
            return false;
        }
        __atomic_store_n(entry, (offset + i) | GUARD_MAPPED | (i == 0 ? GUARD_BEGIN : 0), __ATOMIC_RELEASE);
    }
    return true;
}

void guard_remove(const void *at, uint32_t size)
{
    guard_set_link(at, NULL);
    for (uint32_t i = 0; i < size; i += DWELL_UNIT) {
        uint64_t *entry = guard_entry((const char *)at + i, false);
        if (entry)
            __atomic_store_n(entry, 0, __ATOMIC_RELEASE);
    }
}

void guard_split(const void *at)
{
    uint64_t *entry = guard_entry(at, false);
    if (entry)
        __atomic_fetch_or(entry, GUARD_BEGIN, __ATOMIC_RELEASE);
}

uint32_t guard_size(const void *at)
{
    if (!(guard_value(at) & GUARD_BEGIN) || (uint64_t)at % DWELL_UNIT)
        return 0;
    uint32_t size = DWELL_UNIT;
    while ((guard_value((const char *)at + size) & (GUARD_MAPPED | GUARD_BEGIN)) == GUARD_MAPPED)
        size += DWELL_UNIT;
    return size;
}

uint64_t guard_offset(const void *page)
{
    return guard_value(page) & ~(uint64_t)GUARD_FLAGS;
}

void *guard_link(const void *at)
{
    const struct guard_leaf *leaf = guard_find_leaf(at, false);
    const uint64_t index = guard_index(at);
    return leaf && __atomic_load_n(&leaf->pages[index], __ATOMIC_ACQUIRE) & GUARD_LINKED ? leaf->links[index] : NULL;
}

void guard_set_link(const void *at, void *link)
{
    struct guard_leaf *leaf = guard_find_leaf(at, false);
    const uint64_t index = guard_index(at);
    if (!leaf || (!link && !(__atomic_load_n(&leaf->pages[index], __ATOMIC_ACQUIRE) & GUARD_LINKED)))
        return;
    leaf->links[index] = link;
    if (link)
        __atomic_fetch_or(&leaf->pages[index], GUARD_LINKED, __ATOMIC_RELEASE);
    else
        __atomic_fetch_and(&leaf->pages[index], ~(uint64_t)GUARD_LINKED, __ATOMIC_RELEASE);
}

/* ---- memory in place of pages ---- */

/* Copies without an access that could fault. */
static bool guard_read(void *to, const void *from, uint32_t size)
{
    const struct iovec local = { to, size }, remote = { (void *)from, size };
    return SYS6(process_vm_readv, SYS0(getpid), &local, 1, &remote, 1, 0) == (long)size;
}

static bool guard_read_page(void *to, const void *page)
{
    return guard_read(to, page, DWELL_UNIT);
}

/* Moves a page of memory there, at once for all threads. */
static bool guard_move_page(char *from, char *page)
{
    if (!sys_failed((void *)SYS5(mremap, from, DWELL_UNIT, DWELL_UNIT, MREMAP_MAYMOVE | MREMAP_FIXED, page)))
        return true;
    sys_unmap(from, DWELL_UNIT);
    return false;
}

static bool guard_map_memory(char *at, uint32_t size)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    if (sys_failed((void *)SYS6(mmap, at, size, PROT_READ | PROT_WRITE, flags, -1, 0)))
        return false;
    SYS3(madvise, at, size, MADV_DONTFORK);
    return true;
}

/* The file ends before this page, so the chunk's later pages are gone as well. */
static bool guard_replace_rest(char *page)
{
    uint32_t size = 0;
    do {
        __atomic_fetch_or(guard_entry(page + size, false), GUARD_LOST | GUARD_UNREAD, __ATOMIC_RELEASE);
        size += DWELL_UNIT;
    } while ((guard_value(page + size) & (GUARD_MAPPED | GUARD_BEGIN | GUARD_LOST)) == GUARD_MAPPED);
    return guard_map_memory(page, size);
}

/* Whether the page's chunk has lost its header: the file was cut, and is longer again, so that it reads as zeros. Of
 * the chunk's first page that is unknown: its first store may have failed. */
static bool guard_lacks_header(const char *page)
{
    const char *begin = page;
    uint64_t entry = guard_value(begin);
    while (entry & GUARD_MAPPED && !(entry & GUARD_BEGIN)) {
        begin -= DWELL_UNIT;
        entry = guard_value(begin);
    }
    struct dwell_chunk_header header;
    if (begin == page || !(entry & GUARD_MAPPED) || entry & GUARD_LOST || !guard_read(&header, begin, sizeof header))
        return false;
    return header.magic != DWELL_CHUNK_MAGIC;
}

/* A chunk of one page may be written by several threads. Others have one writer, and their pages must stay mappings
 * that the kernel can join: their number is limited. */
static bool guard_replace_page(char *page)
{
    char *copy = sys_memory(DWELL_UNIT);
    if (!copy)
        return false;
    if (!guard_read_page(copy, page)) {
        sys_unmap(copy, DWELL_UNIT);
        guard_note(DWELL_TROUBLE_TRUNCATED);
        return guard_replace_rest(page);
    }
    guard_note(guard_lacks_header(page) ? DWELL_TROUBLE_TRUNCATED : DWELL_TROUBLE_NO_SPACE);
    if (guard_size(page) == DWELL_UNIT)
        return guard_move_page(copy, page);
    const bool mapped = guard_map_memory(page, DWELL_UNIT);
    if (mapped)
        memcpy(page, copy, DWELL_UNIT);
    sys_unmap(copy, DWELL_UNIT);
    return mapped;
}

/* The counts begin anew: session_settle adds them to the file's. Forked children share the memory. A header that could
 * not be read has no magic, so that nothing is claimed any more. */
static bool guard_replace_header(void)
{
    struct dwell_file_header *h = sys_map(DWELL_UNIT, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!h)
        return false;
    enum dwell_trouble trouble = DWELL_TROUBLE_NO_SPACE;
    if (!guard_read_page(h, guarded_header.page)) {
        trouble = DWELL_TROUBLE_TRUNCATED;
        *h = guarded_header.copy;
        memset(h->magic, 0, sizeof h->magic);
    }
    h->lost_events = h->lost_threads = h->lost_trace_events = h->replaced_events = 0;
    h->trouble |= trouble;
    guard_note(trouble);
    return guard_move_page((char *)h, (char *)guarded_header.page);
}

static bool guard_replace_once(const void *address)
{
    if (guarded_header.page && (uint64_t)address / DWELL_UNIT == (uint64_t)guarded_header.page / DWELL_UNIT) {
        if (__atomic_exchange_n(&guarded_header.lost, 1, __ATOMIC_ACQ_REL))
            return true;
        if (guard_replace_header())
            return true;
        __atomic_store_n(&guarded_header.lost, 0, __ATOMIC_RELEASE);
        return false;
    }
    char *const page = (char *)((uint64_t)address / DWELL_UNIT * DWELL_UNIT);
    uint64_t *const entry = guard_entry(page, false);
    if (!entry || !(__atomic_load_n(entry, __ATOMIC_ACQUIRE) & GUARD_MAPPED))
        return false;
    if (__atomic_fetch_or(entry, GUARD_LOST, __ATOMIC_ACQ_REL) & GUARD_LOST) {
        SYS0(sched_yield); /* another thread is doing it: the store is tried again */
        return true;
    }
    if (guard_replace_page(page))
        return true;
    __atomic_fetch_and(entry, ~(uint64_t)GUARD_LOST, __ATOMIC_RELEASE);
    return false;
}

/* A handler that interrupted this could wait for the page in vain. */
bool guard_replace(const void *address)
{
    const uint64_t mask = sys_block_signals();
    const bool done = guard_replace_once(address);
    sys_restore_signals(mask);
    return done;
}

/* ---- what became of them ---- */

void guard_header(struct dwell_file_header *header, const struct dwell_file_header *contents)
{
    guarded_header.copy = *contents;
    guarded_header.lost = 0;
    __atomic_store_n(&guarded_header.page, header, __ATOMIC_RELEASE);
}

bool guard_header_is_lost(void)
{
    return __atomic_load_n(&guarded_header.lost, __ATOMIC_ACQUIRE);
}

uint32_t guard_first_lost(const void *at, uint32_t size)
{
    uint32_t offset = 0;
    while (offset < size && !(guard_value((const char *)at + offset) & GUARD_LOST))
        offset += DWELL_UNIT;
    return offset < size ? offset : size;
}

static bool guard_save_page(const char *page, uint64_t entry, int fd)
{
    if (!(entry & GUARD_LOST) || entry & GUARD_KEPT)
        return true;
    return !(entry & GUARD_UNREAD) &&
           SYS4(pwrite64, fd, page, DWELL_UNIT, entry & ~(uint64_t)GUARD_FLAGS) == (long)DWELL_UNIT;
}

bool guard_save(const void *at, uint32_t size, int fd)
{
    bool all = true;
    for (uint32_t i = 0; i < size; i += DWELL_UNIT)
        all &= guard_save_page((const char *)at + i, guard_value((const char *)at + i), fd);
    return all;
}

void guard_keep(const void *at, uint32_t size, bool kept)
{
    for (uint32_t i = 0; i < size; i += DWELL_UNIT) {
        uint64_t *entry = guard_entry((const char *)at + i, false);
        if (entry && kept)
            __atomic_fetch_or(entry, GUARD_KEPT, __ATOMIC_RELAXED);
        else if (entry)
            __atomic_fetch_and(entry, ~(uint64_t)GUARD_KEPT, __ATOMIC_RELAXED);
    }
}

static bool guard_save_leaf(const struct guard_leaf *leaf, uint64_t first_page, int fd)
{
    bool all = true;
    for (uint64_t i = 0; leaf && i < 1 << LEAF_BITS; i++) {
        const char *page = (const char *)((first_page + i) * DWELL_UNIT);
        all &= guard_save_page(page, __atomic_load_n(&leaf->pages[guard_index(page)], __ATOMIC_ACQUIRE), fd);
    }
    return all;
}

bool guard_save_all(int fd)
{
    bool all = true;
    for (uint64_t top = 0; top < 1 << ROOT_BITS; top++) {
        const struct guard_node *node = __atomic_load_n(&guard_root[top], __ATOMIC_ACQUIRE);
        for (uint64_t i = 0; node && i < 1 << NODE_BITS; i++)
            all &= guard_save_leaf(__atomic_load_n(&node->leaves[i], __ATOMIC_ACQUIRE),
                                   (top << NODE_BITS | i) << LEAF_BITS, fd);
    }
    return all;
}
