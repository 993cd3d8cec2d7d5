/* Arguments as factors, of hand-written calls: what is planted is found, and chance is not. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "causes/why_arguments.h"
#include "causes/why_factors.h"

enum { CALLS = 1000, SLOW_EACH = 20 };

/* Calls with one argument; each twentieth one is slow. */
struct argued {
    struct why_sampled calls[CALLS];
    struct why_arguments arguments;
    struct why_traits traits;
    char *texts[CALLS];
    uint32_t first[CALLS + 1];
};

static struct argued *argued_new(enum dwell_value_kind kind)
{
    struct argued *a = need_memory(1, sizeof *a);
    for (size_t i = 0; i < CALLS; i++)
        a->calls[i].set = i % SLOW_EACH ? WHY_USUAL : WHY_SLOW;
    a->arguments.count = 1;
    a->arguments.list[0].value = (struct recorded_value){ .name = "n", .kind = kind, .bytes = 8 };
    a->traits = (struct why_traits){ .calls = a->calls, .call_count = CALLS, .first = a->first };
    return a;
}

static void argued_add(struct argued *a, size_t call, uint64_t word)
{
    struct why_argument *n = &a->arguments.list[0];
    GROW(n->list, n->count, n->room);
    n->list[n->count++] = (struct why_argument_value){ .call = (uint32_t)call, .word = word };
}

static void argued_add_text(struct argued *a, size_t call, const char *text)
{
    struct why_argument *n = &a->arguments.list[0];
    GROW(n->words, n->word_count, n->word_room);
    n->words[n->word_count++] =
        (struct why_argument_value){ .call = (uint32_t)call, .text = intern(&n->texts, text, strlen(text)) };
}

static void argued_take_text(void *context, size_t call, const char *text)
{
    struct argued *a = context;
    a->texts[call] = need_text("%s", text);
}

static struct why_factors argued_find(struct argued *a)
{
    struct why_factors factors = { .count = 0 };
    why_arguments_end(&a->arguments, &a->traits, argued_take_text, a);
    why_factors_test(&factors, &a->traits);
    return factors;
}

static void argued_free(struct argued *a, struct why_factors *factors)
{
    for (size_t i = 0; i < CALLS; i++)
        free(a->texts[i]);
    for (size_t i = 0; i < a->traits.axis_count; i++) {
        free(a->traits.axes[i].of_calls);
        free(a->traits.axes[i].begins);
        free(a->traits.axes[i].end);
    }
    why_factors_drop(factors);
    free(a);
}

static void argued_expect(struct argued *a, const char *value, double slow, double usual)
{
    struct why_factors factors = argued_find(a);
    cr_assert(eq(sz, factors.count, 1));
    cr_assert(eq(str, (char *)factors.list[0].name, "argument"));
    cr_assert(eq(str, factors.list[0].value, (char *)value));
    cr_assert(epsilon_eq(dbl, factors.list[0].shares[WHY_SLOW], slow, 1e-9));
    cr_assert(epsilon_eq(dbl, factors.list[0].shares[WHY_USUAL], usual, 1e-9));
    argued_free(a, &factors);
}

static bool argued_is_slow(size_t call)
{
    return call % SLOW_EACH == 0;
}

/* Few numbers have a bin each, also the rare one. */
Test(unit_why_arguments, one_number)
{
    struct argued *a = argued_new(DWELL_VALUE_SIGNED);
    for (size_t i = 0; i < CALLS; i++)
        argued_add(a, i, argued_is_slow(i) ? 100000 : i % 7);
    argued_expect(a, "n=100000", 1, 0);
}

Test(unit_why_arguments, numbers_below_zero)
{
    struct argued *a = argued_new(DWELL_VALUE_SIGNED);
    for (size_t i = 0; i < CALLS; i++)
        argued_add(a, i, argued_is_slow(i) ? (uint64_t)(-1 - (int64_t)(i % 3)) : i % 7);
    argued_expect(a, "n up to -1", 1, 0);
}

/* Of many numbers, the slow calls have the largest ones: they fill the last bin. */
Test(unit_why_arguments, the_largest_numbers)
{
    struct argued *a = argued_new(DWELL_VALUE_UNSIGNED);
    for (size_t i = 0; i < CALLS; i++)
        argued_add(a, i, argued_is_slow(i) ? 5000 + i : i);
    argued_expect(a, "n from 5000 on", 1, 0);
}

/* Calls whose number is not known are in no bin. */
Test(unit_why_arguments, numbers_that_are_missing)
{
    struct argued *a = argued_new(DWELL_VALUE_UNSIGNED);
    for (size_t i = 0; i < CALLS; i++)
        if (i % 2 == 0)
            argued_add(a, i, argued_is_slow(i) ? 9 : i % 5);
    argued_expect(a, "n=9", 1, 0);
}

Test(unit_why_arguments, one_number_is_no_factor)
{
    struct argued *a = argued_new(DWELL_VALUE_UNSIGNED);
    for (size_t i = 0; i < CALLS; i++)
        argued_add(a, i, 3);
    struct why_factors factors = argued_find(a);
    cr_assert(eq(sz, a->traits.axis_count, 0));
    cr_assert(eq(sz, factors.count, 0));
    argued_free(a, &factors);
}

/* In 100 sets of random numbers, chance makes as few factors as the test allows. */
Test(unit_why_arguments, chance_is_no_factor)
{
    uint64_t state = 88172645463325252u;
    size_t found = 0;
    for (int round = 0; round < 100; round++) {
        struct argued *a = argued_new(DWELL_VALUE_UNSIGNED);
        for (size_t i = 0; i < CALLS; i++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            argued_add(a, i, round % 2 ? state % 10 : state % 100000);
        }
        struct why_factors factors = argued_find(a);
        found += factors.count;
        argued_free(a, &factors);
    }
    cr_assert(le(sz, found, 8));
}

/* Texts go to the traits, unless they tell calls apart. */
Test(unit_why_arguments, texts)
{
    struct argued *a = argued_new(DWELL_VALUE_TEXT);
    for (size_t i = 0; i < CALLS; i++)
        argued_add_text(a, i, argued_is_slow(i) ? "SET" : "GET");
    struct why_factors factors = argued_find(a);
    cr_assert(eq(str, a->texts[0], "n=SET"));
    cr_assert(eq(str, a->texts[1], "n=GET"));
    argued_free(a, &factors);
    a = argued_new(DWELL_VALUE_TEXT);
    for (size_t i = 0; i < CALLS; i++) {
        char text[16];
        snprintf(text, sizeof text, "key %zu", i);
        argued_add_text(a, i, text);
    }
    factors = argued_find(a);
    for (size_t i = 0; i < CALLS; i++)
        cr_assert(eq(ptr, a->texts[i], NULL));
    argued_free(a, &factors);
}
