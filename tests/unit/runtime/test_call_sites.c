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
    const struct hook_places places = { .probes = { (uint64_t)sites_enter, (uint64_t)sites_exit } };
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

Test(unit_call_sites, different_values_are_unknown)
{
    const char *const functions[] = { sites_shared, sites_loop, NULL };
    sites_check(sites_shared, sites_shared_end, functions, 3);
}

#endif
