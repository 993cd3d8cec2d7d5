/* Writes the pages of the session whose place memory has taken (guard.h) to the file, and counts the events of those
 * that cannot be written. */
#include "losses.h"

#include <string.h>
#include <sys/mman.h>

#include "chunk.h"
#include "guard.h"
#include "process.h"
#include "record.h"
#include "runtime.h"
#include "session.h"
#include "sys.h"
#include "thread.h"
#include "upward.h"

/* ---- room on a full disk ---- */

/* Gives the space of a free chunk back, without its header. */
static bool losses_give_back(char **slots, int count)
{
    bool any = false;
    for (int i = 0; i < count; i++) {
        char *at = __atomic_exchange_n(&slots[i], NULL, __ATOMIC_ACQUIRE);
        const uint32_t size = at ? guard_size(at) : 0;
        if (!at)
            continue;
        const struct dwell_chunk_header *chunk = (const struct dwell_chunk_header *)at;
        if (size > DWELL_UNIT && chunk->magic == DWELL_CHUNK_MAGIC && chunk->kind == DWELL_CHUNK_FREE)
            any |= SYS3(madvise, at + DWELL_UNIT, size - DWELL_UNIT, MADV_REMOVE) == 0;
        session_unmap(at, size);
    }
    return any;
}

/* The process takes no more chunks: there is no space for them. */
static bool losses_make_room(void)
{
    struct process *p = runtime.process;
    if (!session_is_whole(&runtime.session) || !(guard_trouble() & DWELL_TROUBLE_NO_SPACE))
        return false;
    upward.space_is_gone();
    const bool ready = losses_give_back(p->pool.ready, POOL_SLOTS);
    return losses_give_back(p->pool.rests, REST_SLOTS) || ready;
}

bool losses_settle(int fd)
{
    session_trouble(&runtime.session, guard_trouble());
    if (!session_is_whole(&runtime.session))
        return true; /* there is no session any more */
    return session_settle(&runtime.session, fd) || (losses_make_room() && session_settle(&runtime.session, fd));
}

/* Returns a descriptor of the session to write to, or a negative number. */
static int losses_open(void)
{
    return session_is_whole(&runtime.session) ? session_reopen(&runtime.session, runtime.path) : -1;
}

/* Writes a chunk's lost pages. */
static bool losses_save(const void *chunk, uint32_t size)
{
    const int fd = losses_open();
    if (fd < 0)
        return false;
    const bool saved = guard_save(chunk, size, fd) || (losses_make_room() && guard_save(chunk, size, fd));
    sys_close(fd);
    return saved;
}

/* Returns where the chunk in memory and in the file begin to differ, or `size` if they do not. The chunk's header does
 * not count. */
static uint32_t losses_first_difference(const char *chunk, uint32_t size)
{
    const int fd = losses_open();
    char *stored = sys_memory(DWELL_UNIT);
    uint32_t page = guard_first_lost(chunk, size), same = 0;
    while (page < size) {
        const long got = fd < 0 || !stored ? 0 : SYS4(pread64, fd, stored, DWELL_UNIT, guard_offset(chunk + page));
        same = page == 0 ? sizeof(struct dwell_chunk_header) : 0;
        while (same < got && stored[same] == chunk[page + same])
            same++;
        if (same < DWELL_UNIT)
            break;
        same = 0;
        page += DWELL_UNIT;
        page += guard_first_lost(chunk + page, size - page);
    }
    if (stored)
        sys_unmap(stored, DWELL_UNIT);
    if (fd >= 0)
        sys_close(fd);
    return page + same;
}

/* ---- events ---- */

/* Counts the events whose records do not end before `first`. *cut is where the others end. */
static uint64_t losses_count_events(const char *chunk, uint32_t begin, uint32_t used, uint32_t first, uint32_t *cut)
{
    uint64_t lost = 0;
    *cut = begin;
    for (uint32_t at = begin; at + sizeof(uint16_t) <= used;) {
        uint16_t word;
        memcpy(&word, chunk + at, sizeof word);
        at += word ? record_bytes(word) : EXIT_BYTES;
        if (word >> DWELL_WORD_KIND_SHIFT == DWELL_WORD_EXTENSION)
            continue;
        if (at <= first)
            *cut = at;
        else
            lost++;
    }
    return lost;
}

/* Where a page with records is missing, there are zeros. Readers take a few of them for exits (docs/format.md). */
static uint32_t losses_skip_zeros(const char *stored, uint32_t at, uint32_t end, uint64_t *events)
{
    const uint32_t begin = at;
    while (at < end && stored[at] == 0 && stored[at + 1] == 0)
        at += EXIT_BYTES;
    if (at < end)
        *events += (at - begin) % ENTER_BYTES / EXIT_BYTES;
    return at;
}

/* The events that a reader finds in a chunk as it is in the file. */
static uint64_t losses_count_stored(const char *stored, uint32_t size)
{
    const struct dwell_chunk_header *chunk = (const struct dwell_chunk_header *)stored;
    uint64_t events = 0, at = sizeof *chunk + (uint64_t)chunk->depth * sizeof(struct dwell_frame);
    const uint32_t end = chunk->used && chunk->used < size ? chunk->used : size;
    if (chunk->magic != DWELL_CHUNK_MAGIC || chunk->kind != DWELL_CHUNK_EVENTS)
        return 0;
    while (at + sizeof(uint16_t) <= end) {
        uint16_t word;
        uint32_t lower = 1;
        memcpy(&word, stored + at, sizeof word);
        const bool extension = word >> DWELL_WORD_KIND_SHIFT == DWELL_WORD_EXTENSION;
        if (!extension && record_bytes(word) == ENTER_BYTES && at + ENTER_BYTES <= end)
            memcpy(&lower, stored + at + sizeof word, sizeof lower);
        if (word == 0 || lower == 0) {
            at = losses_skip_zeros(stored, (uint32_t)at + (word ? ENTER_BYTES : 0), end, &events);
            continue;
        }
        at += record_bytes(word);
        events += !extension && at <= end;
    }
    return events;
}

static uint64_t losses_find_stored(const struct dwell_chunk_header *chunk, uint32_t size)
{
    const int fd = losses_open();
    char *stored = fd < 0 ? NULL : sys_memory(size);
    uint64_t events = 0;
    if (stored && SYS4(pread64, fd, stored, size, guard_offset(chunk)) == (long)size)
        events = losses_count_stored(stored, size);
    if (stored)
        sys_unmap(stored, size);
    if (fd >= 0)
        sys_close(fd);
    return events;
}

/* The chunk ends before its first event that the file lacks. If its header cannot be stored, readers go on to the end,
 * and find the events of other pages: then that is how the chunk stays in the file. */
void losses_of_events(struct dwell_chunk_header *chunk, uint32_t used)
{
    const uint32_t size = guard_size(chunk);
    if (guard_first_lost(chunk, size) >= used || used > size || losses_save(chunk, size))
        return;
    const uint32_t first = losses_first_difference((const char *)chunk, size);
    if (first >= used)
        return;
    const uint64_t frames = sizeof *chunk + (uint64_t)chunk->depth * sizeof(struct dwell_frame);
    const uint32_t begin = frames < used ? (uint32_t)frames : used;
    uint32_t cut, none;
    uint64_t lost = losses_count_events((const char *)chunk, begin, used, first, &cut);
    chunk->enters = chunk->exits = DWELL_NOT_COUNTED;
    __atomic_store_n(&chunk->used, cut, __ATOMIC_RELEASE);
    if (guard_first_lost(chunk, DWELL_UNIT) == 0 && !losses_save(chunk, DWELL_UNIT)) {
        guard_keep(chunk, size, true);
        lost = saturating_difference(losses_count_events((const char *)chunk, begin, used, 0, &none),
                                     losses_find_stored(chunk, size));
    }
    session_lose(&runtime.session, lost);
}

/* ---- call trees ---- */

/* The calls of a node in the file. A node that is not there ends the tree for a reader. */
static uint64_t losses_calls_in_file(const struct dwell_tree_node *node, uint64_t offset, int fd, bool *ended)
{
    struct dwell_tree_node stored;
    if (fd < 0 || SYS4(pread64, fd, &stored, sizeof stored, offset) != (long)sizeof stored || stored.function == 0)
        *ended = true;
    return *ended ? 0 : stored.calls < node->calls ? stored.calls : node->calls;
}

/* The calls of a chunk's nodes that the file lacks. Each has an enter and an exit. */
static uint64_t losses_count_calls(const struct dwell_chunk_header *chunk, const char *end, int fd, bool *ended)
{
    const char *at = (const char *)(chunk + 1);
    const uint64_t offset = guard_offset(chunk);
    uint64_t lost = 0;
    if (!guard_link(chunk)) /* the thread's first chunk */
        at += sizeof(struct dwell_tree_head);
    for (; at + sizeof(struct dwell_tree_node) <= end; at += sizeof(struct dwell_tree_node)) {
        const struct dwell_tree_node *node = (const struct dwell_tree_node *)at;
        lost += node->calls - losses_calls_in_file(node, offset + (uint64_t)(at - (const char *)chunk), fd, ended);
    }
    return lost;
}

/* The chunk after `chunk` in the thread's tree, whose last one is `last`. */
static const struct dwell_chunk_header *losses_next_chunk(const struct dwell_chunk_header *chunk,
                                                          const struct dwell_chunk_header *last)
{
    while (last && guard_link(last) != chunk)
        last = guard_link(last);
    return last;
}

void losses_of_tree(const struct thread *t)
{
    bool saved = true;
    const struct dwell_chunk_header *first = NULL;
    for (const struct dwell_chunk_header *c = t->tree.chunk; c; c = guard_link(c)) {
        const uint32_t size = guard_size(c);
        saved = (guard_first_lost(c, size) == size || losses_save(c, size)) && saved;
        first = c;
    }
    if (saved)
        return;
    const int fd = losses_open();
    bool ended = false;
    uint64_t lost = 0;
    for (const struct dwell_chunk_header *c = first; c; c = losses_next_chunk(c, t->tree.chunk)) {
        const char *end = (const char *)c + guard_size(c);
        lost += losses_count_calls(c, c == t->tree.chunk && t->tree.next < end ? t->tree.next : end, fd, &ended);
    }
    session_lose(&runtime.session, 2 * lost);
    if (fd >= 0)
        sys_close(fd);
}

/* Rows are no events, so none is counted as lost. */
void losses_of_rows(const struct dwell_chunk_header *chunk)
{
    const uint32_t size = guard_size(chunk);
    if (guard_first_lost(chunk, size) < size)
        losses_save(chunk, size);
}

/* ---- counts ---- */

void losses_of_counts(const struct dwell_counts *counts)
{
    const uint32_t size = guard_size(counts);
    if (guard_first_lost(counts, size) == size || losses_save(counts, size))
        return;
    const int fd = losses_open();
    uint64_t lost = 0;
    for (uint32_t i = 0; i < COUNTS_IN_PAGE; i++) {
        struct dwell_count stored = { 0, 0 };
        const uint64_t offset = guard_offset(counts) + offsetof(struct dwell_counts, counts[i]);
        if (fd < 0 || SYS4(pread64, fd, &stored, sizeof stored, offset) != (long)sizeof stored)
            stored.calls = 0;
        lost += saturating_difference(counts->counts[i].calls, stored.calls);
    }
    session_lose(&runtime.session, lost);
    if (fd >= 0)
        sys_close(fd);
}

/* ---- trace events ---- */

/* Whether events of a chunk that ends are lost: those that end behind *first. */
static bool losses_are_in(const struct dwell_chunk_header *chunk, uint32_t used, uint32_t *first)
{
    const uint32_t size = guard_size(chunk);
    if (guard_first_lost(chunk, size) >= used || used > size || losses_save(chunk, size))
        return false;
    *first = losses_first_difference((const char *)chunk, size);
    return true;
}

void losses_of_trace_events(const struct dwell_chunk_header *chunk, uint32_t used)
{
    uint32_t first;
    uint64_t lost = 0;
    if (!losses_are_in(chunk, used, &first))
        return;
    for (uint32_t at = sizeof *chunk; at + sizeof(struct dwell_trace_event) <= used;) {
        const struct dwell_trace_event *event = (const struct dwell_trace_event *)((const char *)chunk + at);
        if (event->size < sizeof *event)
            break;
        lost += at + event->size > first;
        at += event->size;
    }
    if (session_is_whole(&runtime.session))
        __atomic_fetch_add(&runtime.session.header->lost_trace_events, lost, __ATOMIC_RELAXED);
}

/* ---- values ---- */

void losses_of_values(const struct dwell_chunk_header *chunk, uint32_t used)
{
    uint32_t first;
    uint64_t lost = 0;
    if (!losses_are_in(chunk, used, &first))
        return;
    for (uint32_t at = sizeof *chunk; at + sizeof(struct dwell_values_row) <= used;) {
        const struct dwell_values_row *row = (const struct dwell_values_row *)((const char *)chunk + at);
        const uint32_t bytes = (uint32_t)sizeof *row + row->words * (uint32_t)sizeof(uint64_t);
        lost += row->state && at + bytes > first;
        at += row->state ? bytes : (uint32_t)sizeof(uint64_t);
    }
    struct dwell_file_more *more = session_more(&runtime.session);
    if (session_is_whole(&runtime.session)) {
        __atomic_fetch_add(&more->lost_values, lost, __ATOMIC_RELAXED);
        __atomic_fetch_add(&more->unstored_values, lost, __ATOMIC_RELAXED);
    }
}

/* ---- the process ---- */

/* Threads go on while the process ends, so this counts what they had at some moment. */
static void losses_of_threads(void)
{
    for (struct thread *t = runtime.process->threads.live; t; t = t->next) {
        struct dwell_chunk_header *chunk = t->chunks.current;
        if (chunk)
            losses_of_events(chunk, (uint32_t)(t->base + thread_position(t) - (char *)chunk));
        if (t->tree.head)
            losses_of_tree(t);
        if (t->trace_events.chunk)
            losses_of_trace_events(t->trace_events.chunk, t->trace_events.used);
        if (t->values.chunk)
            losses_of_values(t->values.chunk, (uint32_t)(t->values.at - (char *)t->values.chunk));
        for (uint32_t i = 0; t->counts.made && i < COUNTS_PAGES; i++)
            if (*counts_made(&t->counts, i))
                losses_of_counts(*counts_made(&t->counts, i));
    }
}

void losses_of_process(void)
{
    if (!guard_trouble())
        return;
    const int fd = losses_open();
    if (fd < 0)
        return;
    if (!guard_save_all(fd) && !(losses_make_room() && guard_save_all(fd)))
        losses_of_threads();
    losses_settle(fd);
    sys_close(fd);
}
