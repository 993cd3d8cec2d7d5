/* The forms in which events are written. docs/format.md describes them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "trace/event_writer.h"

TestSuite(unit_event_writer);

static bool writer_takes_nothing(void *context, const struct trace_chunk *chunk, const uint8_t *bytes)
{
    (void)context, (void)chunk, (void)bytes;
    return true;
}

/* The site's extension has that many words after its head, with this number. No words: there is none. */
static void expect_site(uint64_t site, uint64_t caller, unsigned words, uint64_t number)
{
    struct event_writer w = { .take = writer_takes_nothing };
    event_writer_begin(&w, 1, 1, 0, 100);
    const size_t begin = w.length;
    event_writer_put_site(&w, site, caller);
    cr_assert(eq(sz, w.length - begin, words ? 2 * (words + 1) : 0), "%lx %lx", site, caller);
    uint64_t written = 0;
    for (unsigned i = 0; i < words; i++)
        written |= (uint64_t)(w.bytes[begin + 2 + 2 * i] | w.bytes[begin + 3 + 2 * i] << 8) << 16 * i;
    cr_assert(eq(u64, written, number), "%lx %lx", site, caller);
    event_writer_free(&w);
}

Test(unit_event_writer, sites_have_the_shortest_form)
{
    const uint64_t caller = 0x7f0012340000, limit = 1ull << 31;
    expect_site(0, caller, 0, 0);
    expect_site(caller, caller, 1, 0);
    expect_site(caller + UINT16_MAX, caller, 1, UINT16_MAX);
    expect_site(caller + UINT16_MAX + 1, caller, 2, UINT16_MAX + 1);
    expect_site(caller + limit - 1, caller, 2, limit - 1);
    expect_site(caller - 1, caller, 2, UINT32_MAX);
    expect_site(caller - limit, caller, 2, limit);
    expect_site(caller + limit, caller, 3, caller + limit);
    expect_site(caller - limit - 1, caller, 3, caller - limit - 1);
    expect_site(DWELL_SITE_INLINED | (caller + 7), caller, 1, 7);
}

/* Without a caller it is an address, even if that is small. */
Test(unit_event_writer, sites_without_a_caller)
{
    expect_site(0x5000, 0, 3, 0x5000);
    expect_site(0x500000, 0, 3, 0x500000);
}
