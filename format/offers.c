/*
 * Free chunks of a session that any writer may take. The file has a whole header at each chunk's beginning all the
 * time: the rest of a chunk has its own before the first part ends there. If a writer is killed while it takes an
 * offer, the chunk stays as it is.
 */
#include "offers.h"

#include "session.h"
#include "sys.h"

static uint64_t offers_size(uint64_t offer)
{
    return (offer & DWELL_OFFER_UNITS) * DWELL_UNIT;
}

static uint64_t *offers_of(const struct session *session)
{
    return session_more(session)->offers;
}

bool offers_have(const struct session *session, uint32_t size)
{
    for (int i = 0; i < DWELL_OFFERS; i++)
        if (offers_size(__atomic_load_n(&offers_of(session)[i], __ATOMIC_RELAXED)) >= size)
            return true;
    return false;
}

bool offers_write_free(int fd, uint64_t offset, uint32_t size, uint32_t owner)
{
    const struct dwell_chunk_header header = { .magic = DWELL_CHUNK_MAGIC, .size = size, .process = owner };
    return SYS4(pwrite64, fd, &header, sizeof header, offset) == (long)sizeof header;
}

static bool offers_put(const struct session *session, uint64_t offset, uint32_t size)
{
    for (int i = 0; i < DWELL_OFFERS; i++) {
        uint64_t none = 0;
        if (__atomic_compare_exchange_n(&offers_of(session)[i], &none, offset | size / DWELL_UNIT, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            return true;
    }
    return false;
}

bool offers_add(const struct session *session, int fd, uint64_t offset, uint32_t size)
{
    if (!offers_write_free(fd, offset, size, DWELL_OFFERED))
        return false;
    return offers_put(session, offset, size) || (offers_write_free(fd, offset, size, 0), false);
}

/* The place of the smallest offer of that size or more. Negative if there is none. */
static int offers_find(const struct session *session, uint32_t size)
{
    uint64_t least = UINT64_MAX;
    int found = -1;
    for (int i = 0; i < DWELL_OFFERS; i++) {
        const uint64_t bytes = offers_size(__atomic_load_n(&offers_of(session)[i], __ATOMIC_RELAXED));
        if (bytes >= size && bytes < least) {
            least = bytes;
            found = i;
        }
    }
    return found;
}

/* Zero if there is none. */
static uint64_t offers_choose(const struct session *session, uint32_t size)
{
    for (int i; (i = offers_find(session, size)) >= 0;) {
        const uint64_t offer = __atomic_exchange_n(&offers_of(session)[i], 0, __ATOMIC_ACQUIRE);
        if (offers_size(offer) >= size)
            return offer;
        if (offer) /* another one took its place meanwhile */
            offers_put(session, offer & ~(uint64_t)DWELL_OFFER_UNITS, (uint32_t)offers_size(offer));
    }
    return 0;
}

/* The recorder counts again now and then. */
static void offers_count(const struct session *session, uint32_t taken)
{
    uint64_t *count = &session_more(session)->free_bytes, before = __atomic_load_n(count, __ATOMIC_RELAXED);
    while (before && !__atomic_compare_exchange_n(count, &before, before > taken ? before - taken : 0, false,
                                                  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

uint64_t offers_take(const struct session *session, int fd, uint32_t size)
{
    const uint64_t offer = offers_choose(session, size), offset = offer & ~(uint64_t)DWELL_OFFER_UNITS;
    const uint32_t rest = (uint32_t)(offers_size(offer) - size);
    if (!offer)
        return 0;
    if (rest && !offers_write_free(fd, offset + size, rest, DWELL_OFFERED))
        return 0;
    if (!offers_write_free(fd, offset, size, session->writer ? session->writer : DWELL_OFFERED) ||
        session_write_zeros(fd, offset + sizeof(struct dwell_chunk_header),
                            size - (uint32_t)sizeof(struct dwell_chunk_header)) != 0)
        return 0;
    if (rest)
        offers_add(session, fd, offset + size, rest);
    offers_count(session, size);
    return offset;
}

void offers_end(const struct session *session)
{
    for (int i = 0; i < DWELL_OFFERS; i++)
        __atomic_store_n(&offers_of(session)[i], 0, __ATOMIC_RELAXED);
}
