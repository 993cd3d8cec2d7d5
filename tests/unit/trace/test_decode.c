/* Records to the byte: words and extensions as docs/format.md describes them, and the words that a kill leaves. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "support/scenario.h"
#include "trace/decode.h"

enum { F = 0x1000, G = 0x2000 };

struct event {
    enum decoded kind;
    uint64_t time, function;
};

static size_t decode_all(struct writer *w, struct event *events, size_t most)
{
    const char *path = test_path("decode.dwell"), *error;
    writer_save(w, path);
    writer_free(w);
    struct session_file *file = session_file_open(path, &error);
    cr_assert(file != NULL);
    cr_assert(eq(sz, file->chunk_count, 1));
    uint8_t *buffer = malloc(file->chunks[0].size + TRACE_PADDING);
    cr_assert(session_file_read_chunk(file, &file->chunks[0], buffer));
    struct decoder d;
    decode_begin(&d, &file->chunks[0], buffer);
    size_t count = 0;
    for (enum decoded kind; count < most && (kind = decode_next(&d)) != DECODED_END; count++)
        events[count] = (struct event){ kind, d.time, kind == DECODED_ENTER ? d.function : 0 };
    free(buffer);
    session_file_close(file);
    return count;
}

static void decode_expect_events(const struct event *event, enum decoded kind, uint64_t time, uint64_t function)
{
    cr_assert(eq(int, (int)event->kind, (int)kind));
    cr_assert(eq(u64, event->time, time));
    cr_assert(eq(u64, event->function, function));
}

Test(unit_decode, times_wrap_at_14_and_48_bits)
{
    const uint64_t start = (1ull << 48) - 20000; /* both wrap on the way */
    const uint64_t times[] = {
        start + 16383, start + 16384, start + 40000, start + 40000 + (1ull << 47), start + (1ull << 48),
    };
    struct writer *w = writer_new();
    begin_events(w, 1, 1, 0, start, NULL, 0);
    for (int i = 0; i < 5; i++)
        write_enter(w, times[i], F);
    struct event events[8];
    cr_assert(eq(sz, decode_all(w, events, 8), 5));
    for (int i = 0; i < 5; i++)
        decode_expect_events(&events[i], DECODED_ENTER, times[i], F);
}

Test(unit_decode, upper_halves_are_replaced)
{
    struct writer *w = writer_new();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    const uint64_t functions[] = { 0x1111, 0x500001111, 0x600001111, 0x500001111, 0x1111 };
    for (int i = 0; i < 5; i++)
        write_enter(w, 10 + (uint64_t)i, functions[i]);
    struct event events[8];
    cr_assert(eq(sz, decode_all(w, events, 8), 5));
    for (int i = 0; i < 5; i++)
        decode_expect_events(&events[i], DECODED_ENTER, 10 + (uint64_t)i, functions[i]);
}

Test(unit_decode, a_missing_enter_is_stepped_over)
{
    struct writer *w = writer_new();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    write_words(w, (uint16_t[]){ 0, 0, 0 }, 3); /* claimed but not stored */
    write_exit(w, 30);
    write_words(w, (uint16_t[]){ 1u << 14 | 31, 0, 0 }, 3); /* stored without its address */
    write_enter(w, 40, G);
    struct event events[8];
    cr_assert(eq(sz, decode_all(w, events, 8), 3));
    decode_expect_events(&events[1], DECODED_EXIT, 30, 0);
    decode_expect_events(&events[2], DECODED_ENTER, 40, G);
}

Test(unit_decode, missing_exits_have_the_time_before)
{
    struct writer *w = writer_new();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    write_enter(w, 15, F);
    write_words(w, (uint16_t[]){ 0 }, 1);
    write_exit(w, 20);
    write_enter(w, 30, G);
    write_words(w, (uint16_t[]){ 0, 0 }, 2);
    write_enter(w, 40, G);
    write_words(w, (uint16_t[]){ 0, 0, 0, 0 }, 4); /* with an enter */
    write_enter(w, 50, G);
    const struct event expected[] = {
        { DECODED_ENTER, 10, F }, { DECODED_ENTER, 15, F }, { DECODED_EXIT, 15, 0 }, { DECODED_EXIT, 20, 0 },
        { DECODED_ENTER, 30, G }, { DECODED_EXIT, 30, 0 },  { DECODED_EXIT, 30, 0 }, { DECODED_ENTER, 40, G },
        { DECODED_EXIT, 40, 0 },  { DECODED_ENTER, 50, G },
    };
    struct event events[16];
    cr_assert(eq(sz, decode_all(w, events, 16), 10));
    for (int i = 0; i < 10; i++)
        decode_expect_events(&events[i], expected[i].kind, expected[i].time, expected[i].function);
}

Test(unit_decode, an_enter_without_its_address_is_the_last)
{
    struct writer *w = writer_new();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    write_words(w, (uint16_t[]){ 1u << 14 | 15 }, 1);
    end_events(w, false);
    struct event events[8];
    cr_assert(eq(sz, decode_all(w, events, 8), 1));
}

Test(unit_decode, extensions_are_void_before_a_hole)
{
    struct writer *w = writer_new();
    write_thread(w, 1, 1, 1, SOURCE_PERF, "t");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    write_os(w);
    write_unwind(w, 1);
    write_words(w, (uint16_t[]){ 0, 0, 0 }, 3);
    write_exit(w, 30);
    struct outcome o = outcome_of(w, 1);
    ASSERT_TIMES(function_times(&o, F), 20, 20, 20, 20, 1);
    cr_assert(eq(u64, o.profile->counts.unwound, 0));
    cr_assert(eq(u64, o.profile->counts.os_events, 0));
    outcome_drop(&o);
}

Test(unit_decode, unknown_extensions_are_stepped_over)
{
    struct writer *w = writer_new();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_words(w, (uint16_t[]){ 60u << 8 | 2, 0xffff, 0xc000 }, 3);
    write_words(w, (uint16_t[]){ 13u << 8 }, 1);
    write_enter(w, 10, F);
    struct event events[8];
    cr_assert(eq(sz, decode_all(w, events, 8), 1));
    decode_expect_events(&events[0], DECODED_ENTER, 10, F);
}

Test(unit_decode, damaged_extensions_end_the_chunk_and_are_reported)
{
    const uint16_t bad[][2] = { { 1u << 8 | 1, 5 }, { 2u << 8 | 3, 7 }, { 4u << 8 | 2, 0 } };
    for (int i = 0; i < 3; i++) {
        struct writer *w = writer_new();
        begin_events(w, 1, 1, 0, 0, NULL, 0);
        write_enter(w, 10, F);
        write_words(w, bad[i], 2);
        write_words(w, (uint16_t[]){ 1, 1, 1 }, 3);
        write_enter(w, 20, G);
        struct outcome o = outcome_of(w, 1);
        cr_assert(eq(u64, o.profile->counts.enters, 1));
        cr_assert(eq(u64, o.profile->counts.damaged_chunks, 1));
        outcome_drop(&o);
    }
}

Test(unit_decode, an_extension_longer_than_the_chunk_ends_it)
{
    struct writer *w = writer_new();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    write_words(w, (uint16_t[]){ 60u << 8 | 255 }, 1);
    end_events(w, true);
    struct event events[8];
    cr_assert(eq(sz, decode_all(w, events, 8), 1));
}

/* Two of five switches had no room: the second record stands for them, too. Then one whose time was lost, and earlier.
 */
Test(unit_decode, off_cpu_times_that_overlap)
{
    static const uint64_t times[][3] = {
        { 4, 100, 10 }, { 4, 150, 60 }, { 5, 170, 30 }, { 5, 200, 50 }, { 5, 240, 5 }, { 4, 260, 1 },
    };
    uint8_t words[6 * 14 + TRACE_PADDING];
    for (size_t i = 0; i < 6; i++) {
        const uint64_t head = times[i][0] << 8 | 6;
        memcpy(words + 14 * i, &head, 2);
        memcpy(words + 14 * i + 2, &times[i][1], 6);
        memcpy(words + 14 * i + 8, &times[i][2], 6);
    }
    const struct decoded_extras extras = { .run = words, .run_end = words + 84 };
    static const struct decoded_off_cpu wanted[] = {
        { 100, 10, false }, { 150, 60, false }, { 210, 40, true }, { 260, 1, false }
    };
    const uint8_t *at = extras.run;
    uint64_t last = 0;
    struct decoded_off_cpu off;
    for (size_t i = 0; i < 4; i++) {
        cr_assert(decode_next_off_cpu(&extras, 90, 1000, &at, &last, &off));
        cr_assert(eq(u64, off.begin, wanted[i].begin));
        cr_assert(eq(u64, off.length, wanted[i].length));
        cr_assert(eq(int, off.preempted, wanted[i].preempted));
    }
    cr_assert(not(decode_next_off_cpu(&extras, 90, 1000, &at, &last, &off)));
}

/* A thread that is killed while it waits has amounts for its last interval, and no records of them. */
Test(unit_decode, off_cpu_times_before_the_end)
{
    static const struct {
        uint64_t blocked, preempted;
        size_t count;
        struct decoded_off_cpu wanted[2];
    } cases[] = {
        { 0, 0, 0, { { 0 } } },
        { 70, 0, 1, { { 100, 70, false } } },
        { 0, 30, 1, { { 100, 30, true } } },
        { 70, 20, 2, { { 100, 70, false }, { 170, 20, true } } },
        { 70, 200, 2, { { 100, 70, false }, { 170, 30, true } } }, /* no longer than the interval */
        { 200, 5, 1, { { 100, 100, false } } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct decoded_extras extras = { .blocked = cases[i].blocked, .preempted = cases[i].preempted };
        const uint8_t *at = extras.run;
        uint64_t last = 0;
        struct decoded_off_cpu off;
        for (size_t j = 0; j < cases[i].count; j++) {
            cr_assert(decode_next_off_cpu(&extras, 100, 200, &at, &last, &off));
            cr_assert(eq(u64, off.begin, cases[i].wanted[j].begin));
            cr_assert(eq(u64, off.length, cases[i].wanted[j].length));
            cr_assert(eq(int, off.preempted, cases[i].wanted[j].preempted));
        }
        cr_assert(not(decode_next_off_cpu(&extras, 100, 200, &at, &last, &off)));
    }
}
