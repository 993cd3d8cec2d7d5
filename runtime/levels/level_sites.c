/* Sites chunks are a list in the session, the newest one first. They never change when they are in it. Whoever may
 * write to the file could change them: so a chunk is copied, and its bytes have a check. What it says counts only if it
 * fits the code here (site_list.h), and a call is not rewritten if its bytes are others (rewrite.c). */
#include "levels/level_sites.h"

#include <stddef.h>
#include <string.h>

#include "filter.h"
#include "levels/site_list.h"
#include "runtime.h"
#include "session.h"
#include "sys.h"

enum { MOST_CHUNKS = 1024, LARGEST = 64 << 20, SMALL_PART = 64 /* of a limited session, for a chunk */ };

static uint64_t *level_sites_newest(void)
{
    return &session_more(&runtime.session)->sites;
}

static uint64_t level_sites_check(const struct dwell_sites *chunk)
{
    const size_t from = offsetof(struct dwell_sites, build_id_length);
    return site_key_of_bytes((const char *)chunk + from, chunk->chunk.used - from);
}

static bool level_sites_has_head(int fd, uint64_t offset, struct dwell_sites *head)
{
    return filter_copy(fd, offset, head, sizeof *head) && head->chunk.magic == DWELL_CHUNK_MAGIC &&
           head->chunk.kind == DWELL_CHUNK_SITES && head->chunk.used <= LARGEST && head->chunk.used >= sizeof *head &&
           head->chunk.used - sizeof *head >= head->build_id_length;
}

static bool level_sites_is_of(int fd, uint64_t offset, const struct dwell_sites *head, struct text build_id)
{
    uint8_t found[64];
    return head->build_id_length == build_id.length && build_id.length <= sizeof found &&
           filter_copy(fd, offset + sizeof *head, found, (uint32_t)build_id.length) &&
           memcmp(found, build_id.at, build_id.length) == 0;
}

/* The chunk of that build-id, and if `key` is not NULL of that key; zero if there is none. */
static uint64_t level_sites_find(int fd, struct text build_id, const uint64_t *key, struct dwell_sites *head)
{
    uint64_t offset = __atomic_load_n(level_sites_newest(), __ATOMIC_ACQUIRE);
    for (int i = 0; i < MOST_CHUNKS && offset && level_sites_has_head(fd, offset, head); i++, offset = head->next)
        if ((!key || head->key == *key) && level_sites_is_of(fd, offset, head, build_id))
            return offset;
    return 0;
}

static int level_sites_open(struct text build_id)
{
    if (!build_id.length || !session_is_whole(&runtime.session))
        return -1;
    return session_reopen(&runtime.session, runtime.path);
}

uint32_t level_sites_count(struct text build_id)
{
    struct dwell_sites head;
    const int fd = __atomic_load_n(level_sites_newest(), __ATOMIC_RELAXED) ? level_sites_open(build_id) : -1;
    const uint32_t count = fd >= 0 && level_sites_find(fd, build_id, NULL, &head) ? head.sites : 0;
    if (fd >= 0)
        sys_close(fd);
    return count;
}

/* ---- taking ---- */

static bool level_sites_read(struct level_module *m, struct dwell_sites *chunk)
{
    const struct site_list list = {
        .bytes = (uint8_t *)(chunk + 1) + chunk->build_id_length,
        .size = chunk->chunk.used - sizeof *chunk - chunk->build_id_length,
        .loads = chunk->loads,
        .sites = chunk->sites,
        .more_enters = chunk->flags & DWELL_SITES_MORE,
    };
    struct call_sites sites;
    call_sites_find_first(&sites, false);
    if (level_sites_check(chunk) != chunk->check || !site_list_read(&list, &sites, &m->places, &m->info)) {
        call_sites_drop(&sites);
        return false;
    }
    call_sites_drop(&m->sites);
    m->sites = sites;
    return true;
}

/* A copy, as somebody may overwrite the file. */
static bool level_sites_copy(struct level_module *m, int fd, uint64_t offset, const struct dwell_sites *head)
{
    const uint32_t size = head->chunk.used;
    struct dwell_sites *chunk = sys_memory(size);
    if (!chunk)
        return false;
    bool taken = filter_copy(fd, offset, chunk, size);
    *chunk = *head;
    taken = taken && level_sites_read(m, chunk);
    sys_unmap(chunk, size);
    return taken;
}

bool level_sites_take(struct level_module *m)
{
    struct dwell_sites head;
    const uint64_t key = site_key_value(&m->key);
    const int fd = __atomic_load_n(level_sites_newest(), __ATOMIC_RELAXED) ? level_sites_open(m->build_id) : -1;
    const uint64_t offset = fd >= 0 ? level_sites_find(fd, m->build_id, &key, &head) : 0;
    const bool taken = offset && level_sites_copy(m, fd, offset, &head);
    if (fd >= 0)
        sys_close(fd);
    return taken;
}

/* ---- putting ---- */

/* A session with a limit has its events first. */
static bool level_sites_have_room(uint32_t size)
{
    const uint64_t most = runtime.session.header->max_size;
    return size <= LARGEST && (!most || size <= most / SMALL_PART);
}

/* The header last: it has the kind. */
static bool level_sites_store(int fd, uint64_t offset, struct dwell_sites *chunk)
{
    const uint32_t head = sizeof chunk->chunk;
    return sys_write_at(fd, (const char *)chunk + head, chunk->chunk.used - head, offset + head) == 0 &&
           sys_write_at(fd, &chunk->chunk, head, offset) == 0;
}

static void level_sites_add(int fd, struct dwell_sites *chunk)
{
    const uint32_t size = (chunk->chunk.used + DWELL_UNIT - 1) / DWELL_UNIT * DWELL_UNIT;
    const uint64_t offset = level_sites_have_room(size) ? session_claim(&runtime.session, fd, size) : 0;
    if (!offset)
        return;
    chunk->chunk.magic = DWELL_CHUNK_MAGIC;
    chunk->chunk.kind = DWELL_CHUNK_SITES;
    chunk->chunk.size = size;
    chunk->next = __atomic_load_n(level_sites_newest(), __ATOMIC_ACQUIRE);
    if (!level_sites_store(fd, offset, chunk))
        return;
    const uint64_t place = offset + offsetof(struct dwell_sites, next);
    uint64_t next = chunk->next;
    while (!__atomic_compare_exchange_n(level_sites_newest(), &next, offset, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        if (sys_write_at(fd, &next, sizeof next, place) < 0)
            return;
}

static void level_sites_make(const struct level_module *m, int fd, struct dwell_sites *chunk, uint64_t room)
{
    struct site_list list = { .bytes = (uint8_t *)(chunk + 1) + m->build_id.length, .size = room };
    if (!site_list_write(&list, &m->sites, &m->places, &m->info) || list.size > LARGEST / 2)
        return;
    chunk->key = site_key_value(&m->key);
    chunk->build_id_length = (uint32_t)m->build_id.length;
    chunk->flags = list.more_enters ? DWELL_SITES_MORE : 0;
    chunk->loads = list.loads;
    chunk->sites = list.sites;
    memcpy(chunk + 1, m->build_id.at, m->build_id.length);
    chunk->chunk.used = (uint32_t)(sizeof *chunk + m->build_id.length + list.size);
    chunk->check = level_sites_check(chunk);
    level_sites_add(fd, chunk);
}

void level_sites_put(const struct level_module *m)
{
    struct dwell_sites head;
    const uint64_t key = site_key_value(&m->key), room = site_list_room(&m->sites, &m->places);
    const uint64_t size = sizeof head + m->build_id.length + room;
    if (!m->sites.complete || !m->sites.count)
        return;
    const int fd = level_sites_open(m->build_id);
    struct dwell_sites *chunk = fd >= 0 && !level_sites_find(fd, m->build_id, &key, &head) ? sys_memory(size) : NULL;
    if (chunk) {
        level_sites_make(m, fd, chunk, room);
        sys_unmap(chunk, size);
    }
    if (fd >= 0)
        sys_close(fd);
}
