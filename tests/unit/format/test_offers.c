/* Free chunks of a session that any writer may take: which one is taken, and what the file has then. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "offers.h"

enum { UNIT = DWELL_UNIT, UNITS = 32, SERIAL = 7 };

struct offered {
    int fd;
    struct session session;
};

/* A session whose chunks are full of other bytes. */
static struct offered offers_test_begin(void)
{
    struct offered o = { .fd = memfd_create("session", MFD_CLOEXEC) };
    char bytes[UNIT];
    memset(bytes, 9, sizeof bytes);
    for (int i = 1; i < UNITS; i++)
        cr_assert(eq(sz, (size_t)pwrite(o.fd, bytes, sizeof bytes, i * UNIT), sizeof bytes));
    o.session = (struct session){
        .header = mmap(NULL, UNIT, PROT_READ | PROT_WRITE, MAP_SHARED, o.fd, 0),
        .writer = SERIAL,
    };
    return o;
}

/* The owner of a free chunk, which must have that size. */
static uint32_t offers_test_owner(const struct offered *o, uint64_t offset, uint32_t size)
{
    struct dwell_chunk_header head;
    cr_assert(eq(sz, (size_t)pread(o->fd, &head, sizeof head, (off_t)offset), sizeof head));
    cr_assert(eq(u32, head.magic, DWELL_CHUNK_MAGIC));
    cr_assert(eq(u32, head.kind, DWELL_CHUNK_FREE));
    cr_assert(eq(u32, head.size, size));
    return head.process;
}

static bool offers_test_is_empty(const struct offered *o, uint64_t offset, size_t size)
{
    char bytes[UNIT * 4], zeros[UNIT * 4] = { 0 };
    const size_t head = sizeof(struct dwell_chunk_header), left = size - head;
    return pread(o->fd, bytes, left, (off_t)(offset + head)) == (ssize_t)left && memcmp(bytes, zeros, left) == 0;
}

Test(unit_offers, smallest_that_is_large_enough)
{
    const struct offered o = offers_test_begin();
    cr_assert(offers_add(&o.session, o.fd, 1 * UNIT, 8 * UNIT));
    cr_assert(offers_add(&o.session, o.fd, 10 * UNIT, 3 * UNIT));
    cr_assert(offers_add(&o.session, o.fd, 20 * UNIT, 1 * UNIT));
    cr_assert(eq(u32, offers_test_owner(&o, 10 * UNIT, 3 * UNIT), DWELL_OFFERED));
    cr_assert(offers_have(&o.session, 8 * UNIT));
    cr_assert(not(offers_have(&o.session, 9 * UNIT)));
    cr_assert(eq(u64, offers_take(&o.session, o.fd, 9 * UNIT), 0));
    cr_assert(eq(u64, offers_take(&o.session, o.fd, 3 * UNIT), 10 * UNIT));
    cr_assert(eq(u32, offers_test_owner(&o, 10 * UNIT, 3 * UNIT), SERIAL));
    cr_assert(offers_test_is_empty(&o, 10 * UNIT, 3 * UNIT));
    cr_assert(eq(u64, offers_take(&o.session, o.fd, 1 * UNIT), 20 * UNIT));
    cr_assert(eq(u64, offers_take(&o.session, o.fd, 1 * UNIT), 1 * UNIT));
}

/* The rest is offered again, until nothing is left. What is free is counted. */
Test(unit_offers, rests)
{
    const struct offered o = offers_test_begin();
    uint64_t *free_bytes = &session_more(&o.session)->free_bytes;
    *free_bytes = 9 * UNIT;
    cr_assert(offers_add(&o.session, o.fd, 4 * UNIT, 8 * UNIT));
    cr_assert(eq(u64, offers_take(&o.session, o.fd, 4 * UNIT), 4 * UNIT));
    cr_assert(eq(u32, offers_test_owner(&o, 4 * UNIT, 4 * UNIT), SERIAL));
    cr_assert(eq(u32, offers_test_owner(&o, 8 * UNIT, 4 * UNIT), DWELL_OFFERED));
    cr_assert(eq(u64, *free_bytes, 5 * UNIT));
    cr_assert(eq(u64, offers_take(&o.session, o.fd, 3 * UNIT), 8 * UNIT));
    cr_assert(eq(u64, offers_take(&o.session, o.fd, 1 * UNIT), 11 * UNIT));
    cr_assert(eq(u64, *free_bytes, 1 * UNIT));
    cr_assert(eq(u64, offers_take(&o.session, o.fd, 1 * UNIT), 0));
    cr_assert(not(offers_have(&o.session, 1 * UNIT)));
}

/* Nobody has a chunk for which there is no place. */
Test(unit_offers, too_many)
{
    const struct offered o = offers_test_begin();
    for (int i = 0; i < DWELL_OFFERS; i++)
        session_more(&o.session)->offers[i] = 2 * UNIT | 1;
    cr_assert(not(offers_add(&o.session, o.fd, 6 * UNIT, 2 * UNIT)));
    cr_assert(eq(u32, offers_test_owner(&o, 6 * UNIT, 2 * UNIT), 0));
    offers_end(&o.session);
    cr_assert(not(offers_have(&o.session, 1 * UNIT)));
}

/* The recorder has no serial number: nobody else takes its chunk for one that is free. */
Test(unit_offers, recorder)
{
    struct offered o = offers_test_begin();
    o.session.writer = 0;
    cr_assert(offers_add(&o.session, o.fd, 4 * UNIT, 2 * UNIT));
    cr_assert(eq(u64, offers_take(&o.session, o.fd, 1 * UNIT), 4 * UNIT));
    cr_assert(eq(u32, offers_test_owner(&o, 4 * UNIT, UNIT), DWELL_OFFERED));
}

/* A claim takes an offer before it makes the file longer. */
Test(unit_offers, claims)
{
    const struct offered o = offers_test_begin();
    memcpy(o.session.header->magic, DWELL_FILE_MAGIC, sizeof o.session.header->magic);
    o.session.header->cursor = UNITS * UNIT;
    cr_assert(offers_add(&o.session, o.fd, 4 * UNIT, 2 * UNIT));
    cr_assert(eq(u64, session_claim(&o.session, o.fd, 2 * UNIT), 4 * UNIT));
    cr_assert(eq(u64, o.session.header->cursor, UNITS * UNIT));
    cr_assert(eq(u64, session_claim(&o.session, o.fd, 2 * UNIT), UNITS * UNIT));
    cr_assert(eq(u64, o.session.header->cursor, (UNITS + 2) * UNIT));
}
