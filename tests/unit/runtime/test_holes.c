/* Holes: records that a probe has claimed and not stored, and what the thread stores in their place. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "holes.h"
#include "record.h"
#include "runtime.h"
#include "session.h"
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

static uint64_t holes_searches(void)
{
    return session_more(&runtime.session)->hole_searches;
}

/* A record of the slow path, which counts its zeros. */
static void holes_put_slow(struct thread *t, const uint16_t *words, int count)
{
    const uint32_t position = (uint32_t)t->state;
    holes_put(t, words, count);
    holes_note_zeros(&t->holes, position, words, count);
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
    static uint16_t large[POSITION / 2 + 3 + HOLES_LAST_BYTES / 2];
    for (int room = -2; room <= 2; room += 2) { /* from the end of the hole's last word to where the search begins */
        struct thread *t = holes_thread();
        memset(large, 0, sizeof large);
        t->base = (char *)large;
        t->chunks.end = POSITION + 6 + HOLES_LAST_BYTES - (uint32_t)(4 - room);
        holes_skip(t);
        holes_open(t, E, 120);
        holes_claim(t, 3);
        while ((uint32_t)t->state < t->chunks.end)
            holes_put(t, (uint16_t[]){ holes_exit_word(130) }, 1);
        holes_fill_last(t);
        cr_assert(eq(int, t->holes.found, room <= 0), "%d", room);
        cr_assert(eq(u64, holes_searches(), room <= 0), "%d", room);
    }
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

/* The usual records of the slow path: a short wait, for a descriptor, in a function at a low address. */
static void holes_put_zeros(struct thread *t, uint64_t time)
{
    const uint16_t words[] = { extension_word(DWELL_EXT_BLOCKED, 6),
                               120,
                               7,
                               9,
                               50,
                               0,
                               0,
                               extension_word(DWELL_EXT_OBJECT, 5),
                               DWELL_OBJECT_PIPE,
                               3,
                               0,
                               0,
                               0,
                               extension_word(DWELL_EXT_UPPER, 3),
                               0,
                               0,
                               0 };
    holes_put_slow(t, words, (int)(sizeof words / sizeof *words));
    holes_enter(t, F, time);
}

Test(unit_runtime_holes, zeros_within_records_need_no_search)
{
    struct thread *t = holes_thread();
    holes_put_zeros(t, 120);
    cr_assert(holes_fill(t));
    cr_assert(not(t->holes.found));
    cr_assert(eq(u64, holes_searches(), 0));
    cr_assert(eq(u32, t->holes.checked, (uint32_t)t->state));
    holes_put_zeros(t, 120);
    holes_fill_last(t);
    cr_assert(eq(u64, holes_searches(), 0));
}

Test(unit_runtime_holes, a_hole_among_zeros_is_found)
{
    struct thread *t = holes_thread();
    holes_put_zeros(t, 120);
    const uint32_t hole = (uint32_t)t->state / 2;
    holes_open(t, E, 125);
    holes_claim(t, 3);
    holes_put_zeros(t, 130);
    cr_assert(holes_fill(t));
    cr_assert(t->holes.found);
    cr_assert(eq(u64, holes_searches(), 1));
    cr_assert(eq(u16, storage[hole], holes_enter_word(125)));
    cr_assert(eq(u16, storage[hole + 1], E));
}

/* A probe goes on after a handler's probe has stored its record in its place. */
Test(unit_runtime_holes, zeros_before_the_checked_position_do_not_count)
{
    struct thread *t = holes_thread();
    const uint32_t position = (uint32_t)t->state;
    holes_put_zeros(t, 120);
    holes_skip(t);
    const uint16_t zeros[3] = { 0 };
    holes_note_zeros(&t->holes, position, zeros, 3);
    holes_put_zeros(t, 120);
    cr_assert(holes_fill(t));
    cr_assert(eq(u64, holes_searches(), 0));
}

/* Of a chunk that ends, only the last part is looked at, and its zeros alone are compared. */
Test(unit_runtime_holes, zeros_before_the_end_of_an_ending_chunk_do_not_count)
{
    static uint16_t large[POSITION / 2 + HOLES_LAST_BYTES / 2 + 2 * WORDS];
    for (uint32_t begin = 0; begin < WORDS; begin++) { /* where the last part begins */
        struct thread *t = holes_thread();
        memset(large, 0, sizeof large);
        t->base = (char *)large;
        t->chunks.end = POSITION + 2 * begin + HOLES_LAST_BYTES;
        holes_skip(t);
        holes_put_zeros(t, 120);
        holes_put_zeros(t, 120);
        while ((uint32_t)t->state < t->chunks.end)
            holes_put(t, (uint16_t[]){ holes_exit_word(130) }, 1);
        holes_fill_last(t);
        cr_assert(eq(u64, holes_searches(), 0), "%u", begin);
    }
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
