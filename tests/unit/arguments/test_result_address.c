/* The register that has the address of a result in memory on aarch64, in hand-written code. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "arguments/result_address.h"

TestSuite(unit_result_address);

enum { BEGIN = 0x1000, COLD = 0x8000, MOST = 12, NONE = -1 };

#define MOVE(to, from) (0xaa0003e0u | (uint32_t)(from) << 16 | (uint32_t)(to))
#define CALL 0x94000100u
#define JUMP(words) (0x14000000u | ((uint32_t)(words)&0x3ffffffu))
#define BRANCH(words) (0xb4000000u | ((uint32_t)(words)&0x7ffffu) << 5) /* cbz x0 */
#define JUMP_ANY 0xd61f0020u                                            /* br x1 */
#define RESTORE 0xa94153f3u                                             /* ldp x19, x20, [sp, #16] */
#define CHANGE 0x91000673u                                              /* add x19, x19, #1 */
#define LOAD 0xf9400013u                                                /* ldr x19, [x0] */
#define NOTHING 0xd503201fu
#define RETURN 0xd65f03c0u

/* The register; NONE if none is proved to have it. The code has another part if `cold` is not zero. */
static int address_register(const uint32_t *code, size_t count, const uint32_t *cold, size_t cold_count)
{
    struct image_segment segments[] = { { BEGIN, count * sizeof *code, (const uint8_t *)code, true },
                                        { COLD, cold_count * sizeof *cold, (const uint8_t *)cold, true } };
    const struct image image = { .segments = segments, .segment_count = 2 };
    const struct function_code function = {
        .entry = BEGIN,
        .ranges = { { BEGIN, BEGIN + segments[0].size }, { COLD, COLD + segments[1].size } },
        .count = cold_count ? 2 : 1,
    };
    struct load_program program;
    if (!result_address_aarch64(&image, &function, &program))
        return NONE;
    cr_assert(eq(int, (int)program.count, 1));
    cr_assert(eq(int, program.loads[0].op, LOAD_REGISTER));
    return program.loads[0].operand;
}

#define EXPECT(wanted, ...)                                                                                            \
    do {                                                                                                               \
        static const uint32_t code[] = { __VA_ARGS__ };                                                                \
        cr_expect(eq(int, address_register(code, sizeof code / sizeof *code, NULL, 0), wanted));                       \
    } while (0)

Test(unit_result_address, a_register_that_calls_preserve)
{
    EXPECT(19, MOVE(19, 8), CALL, CALL, RESTORE, RETURN);
    EXPECT(28, NOTHING, MOVE(28, 8), CALL, CALL, CHANGE, CALL, RETURN);
    EXPECT(20, MOVE(0, 8), MOVE(20, 8), CALL, MOVE(8, 0), CALL, RETURN);
    EXPECT(NONE, CALL, CALL, RETURN);
    EXPECT(NONE, MOVE(18, 8), CALL, CALL, RETURN); /* calls do not preserve it */
    EXPECT(NONE, MOVE(19, 0), CALL, RETURN);
}

Test(unit_result_address, a_register_that_is_changed)
{
    EXPECT(NONE, MOVE(19, 8), CALL, CHANGE, CALL, RETURN);
    EXPECT(NONE, MOVE(19, 8), CALL, RESTORE, CALL, RETURN);
    EXPECT(NONE, MOVE(8, 0), MOVE(19, 8), CALL, RETURN);
    EXPECT(NONE, CALL, MOVE(19, 8), CALL, RETURN);
    EXPECT(19, MOVE(19, 8), CALL, CHANGE, RETURN);
}

/* All ways to a call count. */
Test(unit_result_address, branches)
{
    EXPECT(19, MOVE(19, 8), CALL, BRANCH(2), NOTHING, CALL, RESTORE, RETURN);
    EXPECT(19, MOVE(19, 8), CALL, NOTHING, BRANCH(-2), CALL, RETURN);
    EXPECT(NONE, MOVE(19, 8), CALL, BRANCH(2), LOAD, CALL, RESTORE, RETURN);
    EXPECT(NONE, BRANCH(2), MOVE(19, 8), CALL, RETURN);
    EXPECT(NONE, MOVE(19, 8), CALL, LOAD, BRANCH(-2), RETURN);
    EXPECT(NONE, MOVE(19, 8), CALL, BRANCH(100), RETURN);
}

Test(unit_result_address, ends)
{
    EXPECT(19, MOVE(19, 8), CALL, RESTORE, JUMP(100)); /* a tail call */
    EXPECT(NONE, MOVE(19, 8), CALL, RESTORE, JUMP_ANY);
    EXPECT(19, MOVE(19, 8), CALL); /* that does not come back */
    EXPECT(NONE, MOVE(19, 8), CALL, NOTHING);
}

/* Places where exceptions arrive, and cases of a switch. */
Test(unit_result_address, code_that_nothing_leads_to)
{
    EXPECT(19, MOVE(19, 8), CALL, CALL, RESTORE, RETURN, CALL, JUMP(-4));
    EXPECT(19, MOVE(19, 8), CALL, JUMP_ANY, CALL, RETURN, NOTHING, CALL, RETURN);
    EXPECT(NONE, MOVE(19, 8), CALL, CALL, RESTORE, RETURN, CHANGE, JUMP(-4));
    EXPECT(NONE, MOVE(19, 8), CALL, CALL, RESTORE, RETURN, LOAD, CALL);
}

Test(unit_result_address, another_part)
{
    static const uint32_t code[] = { MOVE(19, 8), CALL, CALL, RESTORE, RETURN }, good[] = { CALL, JUMP(-7167) },
                          bad[] = { LOAD, JUMP(-7167) }; /* to the second call */
    cr_expect(eq(int, address_register(code, 5, good, 2), 19));
    cr_expect(eq(int, address_register(code, 5, bad, 2), NONE));
}

Test(unit_result_address, code_that_cannot_be_read)
{
    static const uint32_t code[] = { MOVE(19, 8), CALL, RETURN };
    struct image_segment segment = { BEGIN, sizeof code, (const uint8_t *)code, true };
    const struct image image = { .segments = &segment, .segment_count = 1 };
    const struct function_code wrong[] = {
        { BEGIN, { { BEGIN, BEGIN + 16 } }, 1 },     { BEGIN, { { BEGIN, BEGIN + 10 } }, 1 },
        { BEGIN, { { BEGIN + 4, BEGIN + 12 } }, 1 }, { BEGIN, { { BEGIN + 4, BEGIN } }, 1 },
        { BEGIN, { { BEGIN, UINT64_MAX - 3 } }, 1 }, { .entry = BEGIN },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct load_program program;
        cr_expect(not(result_address_aarch64(&image, &wrong[i], &program)), "%zu", i);
    }
}
