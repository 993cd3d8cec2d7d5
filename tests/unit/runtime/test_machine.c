/* How the code of a call can change while threads may run it: jumps, which leave a function. */
#if defined(__x86_64__)

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "levels/machine.h"

TestSuite(unit_machine);

static bool machine_finds_gs(const char *bytes, size_t size)
{
    return machine_code_sets_gs((const uint8_t *)bytes, (const uint8_t *)bytes + size);
}

#define FINDS_GS(bytes) machine_finds_gs(bytes, sizeof(bytes) - 1)

Test(unit_machine, code_that_sets_the_base_of_gs)
{
    cr_assert(FINDS_GS("\x90\xf3\x48\x0f\xae\xd8"));      /* wrgsbase %rax */
    cr_assert(FINDS_GS("\xf3\x49\x0f\xae\xdf\xc3"));      /* wrgsbase %r15 */
    cr_assert(FINDS_GS("\xf3\x0f\xae\xd9"));              /* wrgsbase %ecx */
    cr_assert(not(FINDS_GS("\xf3\x48\x0f\xae\xd0")));     /* wrfsbase %rax */
    cr_assert(not(FINDS_GS("\xf3\x48\x0f\xae\xc8")));     /* rdgsbase %rax */
    cr_assert(not(FINDS_GS("\x48\x0f\xae\xd8\x90\x90"))); /* no prefix */
    cr_assert(not(FINDS_GS("\x0f\xae\x18\x0f\xae")));     /* stmxcsr (%rax), and a piece */
    cr_assert(not(FINDS_GS("\x0f\xae\xd8")));
    cr_assert(FINDS_GS("\xbf\x01\x10\x00\x00\xb8\x9e\x00\x00\x00\x0f\x05")); /* arch_prctl(ARCH_SET_GS, ...) */
    cr_assert(not(FINDS_GS("\xbf\x02\x10\x00\x00\xb8\x9e\x00\x00\x00\x0f\x05")));
    cr_assert(not(FINDS_GS("\x0f\x05\xbf\x01\x10\x00\x00\xc3")));
    cr_assert(not(FINDS_GS("")));
}

static struct call_site machine_test_jump(uint8_t *code, enum call_form form, enum call_form wanted,
                                          const struct machine_stubs *stubs, uint8_t *bytes)
{
    struct call_site site = { .address = (uint64_t)code, .length = 5, .jump = true };
    const uint8_t jump[] = { 0xe9, 1, 2, 3, 4 };
    memcpy(site.original, jump, sizeof jump);
    cr_assert(machine_form(&site, form, stubs, true, bytes));
    memcpy(code, bytes, site.length);
    cr_assert(machine_form(&site, wanted, stubs, true, bytes));
    return site;
}

/* A jump that was checked becomes a return, and a jump again. The first byte is a return while the others change. */
Test(unit_machine, jumps_change_in_steps)
{
    static const enum call_form forms[][2] = { { CALL_CHECKED, CALL_OUT }, { CALL_OUT, CALL_CHECKED } };
    _Alignas(64) static uint8_t code[2 * 64];
    const struct machine_stubs stubs = { .at = { [CALL_CHECKED] = (uint64_t)code + 0x123456 } };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        for (int at = 0; at < 64; at++) {
            uint8_t bytes[MAX_CALL_BYTES];
            struct call_site site = machine_test_jump(code + at, forms[i][0], forms[i][1], &stubs, bytes);
            cr_assert(eq(int, machine_change_of(&site, bytes, false), MACHINE_NEVER), "%zu", i);
            cr_assert(eq(int, machine_change_of(&site, bytes, true), MACHINE_IN_STEPS), "%zu", i);
            for (int step = 0; step < MACHINE_STEPS; step++) {
                machine_step(&site, bytes, MACHINE_IN_STEPS, step);
                cr_assert(step == 2 || code[at] == 0xc3, "%zu at %d", i, at);
            }
            cr_assert(eq(int, memcmp(code + at, bytes, site.length), 0), "%zu at %d", i, at);
        }
    }
}

/* A call that one instruction counts: it changes by one store, if it lies in a line, and the bytes around it stay. */
Test(unit_machine, calls_are_counted_in_place)
{
    static const uint8_t count[] = { 0x65, 0x48, 0xff, 0x47, 0x00 }, call[] = { 0xe8, 1, 2, 3, 4 };
    _Alignas(64) static uint8_t code[3 * 64], around[sizeof code];
    for (int at = 64; at < 128; at++) {
        struct call_site site = { .address = (uint64_t)code + (uint64_t)at, .length = 5 };
        uint8_t bytes[MAX_CALL_BYTES];
        memset(code, 0x55, sizeof code);
        memcpy(code + at, call, sizeof call);
        memcpy(around, code, sizeof code);
        memcpy(site.original, call, sizeof call);
        cr_assert(eq(int, machine_counts_in_place(&site), at <= 128 - 5), "%d", at);
        cr_assert(eq(int, machine_form(&site, CALL_IN_PLACE, NULL, true, bytes), at <= 128 - 5), "%d", at);
        if (at > 128 - 5)
            continue;
        cr_assert(eq(int, machine_change_of(&site, bytes, false), MACHINE_AT_ONCE), "%d", at);
        machine_step(&site, bytes, MACHINE_AT_ONCE, 0);
        memcpy(around + at, count, sizeof count);
        cr_assert(eq(int, memcmp(code, around, sizeof code), 0), "%d", at);
        cr_assert(machine_form(&site, CALL_ORIGINAL, NULL, true, bytes));
        cr_assert(eq(int, machine_change_of(&site, bytes, false), MACHINE_AT_ONCE), "%d", at);
        machine_step(&site, bytes, MACHINE_AT_ONCE, 0);
        memcpy(around + at, call, sizeof call);
        cr_assert(eq(int, memcmp(code, around, sizeof code), 0), "%d", at);
    }
    cr_assert(not(machine_counts_in_place(&(struct call_site){ .address = 64, .length = 6 })));
    cr_assert(not(machine_counts_in_place(&(struct call_site){ .address = 64, .length = 5, .jump = true })));
}

static int32_t machine_test_displacement(const uint8_t *code)
{
    int32_t displacement;
    memcpy(&displacement, code + 1, sizeof displacement);
    return displacement;
}

/* A call whose displacement lies across lines changes by one store, which calls run into, between its original target
 * and the target's twins. Nothing else can be reached without a step in which the call is left out. */
Test(unit_machine, calls_across_lines_change_to_twins)
{
    static const struct {
        enum call_form before, after;
        int64_t steps;
    } changes[] = { { CALL_ORIGINAL, CALL_CHECKED, -2 }, { CALL_CHECKED, CALL_COUNTED, 5 },
                    { CALL_COUNTED, CALL_CHECKED, -2 },  { CALL_CHECKED, CALL_ORIGINAL, 0 },
                    { CALL_ORIGINAL, CALL_COUNTED, 5 },  { CALL_COUNTED, CALL_ORIGINAL, 0 } };
    static const uint8_t calls[2][5] = { { 0xe8, 1, 0xff, 0xff, 0x03 }, { 0xe9, 1, 0xff, 0xff, 0x03 } };
    _Alignas(64) static uint8_t code[3 * 64], around[sizeof code];
    for (int i = 0; i < 2 * 3; i++) {
        const int at = 128 - 4 + i / 2;
        struct call_site site = { .address = (uint64_t)code + (uint64_t)at, .length = 5, .jump = i % 2 };
        memset(code, 0x55, sizeof code);
        memcpy(code + at, calls[i % 2], sizeof calls[0]);
        memcpy(around, code, sizeof code);
        memcpy(site.original, calls[i % 2], sizeof calls[0]);
        const uint64_t target = machine_call_target(&site);
        site.stub = target + 5 * MACHINE_TWIN_STEP;
        const struct machine_stubs stubs = { .at = { [CALL_CHECKED] = target - 2 * (uint64_t)MACHINE_TWIN_STEP } };
        for (size_t j = 0; j < sizeof changes / sizeof *changes; j++) {
            uint8_t bytes[MAX_CALL_BYTES];
            cr_assert(machine_form(&site, changes[j].before, &stubs, true, bytes));
            cr_assert(eq(int, memcmp(code + at, bytes, site.length), 0), "%d %zu", at, j);
            cr_assert(machine_form(&site, changes[j].after, &stubs, true, bytes));
            cr_assert(eq(int, machine_change_of(&site, bytes, false), MACHINE_AT_ONCE), "%d %zu", at, j);
            machine_step(&site, bytes, MACHINE_AT_ONCE, 0);
            const int64_t distance = machine_test_displacement(code + at) - machine_test_displacement(calls[i % 2]);
            cr_assert(eq(i64, distance, changes[j].steps * MACHINE_TWIN_STEP), "%d %zu", at, j);
            code[at + 4] = around[at + 4]; /* the only byte that has changed */
            cr_assert(eq(int, memcmp(code, around, sizeof code), 0), "%d %zu", at, j);
            memcpy(code + at, bytes, site.length);
        }
        site.stub = target + 0x123456;
        uint8_t bytes[MAX_CALL_BYTES];
        cr_assert(machine_form(&site, CALL_COUNTED, &stubs, true, bytes));
        cr_assert(eq(int, machine_change_of(&site, bytes, false), MACHINE_NEVER), "%d", at);
    }
}

/* Calls need a twin if a line begins within their displacement, which is at the end of the site, or behind a jump. */
Test(unit_machine, which_calls_need_twins)
{
    for (uint64_t at = 64; at < 128; at++) {
        const struct call_site call = { .address = at, .length = 5 },
                               jump = { .address = at, .length = 5, .jump = true };
        const struct call_site longer = { .address = at, .length = 6 };
        const struct call_site longer_jump = { .address = at, .length = 6, .jump = true };
        cr_assert(eq(int, machine_needs_twin(&call), at >= 124 && at <= 126), "%d", (int)at);
        cr_assert(eq(int, machine_needs_twin(&jump), at >= 124 && at <= 126), "%d", (int)at);
        cr_assert(eq(int, machine_needs_twin(&longer), at >= 123 && at <= 125), "%d", (int)at);
        cr_assert(eq(int, machine_needs_twin(&longer_jump), at >= 124 && at <= 126), "%d", (int)at);
    }
}

#endif
