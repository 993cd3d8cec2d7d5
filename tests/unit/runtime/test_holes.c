/* Holes: records that a probe has claimed and not stored, and what the thread stores in their place. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "holes.h"
#include "record.h"
#include "unit/runtime/runtime_block.h"

TestSuite(unit_runtime_holes);

enum { F = 0x1000, G = 0x2000, E = 0x3000, H = 0x4000, WORDS = 64, POSITION = 64 };

static uint16_t storage[POSITION / 2 + WORDS];
static struct dwell_chunk_header chunk;

static struct thread *holes_thread(void)
{
    struct thread *t = runtime_block();
    memset(storage, 0, sizeof storage);
    t->base = (char *)storage;
    t->chunks.current = &chunk;
    t->state = one_call | POSITION;
    t->last = 100;
    holes_skip(t);
    return t;
}

/* A record is claimed: its words are zero. */
static void holes_claim(struct thread *t, int words)
{
    t->state += (uint64_t)words * 2;
}

static void holes_put(struct thread *t, const uint16_t *words, int count)
{
    memcpy(t->base + (uint32_t)t->state, words, (size_t)count * 2);
    holes_claim(t, count);
}

static uint16_t holes_enter_word(uint64_t time)
{
    return (uint16_t)(1u << 14 | time);
}

static uint16_t holes_exit_word(uint64_t time)
{
    return (uint16_t)(3u << 14 | time);
}

static void holes_open(struct thread *t, uint64_t function, uint64_t time)
{
    runtime_open_call(t, function, 0)->enter_time = time;
}

static void holes_enter(struct thread *t, uint64_t function, uint64_t time)
{
    holes_open(t, function, time);
    holes_put(t, (uint16_t[]){ holes_enter_word(time), (uint16_t)function, 0 }, 3);
    t->last = time;
}

static void holes_expect(const struct thread *t, const uint16_t *words, int count)
{
    cr_assert(eq(u32, (uint32_t)t->state, (uint32_t)(POSITION + 2 * count)));
    for (int i = 0; i < count; i++)
        cr_assert(eq(u16, storage[POSITION / 2 + i], words[i]), "word %d", i);
}

/* The handler's records lie behind the hole. Its last call is still open when the hole is filled. */
Test(unit_runtime_holes, an_enter_is_that_of_the_shadow_stack)
{
    for (int stored = 0; stored < 2; stored++) { /* nothing of it, or its word alone */
        struct thread *t = holes_thread();
        holes_enter(t, F, 110);
        if (stored)
            storage[(uint32_t)t->state / 2] = holes_enter_word(120);
        holes_claim(t, 3);
        holes_open(t, E, 120);
        holes_enter(t, H, 130);
        cr_assert(holes_fill(t));
        const uint16_t words[] = {
            holes_enter_word(110), F, 0, holes_enter_word(120), E, 0, holes_enter_word(130), H, 0
        };
        holes_expect(t, words, 9);
        cr_assert(t->holes.found);
        cr_assert(eq(u32, t->holes.checked, (uint32_t)t->state));
    }
}

/* A handler ends the chunk before it leaves. */
Test(unit_runtime_holes, an_ending_chunk_is_filled_at_its_end)
{
    struct thread *t = holes_thread();
    holes_enter(t, F, 110);
    holes_open(t, E, 120);
    holes_claim(t, 3);
    holes_enter(t, H, 130);
    holes_fill_last(t);
    const uint16_t words[] = { holes_enter_word(110), F, 0, holes_enter_word(120), E, 0, holes_enter_word(130), H, 0 };
    holes_expect(t, words, 9);
    cr_assert(t->holes.found);
}

Test(unit_runtime_holes, an_ending_chunk_is_not_searched_for_more_than_its_end)
{
    static uint16_t large[POSITION / 2 + HOLES_LAST_BYTES / 2 + WORDS];
    struct thread *t = holes_thread();
    t->base = (char *)large;
    holes_open(t, E, 120);
    holes_claim(t, 3);
    for (int i = 0; i < HOLES_LAST_BYTES / 2; i++)
        holes_put(t, (uint16_t[]){ holes_exit_word(130) }, 1);
    holes_fill_last(t);
    cr_assert(not(t->holes.found));
    t->state -= 2;
    holes_fill_last(t);
    cr_assert(not(t->holes.found));
    t->state -= 2;
    holes_fill_last(t);
    cr_assert(t->holes.found);
}

/* The probe of an exit was left, and then the probe of an enter. */
Test(unit_runtime_holes, exits_have_the_time_before)
{
    struct thread *t = holes_thread();
    holes_enter(t, F, 110);
    holes_enter(t, G, 120);
    t->state -= one_call;
    holes_claim(t, 1);
    holes_open(t, E, 130);
    holes_claim(t, 3);
    holes_enter(t, H, 140);
    cr_assert(holes_fill(t));
    const uint16_t words[] = { holes_enter_word(110), F, 0, holes_enter_word(120), G, 0, holes_exit_word(120),
                               holes_enter_word(130), E, 0, holes_enter_word(140), H, 0 };
    holes_expect(t, words, 13);
}

/* An enter of the same function and time follows the exit. It is stored, and not the one that is missing. */
Test(unit_runtime_holes, a_stored_enter_is_not_missing)
{
    struct thread *t = holes_thread();
    holes_enter(t, F, 110);
    holes_enter(t, G, 120);
    for (int i = 0; i < 3; i++) {
        t->state -= i < 2 ? one_call : 0;
        holes_claim(t, 1);
    }
    holes_enter(t, H, 130);
    cr_assert(holes_fill(t));
    const uint16_t words[] = { holes_enter_word(110),
                               F,
                               0,
                               holes_enter_word(120),
                               G,
                               0,
                               holes_exit_word(120),
                               holes_exit_word(120),
                               holes_exit_word(120),
                               holes_enter_word(130),
                               H,
                               0 };
    holes_expect(t, words, 12);
}

Test(unit_runtime_holes, a_slow_exit_keeps_the_extensions_that_are_whole)
{
    struct thread *t = holes_thread();
    holes_enter(t, F, 110);
    t->state -= one_call;
    cr_assert(holes_begin_slow(&t->holes, (struct slow_record){ t->base, (uint32_t)t->state, 18, false }));
    const uint16_t faults = extension_word(DWELL_EXT_FAULTS, 1), blocked = extension_word(DWELL_EXT_BLOCKED, 4);
    memcpy(t->base + (uint32_t)t->state, (uint16_t[]){ faults, 7, blocked, 5 }, 8); /* the probe came as far */
    holes_claim(t, 9);
    holes_enter(t, H, 130);
    cr_assert(holes_fill(t));
    const uint16_t words[] = { holes_enter_word(110),
                               F,
                               0,
                               faults,
                               7,
                               extension_word(DWELL_EXT_PAD, 4),
                               5,
                               0,
                               0,
                               0,
                               extension_word(DWELL_EXT_OS, 0),
                               holes_exit_word(110),
                               holes_enter_word(130),
                               H,
                               0 };
    holes_expect(t, words, 15);
    cr_assert(eq(u32, t->holes.slow_count, 0));
}

Test(unit_runtime_holes, a_slow_enter)
{
    struct thread *t = holes_thread();
    cr_assert(holes_begin_slow(&t->holes, (struct slow_record){ t->base, (uint32_t)t->state, 20, true }));
    holes_claim(t, 10);
    holes_open(t, E, 120);
    holes_enter(t, H, 130);
    cr_assert(holes_fill(t));
    const uint16_t words[] = { extension_word(DWELL_EXT_OS, 0),
                               extension_word(DWELL_EXT_PAD, 5),
                               0,
                               0,
                               0,
                               0,
                               0,
                               holes_enter_word(120),
                               E,
                               0,
                               holes_enter_word(130),
                               H,
                               0 };
    holes_expect(t, words, 13);
}

Test(unit_runtime_holes, zeros_within_records_are_none)
{
    struct thread *t = holes_thread();
    holes_put(t, (uint16_t[]){ extension_word(DWELL_EXT_FAULTS, 1), 0, extension_word(DWELL_EXT_TIME, 3), 120, 0, 0 },
              6);
    holes_enter(t, F, 120);
    cr_assert(holes_fill(t));
    cr_assert(not(t->holes.found));
    const uint16_t words[] = { extension_word(DWELL_EXT_FAULTS, 1),
                               0,
                               extension_word(DWELL_EXT_TIME, 3),
                               120,
                               0,
                               0,
                               holes_enter_word(120),
                               F,
                               0 };
    holes_expect(t, words, 9);
}

/* Three words for a call that no shadow stack knows: they are not three exits, as so many calls were not open. */
Test(unit_runtime_holes, what_is_not_known_is_reported)
{
    struct thread *t = holes_thread();
    holes_enter(t, F, 110);
    holes_claim(t, 3);
    holes_enter(t, H, 130);
    cr_assert(not(holes_fill(t)));
    cr_assert(t->holes.found);
}

Test(unit_runtime_holes, the_slow_path_notes_a_few_at_most)
{
    struct thread *t = holes_thread();
    for (uint32_t i = 0; i < MAX_SLOW_RECORDS; i++)
        cr_assert(holes_begin_slow(&t->holes, (struct slow_record){ t->base, i, 2, false }));
    cr_assert(not(holes_begin_slow(&t->holes, (struct slow_record){ t->base, 9, 2, false })));
    holes_end_slow(&t->holes, 0);
    cr_assert(eq(u32, t->holes.slow_count, 0));
}
