/* The short form of a program of loads reads what the program reads. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "value_source.h"

TestSuite(unit_runtime_value_source);

#define PROGRAM(...)                                                                                                   \
    {                                                                                                                  \
        .count = sizeof((struct load[]){ __VA_ARGS__ }) / sizeof(struct load), .loads = { __VA_ARGS__ }                \
    }

static bool source_read_memory(void *data, uint64_t address, void *into, size_t size)
{
    (void)data;
    memcpy(into, (const void *)address, size);
    return true;
}

/* What the value's short form reads, as value_probe.c does. */
static uint64_t source_read(const struct value_source *source, const struct load_state *state)
{
    uint64_t word = state->general[source->number];
    for (int i = 0; i < source->loads; i++)
        memcpy(&word, (const void *)(word + (uint64_t)source->add[i]), sizeof word);
    return source->is_text ? word + (uint64_t)source->add[source->loads] : value_source_extend(source, word);
}

static const uint64_t source_words[4] = { 0x1122334455667788, 0xfedcba9876543210, UINT64_MAX, 0x8081828384858687 };
static const uint64_t *const source_pointers[3] = { &source_words[0], &source_words[1], &source_words[2] };

Test(unit_runtime_value_source, reads_the_same)
{
    static const struct load_program programs[] = {
        PROGRAM({ LOAD_REGISTER, 3, 0 }),
        PROGRAM({ LOAD_REGISTER, 3, 0 }, { LOAD_SIGNED, 32, 0 }),
        PROGRAM({ LOAD_REGISTER, 3, 0 }, { LOAD_UNSIGNED, 8, 0 }),
        PROGRAM({ LOAD_REGISTER, 3, 0 }, { LOAD_UNSIGNED, 64, 0 }, { LOAD_SIGNED, 16, 0 }),
        PROGRAM({ LOAD_REGISTER, 0, 0 }, { LOAD_MEMORY, 8, 0 }),
        PROGRAM({ LOAD_REGISTER, 0, 0 }, { LOAD_ADD, 0, 8 }, { LOAD_MEMORY, 4, 0 }),
        PROGRAM({ LOAD_REGISTER, 0, 0 }, { LOAD_ADD, 0, 3 }, { LOAD_MEMORY, 2, 0 }, { LOAD_SIGNED, 16, 0 }),
        PROGRAM({ LOAD_REGISTER, 0, 0 }, { LOAD_MEMORY, 1, 0 }, { LOAD_SIGNED, 8, 0 }),
        PROGRAM({ LOAD_REGISTER, 0, 0 }, { LOAD_MEMORY, 1, 0 }, { LOAD_SIGNED, 64, 0 }),
        PROGRAM({ LOAD_REGISTER, 0, 0 }, { LOAD_MEMORY, 4, 0 }, { LOAD_SIGNED, 5, 0 }),
        PROGRAM({ LOAD_REGISTER, 0, 0 }, { LOAD_MEMORY, 1, 0 }, { LOAD_SIGNED, 32, 0 }),
        PROGRAM({ LOAD_REGISTER, 1, 0 }, { LOAD_ADD, 0, -8 }, { LOAD_MEMORY, 8, 0 }, { LOAD_ADD, 0, 16 },
                { LOAD_MEMORY, 8, 0 }),
        PROGRAM({ LOAD_REGISTER, 2, 0 }, { LOAD_MEMORY, 8, 0 }, { LOAD_ADD, 0, 8 }, { LOAD_MEMORY, 8, 0 },
                { LOAD_ADD, 0, 8 }, { LOAD_MEMORY, 4, 0 }, { LOAD_SIGNED, 32, 0 }),
    };
    const uint64_t *const *at = source_pointers;
    const struct load_state state = { .general = { [0] = (uint64_t)source_words,
                                                   [1] = (uint64_t)&source_pointers[1],
                                                   [2] = (uint64_t)&at,
                                                   [3] = 0xfedcba9876543210 },
                                      .read = source_read_memory };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct load_result result = { .text = NULL };
        struct value_source source, length;
        cr_assert(load_check(&programs[i]) && load_run(&programs[i], &state, &result));
        cr_assert(value_source_of(&programs[i], &source, &length), "program %zu", i);
        cr_expect(eq(u64, source_read(&source, &state), result.word), "program %zu", i);
        cr_expect(not(source.is_text));
    }
}

/* A part of a sum has no short form. */
Test(unit_runtime_value_source, the_processor)
{
    const struct load_program cpu = PROGRAM({ LOAD_CPU, 0, 0 }), next = PROGRAM({ LOAD_CPU, 0, 0 }, { LOAD_ADD, 0, 1 });
    const struct load_program number = PROGRAM({ LOAD_REGISTER, 3, 0 });
    struct value_source source, length;
    cr_assert(value_source_of(&cpu, &source, &length) && source.is_cpu && !source.is_text);
    cr_expect(eq(u64, value_source_extend(&source, 5), 5));
    cr_expect(not(value_source_of(&next, &source, &length)));
    cr_assert(value_source_of(&number, &source, &length) && !source.is_cpu);
}

Test(unit_runtime_value_source, texts)
{
    const struct load_state state = { .general = { [1] = (uint64_t)&source_pointers[1], [2] = 100 } };
    const struct load_program at_once = PROGRAM({ LOAD_REGISTER, 2, 0 }, { LOAD_UNSIGNED, 64, 0 }, { LOAD_TEXT, 0, 0 });
    const struct load_program within = PROGRAM({ LOAD_REGISTER, 2, 0 }, { LOAD_ADD, 0, -24 }, { LOAD_TEXT, 0, 0 });
    const struct load_program behind =
        PROGRAM({ LOAD_REGISTER, 1, 0 }, { LOAD_MEMORY, 8, 0 }, { LOAD_ADD, 0, 4 }, { LOAD_TEXT, 0, 0 });
    struct value_source source, length;
    cr_assert(value_source_of(&at_once, &source, &length) && source.is_text && !source.is_counted);
    cr_expect(eq(u64, source_read(&source, &state), 100));
    cr_assert(value_source_of(&within, &source, &length) && source.is_text && !source.is_counted);
    cr_expect(eq(u64, source_read(&source, &state), 76));
    cr_assert(value_source_of(&behind, &source, &length) && source.is_text && !source.is_counted);
    cr_expect(eq(u64, source_read(&source, &state), (uint64_t)&source_words[1] + 4));
}

/* A std::string, and a std::string_view in two registers, or on the stack with a number added to its address. */
Test(unit_runtime_value_source, counted_texts)
{
    static const struct load_program programs[] = {
        PROGRAM({ LOAD_REGISTER, 1, 0 }, { LOAD_MEMORY, 8, 0 }, { LOAD_REGISTER, 1, 0 }, { LOAD_ADD, 0, 8 },
                { LOAD_MEMORY, 8, 0 }, { LOAD_TEXT_COUNTED, 0, 0 }),
        PROGRAM({ LOAD_REGISTER, 2, 0 }, { LOAD_REGISTER, 3, 0 }, { LOAD_TEXT_COUNTED, 0, 0 }),
        PROGRAM({ LOAD_REGISTER, 0, 0 }, { LOAD_MEMORY, 8, 0 }, { LOAD_ADD, 0, 3 }, { LOAD_REGISTER, 3, 0 },
                { LOAD_UNSIGNED, 64, 0 }, { LOAD_TEXT_COUNTED, 0, 0 }),
    };
    static const uint64_t object[2] = { 1000, 16 };
    const uint64_t *const at = object;
    const struct load_state state = {
        .general = { [0] = (uint64_t)&at, [1] = (uint64_t)object, [2] = 100, [3] = 7 },
    };
    const uint64_t addresses[] = { 1000, 100, (uint64_t)object + 3 }, lengths[] = { 16, 7, 7 };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct value_source source, length;
        cr_assert(load_check(&programs[i]));
        cr_assert(value_source_of(&programs[i], &source, &length), "program %zu", i);
        cr_assert(source.is_text && source.is_counted && !length.is_text);
        cr_expect(eq(u64, source_read(&source, &state), addresses[i]), "program %zu", i);
        cr_expect(eq(u64, source_read(&length, &state), lengths[i]), "program %zu", i);
    }
}

Test(unit_runtime_value_source, others_have_no_short_form)
{
    static const struct load_program programs[] = {
        { .count = 0 },
        PROGRAM({ LOAD_NUMBER, 0, 5 }),
        PROGRAM({ LOAD_VECTOR, 0, 0 }),
        PROGRAM({ LOAD_REGISTER, 0, 0 }, { LOAD_ADD, 0, 8 }),
        PROGRAM({ LOAD_REGISTER, 0, 0 }, { LOAD_NEGATE, 0, 0 }),
        PROGRAM({ LOAD_REGISTER, 0, 0 }, { LOAD_SIGNED, 32, 0 }, { LOAD_ADD, 0, 1 }),
        PROGRAM({ LOAD_REGISTER, 0, 0 }, { LOAD_SIGNED, 32, 0 }, { LOAD_MEMORY, 8, 0 }),
        PROGRAM({ LOAD_REGISTER, 0, 0 }, { LOAD_SIGNED, 32, 0 }, { LOAD_UNSIGNED, 8, 0 }),
        PROGRAM({ LOAD_REGISTER, 0, 0 }, { LOAD_ADD, 0, 1l << 31 }, { LOAD_MEMORY, 8, 0 }),
        PROGRAM({ LOAD_REGISTER, 0, 0 }, { LOAD_MEMORY, 4, 0 }, { LOAD_MEMORY, 8, 0 }),
        PROGRAM({ LOAD_REGISTER, 0, 0 }, { LOAD_MEMORY, 4, 0 }, { LOAD_TEXT, 0, 0 }),
        PROGRAM({ LOAD_REGISTER, 0, 0 }, { LOAD_MEMORY, 8, 0 }, { LOAD_ADD, 0, 1 }),
        PROGRAM({ LOAD_REGISTER, 0, 0 }, { LOAD_MEMORY, 4, 0 }, { LOAD_REGISTER, 1, 0 }, { LOAD_TEXT_COUNTED, 0, 0 }),
        PROGRAM({ LOAD_REGISTER, 0, 0 }, { LOAD_MEMORY, 8, 0 }, { LOAD_NUMBER, 0, 5 }, { LOAD_TEXT_COUNTED, 0, 0 }),
        PROGRAM({ LOAD_REGISTER, 0, 0 }, { LOAD_REGISTER, 1, 0 }, { LOAD_UNSIGNED, 32, 0 },
                { LOAD_TEXT_COUNTED, 0, 0 }),
        PROGRAM({ LOAD_REGISTER, 0, 0 }, { LOAD_REGISTER, 1, 0 }, { LOAD_ADD, 0, 1 }, { LOAD_TEXT_COUNTED, 0, 0 }),
        PROGRAM({ LOAD_REGISTER, 0, 0 }, { LOAD_REGISTER, 1, 0 }, { LOAD_MEMORY, 4, 0 }, { LOAD_TEXT_COUNTED, 0, 0 }),
        PROGRAM({ LOAD_REGISTER, 0, 0 }, { LOAD_REGISTER, 1, 0 }, { LOAD_SUM, 0, 0 }),
        PROGRAM({ LOAD_REGISTER, 0, 0 }, { LOAD_MEMORY, 8, 0 }, { LOAD_MEMORY, 8, 0 }, { LOAD_MEMORY, 8, 0 },
                { LOAD_MEMORY, 8, 0 }),
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct value_source source, length;
        cr_expect(not(value_source_of(&programs[i], &source, &length)), "program %zu", i);
    }
}
