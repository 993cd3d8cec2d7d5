/* A chunk that is read in pieces has the same events as one that is read at once. The pieces end anywhere. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "support/scenario.h"
#include "trace/chunk_window.h"

enum { F = 0x1000, WINDOW = 64 << 10, TWO_WINDOWS = 2 * WINDOW };

static struct writer *window_begin_chunk(void)
{
    struct writer *w = writer_new();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    return w;
}

/* ---- decoded events ---- */

struct seen {
    size_t events, marks, opened;
    uint64_t hash, time;
    bool damaged;
};

static void window_add_event(struct seen *s, uint64_t value)
{
    s->hash = (s->hash ^ value) * 0x100000001b3u;
}

static void window_add_control(struct seen *s, const struct decoder *d)
{
    struct dwell_frame frame;
    window_add_event(s, d->control_type);
    for (const uint8_t *at = d->run; (at = decode_opened(d, at, &frame)); s->opened++) {
        window_add_event(s, frame.function);
        window_add_event(s, frame.enter_time);
    }
    if (d->control_type != DWELL_EXT_MARK)
        return;
    const struct decoded_mark mark = decode_mark(d);
    s->marks++;
    window_add_event(s, mark.number);
    window_add_event(s, mark.time);
    for (size_t i = 0; i < mark.length; i++)
        window_add_event(s, (uint8_t)mark.text[i]);
}

static void window_decode_available(struct seen *s, struct decoder *d)
{
    for (enum decoded event; (event = decode_next(d)) != DECODED_END; s->events++) {
        window_add_event(s, event);
        window_add_event(s, d->time);
        if (event == DECODED_ENTER)
            window_add_event(s, d->function);
        if (event == DECODED_CONTROL)
            window_add_control(s, d);
        const struct decoded_extras *x = &d->extras;
        window_add_event(s, x->flagged + 2ull * x->unwound);
        window_add_event(s, x->os_events + ((uint64_t)x->page_faults << 32));
        window_add_event(s, x->blocked);
        window_add_event(s, x->preempted);
        memset(&d->extras, 0, sizeof d->extras);
        d->has_extras = false;
    }
    s->time = d->time;
    s->damaged = d->damaged;
}

static struct seen window_decode_whole(const struct session_file *file)
{
    struct seen s = { 0 };
    struct decoder d;
    uint8_t *buffer = malloc(file->chunks[0].size + TRACE_PADDING);
    cr_assert(session_file_read_chunk(file, &file->chunks[0], buffer));
    decode_begin(&d, &file->chunks[0], buffer);
    window_decode_available(&s, &d);
    free(buffer);
    return s;
}

/* Decodes in both ways. The window grows to at most that size. Returns the decoded events. */
static struct seen window_expect_same(struct writer *w, size_t widest)
{
    const char *path = test_path("window.dwell"), *error;
    writer_save(w, path);
    writer_free(w);
    struct session_file *file = session_file_open(path, &error);
    cr_assert(file != NULL);
    const struct seen whole = window_decode_whole(file);
    struct seen s = { 0 };
    struct chunk_window window = { 0 };
    struct decoder d;
    cr_assert(window_begin(&window, file, &file->chunks[0], &d));
    do
        window_decode_available(&s, &d);
    while (window_more(&window, &d));
    cr_assert(eq(sz, s.events, whole.events));
    cr_assert(eq(sz, s.opened, whole.opened));
    cr_assert(eq(sz, s.marks, whole.marks));
    cr_assert(eq(u64, s.hash, whole.hash));
    cr_assert(eq(u64, s.time, whole.time));
    cr_assert(eq(int, s.damaged, whole.damaged));
    cr_assert(le(sz, window.room, widest));
    window_free(&window);
    session_file_close(file);
    return s;
}

/* ---- chunks ---- */

static unsigned window_random_below(uint64_t *state, unsigned limit)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33) % limit;
}

static void window_write_event(struct writer *w, uint64_t *state, uint64_t time)
{
    switch (window_random_below(state, 40)) {
    case 0:
        write_os(w);
        break;
    case 1:
        write_off_cpu(w, true, time, 3);
        break;
    case 2:
        write_off_cpu(w, false, time, 5);
        break;
    case 3:
        write_faults(w, 2);
        break;
    case 4:
        write_unwind(w, 1);
        break;
    case 5:
        write_words(w, (uint16_t[]){ 0, 0, 0 }, 3);
        break;
    case 6:
        write_mark(w, time, time, 7, "mark");
        break;
    case 7:
        write_open(w, 0x1234, 1 << 16);
        write_switch(w, time, 3);
        break;
    case 8:
        write_upper(w, 1, window_random_below(state, 9));
        break;
    case 9:
        write_time(w, time);
        break;
    default:
        break;
    }
    if (window_random_below(state, 2))
        write_exit(w, time);
    else
        write_enter(w, time, F + ((uint64_t)window_random_below(state, 5) << 32));
}

Test(unit_chunk_window, pieces_may_end_anywhere)
{
    uint64_t state = 1;
    for (unsigned pads = 0; pads < 24; pads++) {
        struct writer *w = window_begin_chunk();
        for (unsigned i = 0; i < pads; i++)
            write_words(w, (uint16_t[]){ 13 << 8 }, 1);
        uint64_t time = 0;
        for (unsigned i = 0; i < 60000; i++)
            window_write_event(w, &state, time += 1 + window_random_below(&state, 20000));
        end_events(w, pads % 2);
        const struct seen s = window_expect_same(w, TWO_WINDOWS);
        cr_assert(gt(sz, s.events, 60000));
        cr_assert(gt(sz, s.marks, 1000));
        cr_assert(gt(sz, s.opened, 1000));
        cr_assert(not(s.damaged));
    }
}

Test(unit_chunk_window, an_event_may_be_longer_than_a_piece)
{
    struct writer *w = window_begin_chunk();
    write_enter(w, 10, F);
    for (unsigned i = 0; i < 20000; i++) /* of 16 bytes */
        write_open(w, i, 1 << 16);
    write_switch(w, 20, 3);
    write_exit(w, 30);
    end_events(w, true);
    const struct seen s = window_expect_same(w, (size_t)16 * WINDOW);
    cr_assert(eq(sz, s.events, 3));
    cr_assert(eq(sz, s.opened, 20000));
    cr_assert(eq(u64, s.time, 30));
}

Test(unit_chunk_window, zeros_may_be_longer_than_a_piece)
{
    static const uint16_t zeros[3 * WINDOW];
    struct writer *w = window_begin_chunk();
    write_enter(w, 10, F);
    write_os(w); /* void, because nothing was written after it */
    write_words(w, zeros, sizeof zeros / sizeof *zeros);
    write_exit(w, 30);
    end_events(w, false);
    const struct seen s = window_expect_same(w, TWO_WINDOWS);
    cr_assert(eq(sz, s.events, 2));
    cr_assert(eq(u64, s.time, 30));
}

/* Damage that ends a chunk also ends it for later pieces. */
Test(unit_chunk_window, nothing_is_read_after_the_end)
{
    static const uint16_t bad[] = { 2 << 8 | 3, 2, 0, 0 };
    struct writer *w = window_begin_chunk();
    for (unsigned i = 0; i < WINDOW / 8 - 40; i++) {
        write_enter(w, 10, F);
        write_exit(w, 10);
    }
    write_words(w, bad, sizeof bad / sizeof *bad);
    for (unsigned i = 0; i < WINDOW; i++)
        write_exit(w, 50);
    end_events(w, true);
    const struct seen s = window_expect_same(w, TWO_WINDOWS);
    cr_assert(eq(sz, s.events, 2 * (WINDOW / 8 - 40)));
    cr_assert(eq(u64, s.time, 10));
    cr_assert(s.damaged);
}

Test(unit_chunk_window, many_calls_may_be_open)
{
    static struct open_call calls[10000]; /* of 16 bytes */
    for (unsigned i = 0; i < 10000; i++)
        calls[i] = (struct open_call){ F + i, i };
    struct writer *w = writer_new();
    begin_events(w, 1, 1, 0, 10000, calls, 10000);
    for (unsigned i = 0; i < WINDOW; i++)
        write_exit(w, 10001 + i);
    end_events(w, true);
    const struct seen s = window_expect_same(w, (size_t)8 * WINDOW);
    cr_assert(eq(sz, s.events, WINDOW));
}
