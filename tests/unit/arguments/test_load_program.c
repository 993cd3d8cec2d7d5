/* Programs of loads: what is a good one, what they say, and what they leave. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/load_program.h"

TestSuite(unit_load_program, .timeout = 120);

/* Memory at MEMORY_AT, in two pages, the second of which ends. */
enum { MEMORY_AT = 0x10fc0, MEMORY_SIZE = 128, REG_RBX = 3, REG_RSP = 7 };

static uint8_t memory[MEMORY_SIZE];

static bool read_memory(void *data, uint64_t address, void *into, size_t size)
{
    (void)data;
    if (address < MEMORY_AT || address - MEMORY_AT > MEMORY_SIZE || size > MEMORY_SIZE - (address - MEMORY_AT))
        return false;
    memcpy(into, memory + (address - MEMORY_AT), size);
    return true;
}

static const struct load_state state = {
    .general = { [REG_RBX] = UINT64_C(0xfffffffffffffff6), [REG_RSP] = MEMORY_AT },
    .vectors = { 0, UINT64_C(0x3ff8000000000000) },
    .module = 0x5000,
    .read = read_memory,
};

static struct load_program program_of(const struct load *loads, size_t count)
{
    struct load_program p = { .count = 0 };
    for (size_t i = 0; i < count; i++)
        cr_assert(load_add(&p, (enum load_op)loads[i].op, loads[i].operand, loads[i].number));
    return p;
}

#define PROGRAM(...)                                                                                                   \
    program_of((const struct load[]){ __VA_ARGS__ }, sizeof((const struct load[]){ __VA_ARGS__ }) / sizeof(struct load))

static void expect_word(struct load_program p, uint64_t word, const char *text)
{
    struct load_result result = { .text = NULL };
    char *described = load_describe(&p, &load_names_x86);
    cr_assert(load_check(&p));
    cr_assert(load_run(&p, &state, &result));
    cr_expect(eq(u64, result.word, word), "%s", text);
    cr_expect(eq(str, described, (char *)text));
    free(described);
}

Test(unit_load_program, words)
{
    memcpy(memory + 8, &(uint64_t){ 0x1122334455667788 }, 8);
    expect_word(PROGRAM({ LOAD_REGISTER, REG_RBX, 0 }), (uint64_t)-10, "rbx");
    expect_word(PROGRAM({ LOAD_VECTOR, 1, 0 }), UINT64_C(0x3ff8000000000000), "xmm1");
    expect_word(PROGRAM({ LOAD_MODULE, 0, 0x42 }), 0x5042, "module+0x42");
    expect_word(PROGRAM({ LOAD_REGISTER, REG_RSP, 0 }, { LOAD_ADD, 0, 8 }, { LOAD_MEMORY, 8, 0 }), 0x1122334455667788,
                "[rsp+8]");
    expect_word(PROGRAM({ LOAD_REGISTER, REG_RSP, 0 }, { LOAD_ADD, 0, 16 }, { LOAD_ADD, 0, -7 }, { LOAD_MEMORY, 2, 0 }),
                0x6677, "[rsp+9]:2");
    expect_word(PROGRAM({ LOAD_REGISTER, REG_RBX, 0 }, { LOAD_UNSIGNED, 4, 0 }), 6, "rbx");
    expect_word(PROGRAM({ LOAD_REGISTER, REG_RBX, 0 }, { LOAD_UNSIGNED, 4, 0 }, { LOAD_SIGNED, 3, 0 }), (uint64_t)-2,
                "rbx");
    expect_word(PROGRAM({ LOAD_REGISTER, REG_RBX, 0 }, { LOAD_NEGATE, 0, 0 }), 10, "-(rbx)");
    expect_word(PROGRAM({ LOAD_REGISTER, REG_RBX, 0 }, { LOAD_INVERT, 0, 0 }), 9, "~(rbx)");
}

static int32_t seventh(void)
{
    return 7;
}

static int32_t unknown(void)
{
    return -1;
}

Test(unit_load_program, the_processor)
{
    const struct load_program p = PROGRAM({ LOAD_CPU, 0, 0 }), added = PROGRAM({ LOAD_CPU, 0, 0 }, { LOAD_ADD, 0, 3 });
    struct load_state here = state;
    struct load_result result = { .text = NULL };
    char *described = load_describe(&added, &load_names_x86);
    cr_expect(eq(str, described, "the processor+3"));
    free(described);
    here.cpu = seventh;
    cr_assert(load_check(&p) && load_check(&added) && load_can_run(&p));
    cr_assert(load_run(&p, &here, &result));
    cr_expect(eq(u64, result.word, 7));
    cr_assert(load_run(&added, &here, &result));
    cr_expect(eq(u64, result.word, 10));
    here.cpu = unknown;
    cr_expect(not(load_run(&p, &here, &result)));
    here.cpu = NULL;
    cr_expect(not(load_run(&p, &here, &result)));
}

Test(unit_load_program, two_words)
{
    static const struct {
        enum load_op op;
        int64_t right;
        uint64_t word;
        const char *text;
    } cases[] = {
        { LOAD_SUM, 3, (uint64_t)-7, "(rbx + 3)" },
        { LOAD_DIFFERENCE, 3, (uint64_t)-13, "(rbx - 3)" },
        { LOAD_PRODUCT, 3, (uint64_t)-30, "(rbx * 3)" },
        { LOAD_AND, 7, 6, "(rbx & 7)" },
        { LOAD_OR, 1, (uint64_t)-9, "(rbx | 1)" },
        { LOAD_XOR, -1, 9, "(rbx ^ -1)" },
        { LOAD_LEFT, 2, (uint64_t)-40, "(rbx << 2)" },
        { LOAD_RIGHT, 60, 15, "(rbx >> 60)" },
        { LOAD_RIGHT_SIGNED, 1, (uint64_t)-5, "(rbx >> 1)" },
        { LOAD_LEFT, 64, 0, "(rbx << 64)" },
        { LOAD_RIGHT, 64, 0, "(rbx >> 64)" },
        { LOAD_RIGHT_SIGNED, 99, (uint64_t)-1, "(rbx >> 99)" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_word(
            PROGRAM({ LOAD_REGISTER, REG_RBX, 0 }, { LOAD_NUMBER, 0, cases[i].right }, { (uint8_t)cases[i].op, 0, 0 }),
            cases[i].word, cases[i].text);
}

/* The text at an offset of the memory: how it is read, into room for `room` bytes. */
static void expect_text(struct load_program p, size_t room, const char *text, bool cut)
{
    char into[MEMORY_SIZE] = "";
    struct load_result result = { .text = into, .text_room = room };
    cr_assert(load_check(&p) && load_is_text(&p));
    cr_assert(load_run(&p, &state, &result));
    cr_expect(eq(sz, result.text_length, strlen(text)));
    cr_expect(eq(str, into, (char *)text));
    cr_expect(eq(int, result.cut, cut));
}

Test(unit_load_program, texts)
{
    const struct load_program text = PROGRAM({ LOAD_REGISTER, REG_RSP, 0 }, { LOAD_TEXT, 0, 0 });
    const struct load_program counted =
        PROGRAM({ LOAD_REGISTER, REG_RSP, 0 }, { LOAD_NUMBER, 0, 5 }, { LOAD_TEXT_COUNTED, 0, 0 });
    char *described = load_describe(&counted, &load_names_x86);
    memset(memory, 'x', sizeof memory);
    memcpy(memory, "hello world", 12);
    expect_text(text, 64, "hello world", false);
    expect_text(text, 11, "hello world", false);
    expect_text(text, 5, "hello", true);
    expect_text(counted, 64, "hello", false);
    expect_text(counted, 4, "hell", true);
    cr_expect(eq(str, described, "text at rsp, 5 bytes"));
    free(described);
}

/* Those of arrays end with a zero, or with the array. */
Test(unit_load_program, bounded_texts)
{
    const struct load_program bounded =
        PROGRAM({ LOAD_REGISTER, REG_RSP, 0 }, { LOAD_NUMBER, 0, 5 }, { LOAD_TEXT_BOUNDED, 0, 0 });
    char *described = load_describe(&bounded, &load_names_x86);
    memset(memory, 'x', sizeof memory);
    expect_text(bounded, 64, "xxxxx", false);
    expect_text(bounded, 4, "xxxx", true);
    memcpy(memory, "hell", 5);
    expect_text(bounded, 64, "hell", false);
    expect_text(bounded, 4, "hell", false);
    expect_text(bounded, 3, "hel", true);
    cr_expect(eq(str, described, "text at rsp, up to 5 bytes"));
    free(described);
}

#if defined(__x86_64__)

__extension__ typedef __float128 quad_double;

/* Of the memory's first bytes. */
static uint64_t narrowed(unsigned bytes)
{
    const struct load_program p = PROGRAM({ LOAD_REGISTER, REG_RSP, 0 }, { LOAD_LONG_DOUBLE, (uint8_t)bytes, 0 });
    struct load_result result = { .text_room = 0 };
    cr_assert(load_check(&p));
    cr_assert(load_run(&p, &state, &result));
    return result.word;
}

/* Those of the compiler's conversion. NAN has no payload here. */
static void expect_double(uint64_t word, double wanted, const char *what, uint64_t number)
{
    double found;
    memcpy(&found, &word, sizeof found);
    const bool same = (isnan(found) && isnan(wanted)) || memcmp(&found, &wanted, sizeof found) == 0;
    cr_assert(same, "%s %" PRIx64 ": %a, not %a", what, number, found, wanted);
}

/* Random fractions, near the borders of exponents most of all. */
Test(unit_load_program, long_doubles)
{
    static const unsigned exponents[] = { 0x3fff,        0x3fff + 1023, 0x3fff + 1024, 0x3fff - 1022, 0x3fff - 1023,
                                          0x3fff - 1050, 0x3fff - 1074, 0x3fff - 1075, 0x3fff - 1076, 0,
                                          0x7fff };
    uint64_t random = 88172645463325252u;
    for (unsigned i = 0; i < 200000; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        const uint64_t fraction = i % 3 == 0   ? random
                                  : i % 3 == 1 ? ~UINT64_C(0) << random % 64
                                               : UINT64_C(1) << 63 | 0x400 << random % 3;
        const uint64_t top = (random & 0x8000) | (i % 2 ? exponents[random % (sizeof exponents / sizeof *exponents)]
                                                        : 0x3fff + random % 2400 - 1200);
        const uint64_t first = top & 0x7fff ? fraction | UINT64_C(1) << 63 : fraction >> 1;
        long double wide = 0;
        memcpy(memory, &first, sizeof first);
        memcpy(memory + sizeof first, &top, 2);
        memcpy(&wide, memory, 10);
        expect_double(narrowed(10), (double)wide, "x87", first);
        quad_double quad;
        const uint64_t low = i % 5 ? random * 3 : 0, high = top << 48 | fraction << 1 >> 16;
        memcpy(memory, &low, sizeof low);
        memcpy(memory + sizeof low, &high, sizeof high);
        memcpy(&quad, memory, sizeof quad);
        expect_double(narrowed(16), (double)quad, "quad", high);
    }
}

#endif

/* ---- comparisons and choices ---- */

static uint64_t run_number(const struct load_program *p)
{
    struct load_result result = { .word = 0 };
    cr_assert(load_check(p));
    cr_assert(load_run(p, &state, &result));
    return result.word;
}

Test(unit_load_program, comparisons)
{
    static const enum load_op ops[] = { LOAD_EQUAL, LOAD_NOT_EQUAL, LOAD_LESS, LOAD_LESS_EQUAL };
    static const char *const texts[] = { "(-2 == 3)", "(-2 != 3)", "(-2 < 3)", "(-2 <= 3)" };
    static const uint64_t less[] = { 0, 1, 1, 1 }, same[] = { 1, 0, 0, 1 }, more[] = { 0, 1, 0, 0 };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        const uint8_t op = (uint8_t)ops[i];
        const struct load_program a = PROGRAM({ LOAD_NUMBER, 0, -2 }, { LOAD_NUMBER, 0, 3 }, { op, 0, 0 }),
                                  b = PROGRAM({ LOAD_NUMBER, 0, 3 }, { LOAD_NUMBER, 0, 3 }, { op, 0, 0 }),
                                  c = PROGRAM({ LOAD_NUMBER, 0, 4 }, { LOAD_NUMBER, 0, -5 }, { op, 0, 0 });
        char *text = load_describe(&a, &load_names_x86);
        cr_expect(eq(u64, run_number(&a), less[i]));
        cr_expect(eq(u64, run_number(&b), same[i]));
        cr_expect(eq(u64, run_number(&c), more[i]));
        cr_expect(eq(str, text, (char *)texts[i]));
        free(text);
    }
}

/* The smaller one of a number and 6, as GCC writes it: dup, 6, swap, over, less, and a choice. */
Test(unit_load_program, choices)
{
    for (int64_t n = -1; n < 12; n++) {
        struct load_program p = PROGRAM({ LOAD_NUMBER, 0, n });
        cr_assert(load_add_copy(&p, 0) && load_add(&p, LOAD_NUMBER, 0, 6) && load_swap(&p));
        cr_assert(load_add_copy(&p, 1) && load_add(&p, LOAD_LESS, 0, 0));
        cr_assert(load_add(&p, LOAD_SELECT, 0, 0));
        cr_expect(eq(u64, run_number(&p), (uint64_t)(n < 6 ? n : 6)), "%d", (int)n);
    }
    const struct load_program p =
        PROGRAM({ LOAD_REGISTER, 3, 0 }, { LOAD_NUMBER, 0, 7 }, { LOAD_NUMBER, 0, 0 }, { LOAD_SELECT, 0, 0 });
    char *text = load_describe(&p, &load_names_x86);
    cr_expect(eq(str, text, "(0 ? rbx : 7)"));
    cr_expect(eq(u64, run_number(&p), 7));
    free(text);
}

/* Also the smallest number by -1. */
Test(unit_load_program, quotients_and_bytes_in_the_other_order)
{
    expect_word(PROGRAM({ LOAD_NUMBER, 0, -7 }, { LOAD_NUMBER, 0, 2 }, { LOAD_DIVIDE, 0, 0 }), (uint64_t)-3,
                "(-7 / 2)");
    expect_word(PROGRAM({ LOAD_NUMBER, 0, INT64_MIN }, { LOAD_NUMBER, 0, -1 }, { LOAD_DIVIDE, 0, 0 }),
                (uint64_t)INT64_MIN, "(-9223372036854775808 / -1)");
    expect_word(PROGRAM({ LOAD_NUMBER, 0, 0x1122 }, { LOAD_SWAP, 2, 0 }), 0x2211, "swapped(4386):2");
    expect_word(PROGRAM({ LOAD_NUMBER, 0, 0x1122334455667788 }, { LOAD_SWAP, 4, 0 }), 0x88776655,
                "swapped(1234605616436508552):4");
    expect_word(PROGRAM({ LOAD_NUMBER, 0, 0x1122334455667788 }, { LOAD_SWAP, 8, 0 }), UINT64_C(0x8877665544332211),
                "swapped(1234605616436508552)");
    struct load_result result = { .text = NULL };
    const struct load_program zero = PROGRAM({ LOAD_NUMBER, 0, 5 }, { LOAD_NUMBER, 0, 0 }, { LOAD_DIVIDE, 0, 0 });
    cr_expect(not(load_run(&zero, &state, &result)));
    const struct load_program wide = PROGRAM({ LOAD_NUMBER, 0, 5 }, { LOAD_SWAP, 9, 0 });
    cr_expect(not(load_check(&wide)));
}

Test(unit_load_program, words_that_change_places)
{
    struct load_program p =
        PROGRAM({ LOAD_NUMBER, 0, 10 }, { LOAD_ADD, 0, 5 }, { LOAD_NUMBER, 0, 2 }, { LOAD_NEGATE, 0, 0 });
    cr_assert(load_swap(&p) && load_add(&p, LOAD_DIFFERENCE, 0, 0));
    cr_expect(eq(u64, run_number(&p), (uint64_t)(-2 - 15)));
    cr_expect(not(load_swap(&p)));
    cr_expect(not(load_add_copy(&p, 1)));
    cr_assert(load_add_copy(&p, 0));
    cr_expect(eq(uint, p.count, 10));
    cr_assert(load_drop(&p));
    cr_expect(eq(u64, run_number(&p), (uint64_t)(-2 - 15)));
    cr_assert(load_drop(&p));
    cr_expect(not(load_drop(&p)));
    cr_expect(not(load_swap(&p)));
    cr_expect(not(load_add_copy(&p, 0)));
    while (p.count < LOAD_MOST)
        cr_assert(load_add(&p, LOAD_NUMBER, 0, p.count));
    cr_expect(not(load_add_copy(&p, 0)));
}

/* The end of memory behind a text is no fault; one in it is. */
Test(unit_load_program, unreadable_memory)
{
    char into[2 * MEMORY_SIZE];
    struct load_result result = { .text = into, .text_room = sizeof into };
    const struct load_program end = PROGRAM({ LOAD_NUMBER, 0, MEMORY_AT + MEMORY_SIZE - 4 }, { LOAD_TEXT, 0, 0 });
    const struct load_program word = PROGRAM({ LOAD_NUMBER, 0, MEMORY_AT + MEMORY_SIZE - 4 }, { LOAD_MEMORY, 8, 0 });
    const struct load_program counted =
        PROGRAM({ LOAD_NUMBER, 0, MEMORY_AT }, { LOAD_NUMBER, 0, -1 }, { LOAD_TEXT_COUNTED, 0, 0 });
    memcpy(memory + MEMORY_SIZE - 4, "abc", 4);
    cr_expect(not(load_run(&word, &state, &result)));
    cr_expect(not(load_run(&counted, &state, &result)));
    result.text_room = 4;
    cr_assert(load_run(&end, &state, &result));
    cr_expect(eq(sz, result.text_length, 3));
    cr_expect(not(result.cut));
}

Test(unit_load_program, bad_programs)
{
    struct load_program p = { .count = 0 };
    cr_expect(not(load_check(&p)));
    static const struct load bad[][3] = {
        { { LOAD_ADD, 0, 1 }, { LOAD_NUMBER, 0, 1 }, { LOAD_NUMBER, 0, 1 } },    /* takes what is not there */
        { { LOAD_NUMBER, 0, 1 }, { LOAD_NUMBER, 0, 1 }, { LOAD_NEGATE, 0, 0 } }, /* leaves two */
        { { LOAD_REGISTER, 32, 0 }, { LOAD_NEGATE, 0, 0 }, { LOAD_NEGATE, 0, 0 } },
        { { LOAD_VECTOR, 32, 0 }, { LOAD_NEGATE, 0, 0 }, { LOAD_NEGATE, 0, 0 } },
        { { LOAD_NUMBER, 0, 1 }, { LOAD_MEMORY, 9, 0 }, { LOAD_NEGATE, 0, 0 } },
        { { LOAD_NUMBER, 0, 1 }, { LOAD_MEMORY, 0, 0 }, { LOAD_NEGATE, 0, 0 } },
        { { LOAD_NUMBER, 0, 1 }, { LOAD_LONG_DOUBLE, 8, 0 }, { LOAD_NEGATE, 0, 0 } },
        { { LOAD_NUMBER, 0, 1 }, { LOAD_SIGNED, 65, 0 }, { LOAD_NEGATE, 0, 0 } },
        { { LOAD_NUMBER, 0, 1 }, { LOAD_TEXT, 0, 0 }, { LOAD_NUMBER, 0, 1 } }, /* goes on after a text */
        { { LOAD_NUMBER, 0, 1 }, { LOAD_NUMBER, 0, 1 }, { LOAD_TEXT, 0, 0 } },
        { { LOAD_NUMBER, 0, 1 }, { LOAD_TEXT_BOUNDED, 0, 0 }, { LOAD_NUMBER, 0, 1 } },
        { { LOAD_NUMBER, 0, 1 }, { LOAD_OPS, 0, 0 }, { LOAD_NEGATE, 0, 0 } },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        p = program_of(bad[i], 3);
        cr_expect(not(load_check(&p)), "%zu", i);
        cr_expect(eq(ptr, load_describe(&p, &load_names_x86), NULL));
    }
    p.count = 0;
    for (int i = 0; i < LOAD_MOST; i++)
        cr_assert(load_add(&p, LOAD_NUMBER, 0, i));
    cr_expect(not(load_check(&p))); /* too deep */
    cr_expect(not(load_add(&p, LOAD_NUMBER, 0, 1)));
}

/* A program is well on its own machine; only there it is run. */
Test(unit_load_program, registers_of_another_machine)
{
    const struct load_program ours = PROGRAM({ LOAD_REGISTER, 15, 0 }), general = PROGRAM({ LOAD_REGISTER, 31, 0 });
    const struct load_program vector = PROGRAM({ LOAD_VECTOR, 16, 0 });
    cr_expect(load_can_run(&ours));
    cr_expect(load_check(&general) && !load_can_run(&general));
    cr_expect(load_check(&vector) && !load_can_run(&vector));
    char *text = load_describe(&general, &load_names_aarch64), *low = load_describe(&vector, &load_names_aarch64);
    cr_expect(eq(str, text, "sp"));
    cr_expect(eq(str, low, "v16"));
    free(text);
    free(low);
}
