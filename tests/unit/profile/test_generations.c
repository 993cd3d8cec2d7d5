/* Numbers for addresses in the generations of a module map. */
#include "profile/generations.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "profile/resolve.h"
#include "support/scenario.h"

enum { MANY = 200000 };

static int compare_numbers(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* A program that loads libraries again and again has more generations than 16 bits can count. */
Test(unit_generations, an_address_has_another_number_in_each)
{
    uint64_t *changes = calloc(MANY, sizeof *changes), *numbers = calloc(MANY + 1, sizeof *numbers);
    for (uint64_t i = 0; i < MANY; i++)
        changes[i] = 10 * i + 10;
    struct generations g = { .changes = changes, .count = MANY };
    for (uint64_t i = 0; i <= MANY; i++) {
        generations_find(&g, 10 * i);
        cr_assert(eq(u64, g.current, i));
        cr_assert(eq(u64, g.begin_at, 10 * i));
        numbers[i] = generations_address(&g, 0x7f0000001234);
    }
    cr_assert(eq(u64, numbers[0], 0x7f0000001234));
    cr_assert(eq(u64, numbers[3], 0x00037f0000001234));
    qsort(numbers, MANY + 1, sizeof *numbers, compare_numbers);
    for (size_t i = 1; i <= MANY; i++)
        cr_assert(lt(u64, numbers[i - 1], numbers[i]));
    free(changes);
    free(numbers);
}

/* A library takes the place of another one. A call at that moment is a call of the new one. */
Test(unit_generations, a_call_at_the_moment_of_a_change)
{
    struct writer *w = writer_new();
    write_module(w, 1, 1, 0, 0x5000, 0x6000, 0, "/lib/one.so");
    write_module_unload(w, 1, 1, 100);
    write_module(w, 1, 2, 0, 0x5000, 0x6000, 100, "/lib/two.so");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    for (uint64_t time = 99; time <= 101; time++) {
        write_enter(w, time, 0x5000);
        write_exit(w, time);
    }
    struct outcome o = outcome_of(w, 1);
    cr_assert(eq(sz, o.profile->function_count, 2));
    cr_assert(eq(sz, o.profile->node_count, 3));
    cr_assert(eq(u64, o.profile->nodes[1].calls, 1));
    cr_assert(eq(u64, o.profile->nodes[2].calls, 2));
    struct resolver *r = resolver_new(o.file, o.profile);
    for (uint64_t time = 99; time <= 101; time++)
        cr_assert(eq(u32, resolver_function(r, 1, 0x5000, time), o.profile->nodes[time < 100 ? 1 : 2].function));
    resolver_free(r);
    outcome_drop(&o);
}
