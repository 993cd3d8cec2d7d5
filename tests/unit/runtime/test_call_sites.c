/* Which function each call of a probe is about: code as compilers write it. */
#if defined(__x86_64__)

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "levels/probe_calls.h"

TestSuite(unit_call_sites);

#define CODE(name, lines)                                                                                              \
    extern const char sites_##name[] __asm__("sites_" #name), sites_##name##_end[] __asm__("sites_" #name "_end");     \
    __asm__(".pushsection .text\nsites_" #name ":\n" lines "\nsites_" #name "_end:\nret\n.popsection")

CODE(enter, "ret");
CODE(exit, "ret");

/* The exit is in the middle. What follows it is reached by a branch, and padding is before it. */
CODE(padding, "lea sites_padding(%rip), %rbp\n"
              "mov %rbp, %rdi\n"
              "call sites_enter\n"
              "test %rax, %rax\n"
              "jns 2f\n"
              "1: mov %rbp, %rdi\n"
              "call sites_exit\n"
              "ret\n"
              ".byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"
              "xchg %ax, %ax\n"
              "int3\n"
              "2: shl $7, %rax\n"
              "jmp 1b");

/* The loop's begin is reached only from its end. */
CODE(loop, "lea sites_loop(%rip), %r12\n"
           "mov %r12, %rdi\n"
           "call sites_enter\n"
           "jmp 2f\n"
           "nopl 0(%rax)\n"
           "1: mov (%rdx), %rcx\n"
           "add $8, %rdx\n"
           "cmp %rcx, %rsi\n"
           "je 3f\n"
           "2: cmp %rdx, %rsi\n"
           "jne 1b\n"
           "3: mov %r12, %rdi\n"
           "jmp.d32 sites_exit");

/* No jump of the function leads behind its end: another part of it may, with any values. */
CODE(elsewhere, "lea sites_elsewhere(%rip), %rbp\n"
                "mov %rbp, %rdi\n"
                "call sites_enter\n"
                "mov %rbp, %rdi\n"
                "jmp.d32 sites_exit\n"
                "nop\n"
                "mov %rbp, %rdi\n"
                "call sites_exit\n"
                "ret");

/* Two inlined functions leave by the same call. */
CODE(shared, "lea sites_shared(%rip), %rbp\n"
             "mov %rbp, %rdi\n"
             "call sites_enter\n"
             "test %rax, %rax\n"
             "je 1f\n"
             "lea sites_loop(%rip), %rbp\n"
             "mov %rbp, %rdi\n"
             "call sites_enter\n"
             "1: mov %rbp, %rdi\n"
             "call sites_exit\n"
             "ret");

static struct call_sites sites_find(const char *begin, const char *end)
{
    struct call_sites sites = { .complete = true };
    const struct hook_places places = { .probes = { (uint64_t)sites_enter, (uint64_t)sites_exit },
                                        .code = { { (uint64_t)begin, (uint64_t)end, 0 } },
                                        .code_count = 1 };
    const struct unwind_range range = { (uint64_t)begin, (uint64_t)end, 0, 0 };
    cr_assert(call_sites_in_range(&sites, &places, &range));
    return sites;
}

static void sites_check(const char *begin, const char *end, const char *const *functions, uint32_t count)
{
    struct call_sites sites = sites_find(begin, end);
    cr_assert(eq(u32, sites.count, count));
    for (uint32_t i = 0; i < count; i++)
        cr_assert(eq(ptr, (void *)sites.list[i].function, (void *)functions[i]), "call %u", i);
    call_sites_drop(&sites);
}

Test(unit_call_sites, values_survive_padding)
{
    sites_check(sites_padding, sites_padding_end, (const char *const[]){ sites_padding, sites_padding }, 2);
}

Test(unit_call_sites, values_survive_loops)
{
    sites_check(sites_loop, sites_loop_end, (const char *const[]){ sites_loop, sites_loop }, 2);
}

Test(unit_call_sites, nothing_is_known_behind_an_end)
{
    const char *const functions[] = { sites_elsewhere, sites_elsewhere, NULL };
    sites_check(sites_elsewhere, sites_elsewhere_end, functions, 3);
}

/* ---- spilled addresses ---- */

#define SPILL_BEGIN(name)                                                                                              \
    "push %rbx\n"                                                                                                      \
    "sub $0x20, %rsp\n"                                                                                                \
    "lea sites_" #name "(%rip), %rax\n"                                                                                \
    "mov %rax, 8(%rsp)\n"                                                                                              \
    "mov %rax, %rdi\n"                                                                                                 \
    "call sites_enter\n"
#define SPILL_EXIT                                                                                                     \
    "mov 8(%rsp), %rdi\n"                                                                                              \
    "call sites_exit\n"

CODE(spilled, SPILL_BEGIN(spilled) "call *%rbx\n"
                                   "movl $1, 0x10(%rsp)\n" SPILL_EXIT);

/* Arguments are pushed and dropped, and the slot is read while the stack pointer is lower. */
CODE(pushed, SPILL_BEGIN(pushed) "push %rcx\n"
                                 "push $7\n"
                                 "mov 0x18(%rsp), %rdi\n"
                                 "call sites_exit\n"
                                 "pop %rcx\n"
                                 "lea 8(%rsp), %rsp\n" SPILL_EXIT);

/* The spill is on one of the ways only; then another function is on it. */
CODE(one_way, SPILL_BEGIN(one_way) "test %rbx, %rbx\n"
                                   "je 1f\n"
                                   "mov %rbx, 8(%rsp)\n"
                                   "1:\n" SPILL_EXIT);
CODE(two_ways, SPILL_BEGIN(two_ways) "test %rbx, %rbx\n"
                                     "je 1f\n"
                                     "lea 2f(%rip), %rcx\n"
                                     "mov %rcx, 8(%rsp)\n"
                                     "1:\n" SPILL_EXIT "2: nop\n");

/* A spill that overlaps the slot, and a slot that holds another constant. */
CODE(overlapped, SPILL_BEGIN(overlapped) "mov %rbx, 0xc(%rsp)\n" SPILL_EXIT);
CODE(stored, SPILL_BEGIN(stored) "movq $5, 8(%rsp)\n"
                                 "mov 8(%rsp), %rcx\n" SPILL_EXIT);

/* With a frame pointer, the stack pointer may go anywhere. Without one, it is another stack then. */
CODE(framed, "push %rbp\n"
             "mov %rsp, %rbp\n"
             "sub $0x20, %rsp\n"
             "lea sites_framed(%rip), %rax\n"
             "mov %rax, -8(%rbp)\n"
             "sub %rbx, %rsp\n"
             "mov -8(%rbp), %rdi\n"
             "call sites_enter\n"
             "mov 0x18(%rsp), %rdi\n"
             "call sites_exit\n"
             "lea 1f(%rip), %rbp\n"
             "1: mov -8(%rbp), %rdi\n"
             "call sites_exit\n");

/* The code begins as a copy of the function does, so what is behind a call may be reached in another way. That
 * of a probe returns. */
CODE(copied, "lea sites_copied_end(%rip), %rbx\n"
             "mov %rbx, %rdi\n"
             "call sites_enter\n"
             "mov %rbx, %rdi\n"
             "call sites_exit\n"
             "call *%rdx\n"
             "mov %rbx, %rdi\n"
             "call sites_exit\n");

#define CHECK_SPILL(name, ...)                                                                                         \
    sites_check(sites_##name, sites_##name##_end, (const char *const[]){ __VA_ARGS__ },                                \
                sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

Test(unit_call_sites, spilled_addresses_are_known)
{
    CHECK_SPILL(spilled, sites_spilled, sites_spilled);
    CHECK_SPILL(pushed, sites_pushed, sites_pushed, sites_pushed);
    CHECK_SPILL(framed, sites_framed, NULL, NULL);
}

Test(unit_call_sites, slots_with_other_values_are_unknown)
{
    CHECK_SPILL(one_way, sites_one_way, NULL);
    CHECK_SPILL(two_ways, sites_two_ways, NULL);
    CHECK_SPILL(overlapped, sites_overlapped, NULL);
    struct call_sites sites = sites_find(sites_stored, sites_stored_end);
    cr_assert(eq(u32, sites.count, 2));
    cr_assert(eq(ptr, (void *)sites.list[1].function, (void *)5), "what was stored last");
    call_sites_drop(&sites);
}

Test(unit_call_sites, calls_of_probes_return)
{
    struct call_sites sites = sites_find(sites_copied, sites_copied_end);
    cr_assert(eq(u32, sites.count, 3));
    cr_assert(eq(ptr, (void *)sites.list[0].function, (void *)sites_copied_end));
    cr_assert(eq(ptr, (void *)sites.list[1].function, (void *)sites_copied_end));
    cr_assert(zero(u64, sites.list[2].function));
    call_sites_drop(&sites);
}

Test(unit_call_sites, different_values_are_unknown)
{
    const char *const functions[] = { sites_shared, sites_loop, NULL };
    sites_check(sites_shared, sites_shared_end, functions, 3);
}

#endif
