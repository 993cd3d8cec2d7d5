/* Numbers for addresses in the generations of a module map. */
#include "profile/generations.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

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
